"""Two nodes that connect to each other at once end with one session (limits: H09)."""

from __future__ import annotations

import random
import threading
import time
from functools import partial

import pytest

from tests.chance import IS_FULL, seeded
from tests.node.application import BLOCK, Application, settings_of, until_routed
from tests.ports import free_port
from tests.waiting import holds, until
from zenlake.node import Node
from zenlake.node.transport_claims import TransportClaim, TransportClaims
from zenlake.wire import CloseReason, ZenohId

pytestmark = pytest.mark.usefixtures("host")

ROUNDS = 1_000 if IS_FULL else 25


def test_exactly_one_session_survives() -> None:
    chance = seeded()
    for _ in range(ROUNDS):
        left_port, right_port = free_port(), free_port()
        left = make(left_port, right_port)
        right = make(right_port, left_port)
        one, other = Application(left), Application(right)
        one.subscribe("to/left")
        other.subscribe("to/right")
        open_together([left, right], chance)
        try:
            until(partial(are_connected, left, right))
            holds(partial(are_connected, left, right), 0.02)
            (one_link,), (other_link,) = left.links(), right.links()
            assert (one_link.src, one_link.dst) == (other_link.dst, other_link.src)
            assert_receives_once(one, "to/right", other)
            assert_receives_once(other, "to/left", one)
        finally:
            close_together([left, right])


def assert_receives_once(speaker: Application, key: str, listener: Application) -> None:
    until_routed(speaker, key, listener)
    speaker.put(key, b"once", BLOCK)
    speaker.put(key, b"last", BLOCK)
    assert listener.wait_for(2) == [b"once", b"last"]


def are_connected(left: Node, right: Node) -> bool:
    return len(left.runners) == len(right.runners) == 1


def make(own_port: int, other_port: int) -> Node:
    settings = settings_of(
        connect=[f"tcp/127.0.0.1:{other_port}"], listen=[f"tcp/127.0.0.1:{own_port}"]
    )
    settings.connect_retry.first_s = 0.05
    return Node(settings)


def open_together(nodes: list[Node], chance: random.Random) -> None:
    delays = [chance.random() * 0.004 for _ in nodes]
    barrier = threading.Barrier(len(nodes))

    def open_late(node: Node, delay_s: float) -> None:
        barrier.wait()
        time.sleep(delay_s)  # a random order of their steps
        node.open()

    run([threading.Thread(target=open_late, args=pair) for pair in zip(nodes, delays, strict=True)])


def close_together(nodes: list[Node]) -> None:
    run([threading.Thread(target=node.close) for node in nodes])


def run(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


SMALL, OWN, GREAT = (ZenohId.from_int(number) for number in (1, 5, 9))


def test_the_greater_id_refuses_while_it_connects_itself() -> None:
    claims = TransportClaims(OWN, 10, 10)
    mine = claims.open(SMALL)
    assert mine is not None
    assert claims.accept(SMALL, 1.0, "a") == CloseReason.MAX_LINKS
    assert claims.open(SMALL) is None


@pytest.mark.parametrize("is_refused", [True, False])
def test_the_smaller_id_waits_for_the_outcome_of_its_own(is_refused: bool) -> None:
    claims = TransportClaims(OWN, 10, 10)
    mine = claims.open(GREAT)
    assert mine is not None
    outcome: list[TransportClaim | CloseReason] = []
    thread = threading.Thread(target=lambda: outcome.append(claims.accept(GREAT, 2.0, "a")))
    thread.start()
    until(lambda: bool(claims._changed._waiters))  # type: ignore[attr-defined]  # of threading
    assert not outcome
    if is_refused:
        claims.release(mine)
    else:
        claims.note_open(mine)
    thread.join()
    if is_refused:
        assert isinstance(outcome[0], TransportClaim)
        claims.release(mine)  # no effect: there is another claim now
        assert claims.has(GREAT)
    else:
        assert outcome == [CloseReason.MAX_LINKS]


def test_claims_are_limited_and_end() -> None:
    claims = TransportClaims(OWN, 1, 1)
    first = claims.accept(GREAT, 0.1, "a")
    assert isinstance(first, TransportClaim)
    assert claims.accept(SMALL, 0.1, "a") == CloseReason.INVALID
    claims.release(first)
    claims.close()
    assert claims.accept(SMALL, 0.1, "a") == CloseReason.INVALID
    assert claims.open(SMALL) is None


def test_one_address_cannot_claim_all_places() -> None:
    claims = TransportClaims(OWN, 4, 3)
    names = [ZenohId.from_int(number) for number in range(10, 16)]
    held = [claims.accept(zid, 0.1, "a") for zid in names[:3]]
    assert all(isinstance(one, TransportClaim) for one in held)
    assert claims.accept(names[3], 0.1, "a") == CloseReason.INVALID
    other = claims.accept(names[4], 0.1, "b")
    assert isinstance(other, TransportClaim)
    assert claims.accept(names[5], 0.1, "b") == CloseReason.INVALID, "all places are taken"
    claims.release(other)
    assert claims.accept(names[3], 0.1, "a") == CloseReason.INVALID
    assert isinstance(held[0], TransportClaim)
    claims.release(held[0])
    claims.release(held[0])
    assert isinstance(claims.accept(names[3], 0.1, "a"), TransportClaim)
    assert claims.accept(names[5], 0.1, "a") == CloseReason.INVALID
    assert claims.open(names[5]) is not None, "our own links are not counted by address"
