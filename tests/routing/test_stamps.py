"""Timestamp stacks: every node that routes a message records it (wire reference §2.4)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import OWN_ZID, Play, put, queryable, reply, request, subscriber
from zenlake.limits import TIMESTAMPS_PER_STACK_MAX
from zenlake.routing.stamps import CUSTOM, RECEIVE, ROUTE, SEND
from zenlake.wire import (
    Err,
    Push,
    Request,
    Response,
    StampRecord,
    TimestampStack,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.values.timestamp import Timestamp, read_timestamp

WALL_NS = 1_700_000_000_123_456_789
FIRST = StampRecord(SEND, b"\x01\x01\x05")


def play_with(**settings: object) -> Play:
    play = Play("peer", gossip=False, wall_ns=lambda: WALL_NS, **settings)
    play.connects("app")
    play.connects("c1", "client")
    play.connects("c2", "client")
    return play


def stack(points: int = SEND | ROUTE | RECEIVE) -> TimestampStack:
    return TimestampStack(points, (FIRST,))


def added(message: object) -> list[StampRecord]:
    """The records after the first."""
    assert isinstance(message, Push | Request | Response)
    assert message.stamps is not None
    assert message.stamps.records[0] == FIRST
    return list(message.stamps.records[1:])


def time_of(record: StampRecord) -> Timestamp:
    return read_timestamp(record.time, 0, len(record.time))[0]


@pytest.mark.parametrize("listeners", [["app"], ["c2"], ["app", "c2"]])
@pytest.mark.parametrize("run", [False, True])
def test_a_publication_is_recorded_for_each_receiver(listeners: list[str], run: bool) -> None:
    play = play_with()
    for name in listeners:
        play.sends(name, subscriber(1, "k"))
    play.clear_received()
    shared = WireExpr(0, "k")
    message = put(shared)
    message.stamps = stack()
    play.sends("c1", *([put(shared, "plain"), message] if run else [message]))
    times = []
    for name in listeners:
        got = play.received(name)[-1]
        (record,) = added(got)
        assert record.flags == ROUTE
        assert time_of(record).id == OWN_ZID
        times.append(time_of(record).time)
    assert times == sorted(set(times))
    assert message.stamps == stack(), "the received message is not changed"


def test_only_points_that_are_asked_for_are_recorded() -> None:
    play = play_with()
    play.sends("c2", subscriber(1, "k"))
    message = put("k")
    message.stamps = stack(SEND | RECEIVE)
    play.sends("c1", message)
    assert added(play.received("c2")[-1]) == []


def test_a_full_stack_stays_as_it_is() -> None:
    play = play_with()
    play.sends("c2", subscriber(1, "k"))
    message = put("k")
    message.stamps = TimestampStack(ROUTE, (FIRST,) * TIMESTAMPS_PER_STACK_MAX)
    play.sends("c1", message)
    assert len(added(play.received("c2")[-1])) == TIMESTAMPS_PER_STACK_MAX - 1


def test_requests_and_both_kinds_of_response_are_recorded() -> None:
    play = play_with()
    play.sends("c2", queryable(1, "q"))
    play.clear_received()
    asked = request(7, "q")
    asked.stamps = stack()
    play.sends("c1", asked)
    (passed,) = play.received("c2")
    assert isinstance(passed, Request)
    assert [record.flags for record in added(passed)] == [ROUTE]
    ok = reply(passed.request_id, "q")
    ok.stamps = stack()
    error = Response(passed.request_id, WireExpr(0, "q"), Err(b"no"), stamps=stack())
    play.sends("c2", ok, error)
    for response in play.received("c1"):
        assert [record.flags for record in added(response)] == [ROUTE]


def test_the_users_own_times_are_marked_and_a_failed_one_is_left_out() -> None:
    made = [b"mine", b""]

    def custom_time(zid: ZenohId, role: WhatAmI) -> bytes:
        assert (zid, role) == (OWN_ZID, WhatAmI.PEER)
        return made.pop(0)

    play = play_with(custom_time=custom_time)
    play.sends("c2", subscriber(1, "k"))
    play.clear_received()
    for _ in range(2):
        message = put("k")
        message.stamps = stack()
        play.sends("c1", message)
    with_record, without = play.received("c2")
    assert added(with_record) == [StampRecord(ROUTE | CUSTOM, b"mine")]
    assert added(without) == []
