"""What a node logs about its links: INFO in the normal course, WARNING for the rest."""

from __future__ import annotations

import logging
import socket

import pytest

from tests.node.application import Application, opened, port_of, settings_of
from tests.waiting import until
from zenlake.errors import ZenlakeError
from zenlake.node import Node
from zenlake.node.link_log import LinkLog
from zenlake.wire import WhatAmI, ZenohId

ZID = ZenohId(b"\x07")


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "zenlake")
    return caplog


def texts(logged: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [one.getMessage() for one in logged.records if one.levelno == level]


def test_a_transport_that_opens_and_closes_is_information(logged: pytest.LogCaptureFixture) -> None:
    with opened(settings_of()) as [one]:
        with opened(settings_of(WhatAmI.CLIENT, one.locators())):
            until(lambda: len(one.runners) == 1)
        until(lambda: len(texts(logged, logging.INFO)) == 4)
    assert sum("is open" in text for text in texts(logged, logging.INFO)) == 2
    assert sum("is closed: closed here" in text for text in texts(logged, logging.INFO)) == 1
    assert sum("is closed: the peer closed" in text for text in texts(logged, logging.INFO)) == 1
    assert texts(logged, logging.WARNING) == []


def test_a_lost_link_is_a_warning_with_its_cause(logged: pytest.LogCaptureFixture) -> None:
    with opened(settings_of()) as [one], opened(settings_of(connect=one.locators())) as [other]:
        until(lambda: len(one.runners) == 1)
        other.runners[one.zid].link.close()
        until(lambda: len(texts(logged, logging.WARNING)) >= 1)
        assert any(
            f"transport with {other.zid} at tcp/127.0.0.1:" in text
            and "is lost: the link ended" in text
            for text in texts(logged, logging.WARNING)
        )


def test_a_refused_user_is_a_warning_with_address_and_cause(
    logged: pytest.LogCaptureFixture,
) -> None:
    listening = settings_of()
    listening.users = {"user": "secret-1"}
    with opened(listening) as [one]:
        for _ in range(3):
            client = settings_of(WhatAmI.CLIENT, one.locators())
            client.user, client.password = "user", "secret-2"
            with pytest.raises(ZenlakeError):
                Node(client).open()
        refused = [text for text in texts(logged, logging.WARNING) if "refused a conn" in text]
        assert len(refused) == 1
        assert "refused a connection from tcp/127.0.0.1:" in refused[0]
        assert "unknown user or wrong password" in refused[0]
    assert "secret" not in logged.text


def test_silent_connections_are_no_warning(logged: pytest.LogCaptureFixture) -> None:
    with opened(settings_of()) as [one]:
        for _ in range(5):
            socket.create_connection(("127.0.0.1", port_of(one))).close()
        until(lambda: len(texts(logged, logging.INFO)) == 1)
        until(lambda: one.accepting.pending == 0)
    assert "closed during the handshake" in texts(logged, logging.INFO)[0]
    assert texts(logged, logging.WARNING) == []


def test_a_flood_is_one_line_for_each_address(logged: pytest.LogCaptureFixture) -> None:
    log = LinkLog()
    for port in range(1_000):
        log.refused(f"tcp/10.0.0.1:{port}", "no")
        log.lost(ZID, f"tcp/10.0.0.2:{port}", "no")
        log.unreachable(ZenohId.from_int(port + 1), " no")
    assert len(logged.records) == 3


def test_other_nodes_cannot_forge_lines(logged: pytest.LogCaptureFixture) -> None:
    LinkLog().unreachable(ZID, " tcp/a:1\nERROR all is lost\x1b[31m" + 10_000 * "x")
    (text,) = texts(logged, logging.INFO)
    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) < 1_500


def test_declarations_beyond_a_limit_are_one_warning_with_the_limit(
    logged: pytest.LogCaptureFixture,
) -> None:
    listening = settings_of()
    listening.routing.face_bytes_max = 20_000
    with (
        opened(listening) as [one],
        opened(settings_of(WhatAmI.CLIENT, one.locators())) as [client],
    ):
        application = Application(client)
        for n in range(100):
            application.subscribe(f"key/{n}")
        until(lambda: one.stats()["refused_declarations"] > 0)
        until(lambda: any("refused" in text for text in texts(logged, logging.WARNING)))
    warnings = [text for text in texts(logged, logging.WARNING) if "refused" in text]
    assert len(warnings) == 1
    assert "limits/routing/session_bytes is 20000" in warnings[0]
