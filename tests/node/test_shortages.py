"""A system without threads, or with sockets that fail for a while: nothing is left unfinished."""

from __future__ import annotations

import errno
import socket
import threading
import time
from typing import Any

import pytest

from tests.leftovers import open_sockets, own_threads
from tests.links.faulty_socket import make_faulty
from tests.node.application import (
    BLOCK,
    Application,
    opened,
    port_of,
    settings_of,
    until_declared,
    until_routed,
)
from tests.node.raw_client import RawClient, opens_quickly
from tests.sessions import open_client
from tests.waiting import until
from zenlake.errors import ZenlakeError
from zenlake.links.multicast import multicast_interfaces
from zenlake.node import Node, NodeSettings
from zenlake.node import threads as node_threads
from zenlake.warning_limiter import WarningLimiter
from zenlake.wire import EndPoint, WhatAmI, ZenohId

UDP = "udp/127.0.0.1:0"


class Shortage:
    """Threads whose name has this prefix cannot be started, `count` times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = ""
        self.count = 0
        real = threading.Thread.start

        def start(thread: threading.Thread) -> None:
            if self.count > 0 and thread.name.startswith(self.name):
                self.count -= 1
                raise RuntimeError("can't start new thread")
            real(thread)

        monkeypatch.setattr(threading.Thread, "start", start)
        monkeypatch.setattr(node_threads, "_WARNINGS", WarningLimiter())

    def refuse_threads(self, name: str, count: int = 1) -> None:
        self.name = name
        self.count = count


@pytest.fixture
def shortage(monkeypatch: pytest.MonkeyPatch) -> Shortage:
    return Shortage(monkeypatch)


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_a_handshake_without_a_thread_is_given_up_and_the_listener_goes_on(
    shortage: Shortage, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(settings_of()) as [node]:
        shortage.refuse_threads("zenlake handshake", 3)
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port_of(node)), timeout=5) as one:
                assert one.recv(1) == b""
        assert node.accepting.pending == 0
        assert node.accepting.refused == 3
        opens_quickly(node)
    assert len(warnings_in(caplog)) == 1


def test_a_transport_without_a_reader_is_torn_down(
    shortage: Shortage, caplog: pytest.LogCaptureFixture
) -> None:
    """The accepting side has no thread, which no other thread would notice."""
    with opened(settings_of()) as [node]:
        sockets, threads = open_sockets(), own_threads()
        events: list[bool] = []
        node.events.add(lambda is_open, transport, link: events.append(is_open))
        faces = len(node.dispatcher.faces)
        shortage.refuse_threads("zenlake read", 1)
        client = RawClient(node)
        client.socket.settimeout(5)
        while client.socket.recv(65_536):
            pass
        client.socket.close()
        until(lambda: events == [True, False])
        until(lambda: own_threads() == threads)
        until(lambda: open_sockets() == sockets)
        assert not node.runners
        assert len(node.dispatcher.faces) == faces
        assert not node.claims._claims
        opens_quickly(node)
    assert len(warnings_in(caplog)) == 1


def test_a_connector_without_a_reader_tries_again(shortage: Shortage) -> None:
    with opened(settings_of()) as [node]:
        shortage.refuse_threads("zenlake read", 1)
        settings = settings_of(WhatAmI.CLIENT, node.locators())
        settings.connect_timeout_s = 10.0
        with opened(settings) as [client]:
            until(lambda: list(client.runners) == [node.zid])
            until(lambda: list(node.runners) == [client.zid])


@pytest.mark.parametrize("name", ["zenlake accept", "zenlake links", "zenlake connect"])
def test_a_node_that_cannot_open_raises_and_leaves_nothing_behind(
    shortage: Shortage, name: str
) -> None:
    known, sockets = own_threads(), open_sockets()
    shortage.refuse_threads(name)
    node = Node(settings_of(connect=["tcp/127.0.0.1:1"]))
    with pytest.raises(ZenlakeError, match="can't start new thread"):
        node.open()
    until(lambda: own_threads() <= known)
    until(lambda: open_sockets() <= sockets)


@pytest.mark.parametrize("count", [1, 1_000_000])
def test_a_sender_without_a_thread_of_its_own_still_sends(shortage: Shortage, count: int) -> None:
    with opened(settings_of()) as [node]:
        settings = settings_of(WhatAmI.CLIENT, node.locators())
        settings.lease_ms, settings.keep_alive = 4_000, 40  # a KEEP_ALIVE every 100 ms
        with opened(settings) as [client]:
            listener, publisher = Application(node), Application(client)
            listener.subscribe("k")
            until_routed(publisher, "k", listener)
            shortage.refuse_threads("zenlake send", count)
            for number in range(2_000):
                publisher.put("k", number.to_bytes(2, "little") * 500, BLOCK)
            assert len(listener.wait_for(2_000)) == 2_000
            assert client.runners
            assert node.runners


def test_a_discovered_node_is_tried_again(shortage: Shortage) -> None:
    with opened(settings_of()) as [node], opened(settings_of()) as [finder]:
        finder.settings.multicast_autoconnect = 7
        shortage.refuse_threads("zenlake discover")
        finder.discovery.scouted(node.zid, node.role, node.locators())
        assert not finder.discovery.is_busy()
        finder.discovery.scouted(node.zid, node.role, node.locators())
        until(lambda: node.zid in finder.runners)


def test_jobs_of_routing_are_done_when_there_is_a_thread_again(shortage: Shortage) -> None:
    with opened(settings_of()) as [node]:
        here = Application(node)
        with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [client]:
            there = Application(client)
            for n in range(2_000):
                there.subscribe(f"key/{n}")
            face = next(iter(node.runners.values())).face
            assert face is not None
            until(lambda: face.declaration_count == 2_000, 20.0)
            shortage.refuse_threads("zenlake routing", 1)
        until(lambda: face.is_gone)
        assert shortage.count == 0
        here.put("any", b"")  # the next release of the lock starts the thread
        until(lambda: not any(face.held) and face.account.held_bytes == 0, 20.0)


def test_a_node_closes_its_links_without_threads(shortage: Shortage) -> None:
    with opened(settings_of()) as [node]:
        clients = [RawClient(node) for _ in range(3)]
        until(lambda: len(node.runners) == 3)
        shortage.refuse_threads("Thread-", 1_000_000)
        node.close()
        assert not node.runners
        shortage.refuse_threads("", 0)
        for client in clients:
            client.socket.close()


def test_a_group_without_a_thread_is_left(shortage: Shortage) -> None:
    if not multicast_interfaces("auto"):
        pytest.skip("there is no interface for multicast")
    with opened(settings_of()) as [node]:
        sockets = open_sockets()
        faces = len(node.dispatcher.faces)
        shortage.refuse_threads("zenlake group")
        with pytest.raises(ZenlakeError, match="can't start new thread"):
            node.join_group(EndPoint.parse("udp/224.0.0.225:17499"))
        assert not node.groups
        assert len(node.dispatcher.faces) == faces
        assert open_sockets() == sockets


@pytest.mark.parametrize(
    "code", [errno.ENOBUFS, errno.EPERM, errno.ENETUNREACH, errno.ECONNREFUSED]
)
@pytest.mark.parametrize("sends_client", [True, False], ids=["client", "listener"])
def test_a_session_over_udp_survives_send_errors(code: int, sends_client: bool) -> None:
    settings = settings_of(listen=[UDP])
    with opened(settings) as [node], opened(client_of(node)) as [client]:
        until(lambda: bool(node.runners))
        sender, receiver = (client, node) if sends_client else (node, client)
        publisher, listener = Application(sender), Application(receiver)
        listener.subscribe("k")
        until_routed(publisher, "k", listener)
        runner = next(iter(sender.runners.values()))
        link: Any = runner.link
        faulty = make_faulty(link if sends_client else link._listener)
        faulty.faults = {"send": (code, 5)}
        until(lambda: put_and_look(publisher, listener))
        assert list(sender.runners.values()) == [runner]
        assert not runner.ended.is_set()
        assert sender.stats()["dropped_datagrams"] == 5


def client_of(node: Node) -> NodeSettings:
    return settings_of(WhatAmI.CLIENT, node.locators())


def put_and_look(publisher: Application, listener: Application) -> bool:
    publisher.put("k", b"x")
    return bool(listener.payloads())


def test_a_failed_listener_is_not_announced_any_more(caplog: pytest.LogCaptureFixture) -> None:
    with opened(settings_of(listen=["tcp/127.0.0.1:0", UDP])) as [node]:
        tcp = next(one for one in node.locators() if one.startswith("tcp"))
        make_faulty(node.accepting._listeners[0]).faults = {"accept": (errno.EBADF, 1)}
        nudge(port_of(node))
        until(lambda: tcp not in node.locators())
        until(lambda: tcp not in node.dispatcher.own_locators)
        assert len(node.locators()) == 1
        opens_quickly(node)
    assert "not listening any more" in caplog.text


def nudge(port: int) -> None:
    """End the running accept, so that the next one gets the fault."""
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENETDOWN, errno.ENOMEM])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_node_serves_others_after_errors_at_its_listener(protocol: str, code: int) -> None:
    with opened(settings_of(listen=[f"{protocol}/127.0.0.1:0"])) as [node]:
        faulty = make_faulty(node.accepting._listeners[0])
        faulty.faults = {"accept": (code, 2), "receive": (code, 2)}
        settings = settings_of(
            WhatAmI.CLIENT, node.locators(), zid=int(ZenohId(b"a long id for us"))
        )
        settings.connect_timeout_s = 10.0
        with opened(settings) as [client]:
            until(lambda: list(client.runners) == [node.zid])


def test_a_reader_that_cannot_be_replaced_reads_again_after_its_callback(
    shortage: Shortage,
) -> None:
    """The callback takes long and no thread can be started: nothing is read meanwhile."""
    with opened(settings_of()) as [node], open_client(node.locators()[0]) as session:
        got: list[bytes] = []
        until(lambda: any(one.is_alive() for one in list(node.runners.values())))
        shortage.refuse_threads("zenlake read", 1_000_000)
        session.declare_subscriber("k", lambda sample: slow(got, sample.payload.to_bytes()))
        publisher = Application(node)
        until_declared(node, 1)
        for number in range(3):
            publisher.put("k", bytes([number]), BLOCK)
            time.sleep(0.05)  # so that each is read on its own
        until(lambda: got == [b"\0", b"\1", b"\2"])
        assert node.runners


def slow(got: list[bytes], payload: bytes) -> None:
    time.sleep(0.2)  # a slow callback
    got.append(payload)
