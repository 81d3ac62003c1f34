"""Incoming links (node/accept.py): the end of the node while a handshake ends."""

from __future__ import annotations

import logging

import pytest

from tests.node.application import opened, settings_of
from tests.waiting import until
from zenlake.links import Link
from zenlake.node import Node, accept
from zenlake.node.link_runner import LinkRunner
from zenlake.node.transport_claims import TransportClaim
from zenlake.protocol.offer import Agreed
from zenlake.protocol.tap import LinkTap
from zenlake.wire import WhatAmI


def test_a_node_that_closes_just_after_open_ack_sends_close(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def runner_of_a_closed_listener(
        node: Node,
        link: Link,
        agreed: Agreed,
        claim: TransportClaim,
        early: bytes,
        tap: LinkTap | None,
    ) -> LinkRunner:
        until(lambda: node.accepting._is_closed)
        return LinkRunner(node, link, agreed, claim, early, tap)

    monkeypatch.setattr(accept, "LinkRunner", runner_of_a_closed_listener)
    caplog.set_level(logging.INFO, "zenlake.transport")
    with (
        opened(settings_of(WhatAmI.ROUTER)) as [router],
        opened(settings_of(WhatAmI.CLIENT, router.locators())) as [client],
    ):
        router.close()
        until(lambda: router.zid not in client.runners)
    assert "the peer closed" in caplog.text
