"""Which stamps are asked for, and those that came."""

from __future__ import annotations

import pytest
import zenoh

import zenlake
from tests.api.against import both
from zenlake import wire
from zenlake.api.stamps import CUSTOM_FLAG
from zenlake.errors import WireError


@pytest.mark.parametrize("points", range(8))
def test_instrumentation(points: int) -> None:
    def build(z: object) -> object:
        builder = z.TimestampInstrumentationBuilder().set_send(points & 1 != 0)  # type: ignore[attr-defined]
        return builder.set_route(points & 2 != 0).set_receive(points & 4 != 0).build()

    ours, theirs = both(build)
    assert ours == theirs
    if points:
        for name in ("SEND", "ROUTE", "RECEIVE"):
            ours, theirs = both(
                lambda z, name=name: build(z).is_instrumented(getattr(z.InterceptionPoint, name))  # type: ignore[attr-defined,misc]
            )
            assert ours == theirs


def test_a_builder_does_not_change() -> None:
    builder = zenlake.TimestampInstrumentationBuilder()
    builder.set_send(True)
    with pytest.raises(zenlake.ZError, match="at least one point"):
        builder.build()
    with pytest.raises(TypeError):
        builder.set_send(1)  # type: ignore[arg-type]  # wrong on purpose


def test_a_stack_prints_as_there() -> None:
    raw = bytes.fromhex("f0f7fae8c1a8c1fc6a01bb")
    records = (wire.StampRecord(1, raw), wire.StampRecord(4 | CUSTOM_FLAG, b"hi"))
    stack = zenlake.TimestampStack.of_wire(wire.TimestampStack(5, records))
    assert str(stack.records[0].point) == str(zenoh.InterceptionPoint.SEND)
    assert [record.is_custom for record in stack.records] == [False, True]
    stamp = stack.records[0].timestamp()
    assert isinstance(stamp, zenlake.Timestamp)
    assert str(stamp.get_id()) == "bb"
    assert stack.records[1].timestamp() == b"hi"
    assert repr(stack) == (
        "TimestampStack { instrumentation: TimestampInstrumentation { conf_flags: 5 }, records: "
        f"[TimestampStackRecord {{ point: Send, timestamp: UHLC({stamp}) }}, "
        "TimestampStackRecord { point: Receive, timestamp: Custom([104, 105]) }] }"
    )


def test_a_stamp_that_is_no_time_is_the_peers_mistake() -> None:
    record = zenlake.TimestampStackRecord.of_wire(wire.StampRecord(2, b"\x01"))
    assert record.point == zenlake.InterceptionPoint.ROUTE
    with pytest.raises(WireError):
        record.timestamp()


def test_the_context_names_the_node() -> None:
    context = zenlake.TimestampContext.of_wire(wire.ZenohId.parse("c8"), wire.WhatAmI.PEER)
    assert repr(context) == "TimestampContext(zid=c8, whatami=Peer)"
    assert context.whatami is zenlake.WhatAmI.PEER
