"""Nodes with hostile or vanishing neighbours (limits: H01, H02, H06, H07, H08, H15)."""

from __future__ import annotations

import time
from statistics import median

import pytest

from tests.chance import IS_FULL, scaled
from tests.node.application import BLOCK, Application, opened, settings_of, until_declared
from tests.node.raw_client import Pinger, RawClient
from tests.waiting import holds, until
from zenlake.limits import UNSENT_BYTES_MAX
from zenlake.node import Node
from zenlake.wire import DeclareToken, Interest, InterestMode, WhatAmI, WireExpr
from zenlake.wire.framing import frame_batch

pytestmark = pytest.mark.usefixtures("host")


def test_a_peer_that_vanished_is_noticed_by_its_lease() -> None:
    """Its socket stays open and silent; its declarations are undeclared once."""
    lease_ms = scaled(500, 10_000)
    with opened(settings_of()) as [node]:
        listener = Application(node)
        listener.send_to_node(Interest(InterestMode.FUTURE, 1, subscribers=True, tokens=True))
        vanished = RawClient(node, lease_ms=lease_ms)
        until(lambda: len(node.runners) == 1)
        began = time.monotonic()
        vanished.subscribe("gone")
        vanished.declare(DeclareToken(2, WireExpr(0, "gone")))
        until(lambda: len(listener.declared()) == 2)
        until(lambda: not node.runners, lease_ms / 1000 + 20)
        took_s = time.monotonic() - began
        print(f"noticed after {took_s:.2f} s")
        assert took_s > lease_ms / 1000 * 0.9
        assert vanished.socket.recv(65536) is not None
        both = ["Subscriber", "Token"]
        expected = [*(f"Declare{one}" for one in both), *(f"Undeclare{one}" for one in both)]
        holds(lambda: sorted(listener.declared()) == expected, 0.1)
        vanished.socket.close()


@pytest.mark.parametrize("lease_ms", [1, 2**64 - 1])
def test_no_lease_keeps_a_node_busy(lease_ms: int) -> None:
    """Neither a short lease of a peer nor our own; the peer sends only KEEP_ALIVE."""
    settings = settings_of()
    settings.lease_ms = 1
    with opened(settings) as [node]:
        share = min(share_of_a_core(node, lease_ms) for _ in range(3))
    print(f"lease {lease_ms} ms: {share:.1%} of a core")
    assert share < 0.25  # 200 keep-alives a second take about 5 %, a loop without rest all of it


def share_of_a_core(node: Node, lease_ms: int) -> float:
    """The processor share of half a second of KEEP_ALIVE; 1 if the node ends the link before.

    This process does other things too, and may be delayed for longer than a short lease, but not
    every time: the best of several measurements still shows a busy loop.
    """
    with RawClient(node, lease_ms=lease_ms).socket as talker:
        until(lambda: len(node.runners) == 1)
        began, began_s = time.monotonic(), time.process_time()
        try:
            for _ in range(20):
                talker.sendall(frame_batch(b"\x04"))
                time.sleep(0.025)  # the rate of the keep-alives
        except OSError:
            return 1.0
        share = (time.process_time() - began_s) / (time.monotonic() - began)
        share = share if len(node.runners) == 1 else 1.0
    until(lambda: not node.runners)
    return share


def test_a_deaf_reader_loses_only_droppable_messages() -> None:
    size = 10_000
    total = (100 << 20) // size if IS_FULL else 1500
    with opened(settings_of()) as [node]:
        deaf = RawClient(node, receive_bytes=4096)
        deaf.subscribe("flood")
        until(lambda: len(node.runners) == 1)
        with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [good]:
            listener = Application(good)
            listener.subscribe("flood")
            publisher = Application(node)
            until_declared(node, 2)
            transport = node.runners[good.zid].transport
            most = 0
            for number in range(total):
                publisher.put("flood", bytes(size))
                most = max(most, node.stats()["queued_bytes"])
                if number % 5 == 0:  # otherwise the other client may have no time to read
                    until(lambda: not transport.total_queued_bytes())
            assert most < 1 << 20 < UNSENT_BYTES_MAX
            until(lambda: node.stats()["queued_bytes"] < 200_000)
            listener.wait_for(total // 2 + 1)
            got = len(listener.payloads())
            assert got > total * 0.5, "the other is served"
            dropped = node.stats()["dropped_messages"]
            assert dropped >= total - got
            assert dropped > 100
        deaf.socket.close()


def test_a_deaf_reader_does_not_slow_down_others() -> None:
    """100 MB for a client that reads nothing, at a rate that others could receive."""
    size, pause_s = 50_000, 0.001
    total = scaled(20, 100) * 1_000_000 // size
    with opened(settings_of()) as [node]:
        with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [good]:
            pinger, publisher = Pinger(node, good), Application(node)
            times: list[list[float]] = []
            for key in ("nobody", "flood"):
                deaf = RawClient(node, receive_bytes=4096, lease_ms=120_000)
                deaf.subscribe("flood")
                until_declared(node, 1)
                with pinger.pinging() as measured:
                    for _ in range(total):
                        publisher.put(key, bytes(size))
                        time.sleep(pause_s)  # the rate of the flood
                times.append(measured)
                deaf.socket.close()
        alone, flooded = map(median, times)
        print(f"{flooded * 1000:.2f} ms while flooded, {alone * 1000:.2f} ms without")
        assert flooded < max(2 * alone, 0.05)
        assert node.stats()["dropped_messages"] > total / 2


def test_undroppable_messages_wait_and_then_the_transport_is_closed() -> None:
    settings = settings_of()
    settings.wait_before_close_s = 0.5
    with opened(settings) as [node]:
        deaf = RawClient(node, receive_bytes=4096)
        deaf.subscribe("flood")
        until(lambda: len(node.runners) == 1)
        publisher = Application(node)
        until_declared(node, 1)
        slowest = 0.0
        most = 0
        for _ in range(1000):
            began = time.monotonic()
            publisher.put("flood", bytes(60_000), BLOCK)
            slowest = max(slowest, time.monotonic() - began)
            most = max(most, node.stats()["queued_bytes"])
            if not node.runners:
                break
        until(lambda: not node.runners)
        assert slowest > 0.4
        assert most <= UNSENT_BYTES_MAX
        stats = node.stats()
        assert stats["dropped_messages"] == 0
        assert 60_000 <= stats["unsent_bytes"] <= UNSENT_BYTES_MAX, (
            "lost with the link, and counted"
        )
        deaf.socket.close()
