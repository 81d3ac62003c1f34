"""A client that stops reading: others are not affected, and its losses are counted for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import zenlake
from tests.api.linked import connected, node_of
from tests.node.raw_client import RawClient
from tests.sessions import config_of
from tests.waiting import until, until_more
from zenlake.cli.router_explain_text import text_of
from zenlake.limits import UNSENT_BYTES_MAX

SIZE = 10_000
FLOOD = 1_500
PINGS = 100
PATIENT_US = 600_000_000
"""How long the router waits for a reader before it closes its transport: longer than the test."""
PATIENCE_S = 120.0


def router(**settings: object) -> zenlake.Session:
    listen = ["tcp/127.0.0.1:0"]
    return zenlake.open(
        config_of("router", listen__endpoints=listen, adminspace__enabled=True, **settings)
    )


def faces(session: zenlake.Session) -> dict[str, dict[str, Any]]:
    """The entries of the admin space for each neighbour, by zid."""
    found = {}
    for reply in session.get("@/*/router/zenlake/face/*"):
        assert reply.ok is not None
        face = json.loads(reply.ok.payload.to_string())
        found[face["zid"]] = face
    return found


def explained(session: zenlake.Session) -> dict[str, Any]:
    """Where a publication on `flood` goes from this session."""
    (reply,) = session.get("@/*/router/zenlake/explain?key=flood")
    assert reply.ok is not None
    explanation: dict[str, Any] = json.loads(reply.ok.payload.to_string())
    return explanation


@contextmanager
def deaf_client(host: zenlake.Session) -> Iterator[tuple[RawClient, str]]:
    """A client that subscribed to `flood` and then stops reading."""
    before = set(node_of(host).runners)
    deaf = RawClient(node_of(host), receive_bytes=4096, lease_ms=120_000)
    with deaf.socket:
        deaf.subscribe("flood")
        until(lambda: len(node_of(host).runners) == len(before) + 1)
        (zid,) = set(node_of(host).runners) - before
        yield deaf, str(zid)


def pings(a: zenlake.Session, b: zenlake.Session) -> None:
    """Assert that all pings arrive, one after the other."""
    received = threading.Semaphore(0)
    subscriber = b.declare_subscriber("ping", lambda sample: received.release())
    publisher = a.declare_publisher("ping", congestion_control=zenlake.CongestionControl.BLOCK)
    until(lambda: publisher.matching_status.matching)
    for _ in range(PINGS):
        publisher.put(b"")
        assert received.acquire(timeout=PATIENCE_S)
    subscriber.undeclare()


def test_losses_of_a_deaf_reader_are_counted_for_it_alone() -> None:
    with (
        router() as host,
        connected(host) as good,
        connected(host) as source,
        deaf_client(host) as (_, deaf_zid),
    ):
        received: list[zenlake.Sample] = []
        good.declare_subscriber("flood", received.append)
        drop = zenlake.CongestionControl.DROP
        publisher = source.declare_publisher("flood", congestion_control=drop)
        until(lambda: publisher.matching_status.matching)
        for number in range(FLOOD):
            publisher.put(bytes(SIZE))
            if number % 20 == 0:  # no faster than other subscribers can read
                until_more(received, number * 3 // 4 - 1, PATIENCE_S)
        shown = faces(good)
        assert shown[deaf_zid]["drops"]["dropped_messages"] > FLOOD // 4
        assert 0 < shown[deaf_zid]["queued_bytes"] <= UNSENT_BYTES_MAX
        assert shown[deaf_zid]["queued_bytes"] < 2 << 20
        explanation = explained(good)
        (deaf,) = [one for one in explanation["sent_to"] if one["zid"] == deaf_zid]
        assert deaf["drops"] == {"dropped_messages": deaf["dropped_messages"]}
        lost_text = f"{deaf['dropped_messages']:,} messages for it dropped: its queue was full"
        assert lost_text in text_of([explanation])
        others = {zid: face for zid, face in shown.items() if zid != deaf_zid}
        assert len(others) == 2
        lost = sum(face["drops"]["dropped_messages"] for face in others.values())
        assert lost < shown[deaf_zid]["drops"]["dropped_messages"]


def test_only_the_publisher_for_a_blocked_reader_waits() -> None:
    """Its publisher waits because of its own congestion control; all others go on."""
    queue = {"congestion_control": {"block": {"wait_before_close": PATIENT_US}}}
    with (
        router(transport__link__tx__queue=queue) as host,
        connected(host) as a,
        connected(host) as b,
        connected(host) as source,
        deaf_client(host) as (deaf, deaf_zid),
    ):
        sent = 0
        is_over = threading.Event()

        def flood() -> None:
            nonlocal sent
            block = zenlake.CongestionControl.BLOCK
            while not is_over.is_set():
                source.put("flood", bytes(SIZE), congestion_control=block)
                sent += 1

        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        until(lambda: faces(a)[deaf_zid]["queued_bytes"] > 100_000, PATIENCE_S)
        pings(a, b)
        shown = faces(b)[deaf_zid]
        assert shown["drops"]["dropped_messages"] == 0
        assert shown["queued_bytes"] <= UNSENT_BYTES_MAX
        is_over.set()
        deaf.socket.close()  # the publisher can continue
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
