"""Timestamp instrumentation and timestamp stacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import zenoh

import zenlake
from tests.api.against import both
from tests.sessions import config_of
from zenlake import wire
from zenlake.api.values.timestamp_stack import CUSTOM_FLAG
from zenlake.errors import WireError


@pytest.mark.parametrize("points", range(8))
def test_instrumentation_equals_that_of_eclipse_zenoh(points: int) -> None:
    def build(z: Any) -> Any:
        builder = z.TimestampInstrumentationBuilder().set_send(points & 1 != 0)
        return builder.set_route(points & 2 != 0).set_receive(points & 4 != 0).build()

    def is_instrumented(name: str, z: Any) -> Any:
        return build(z).is_instrumented(getattr(z.InterceptionPoint, name))

    ours, theirs = both(build)
    assert ours == theirs
    if points:
        for name in ("SEND", "ROUTE", "RECEIVE"):
            ours, theirs = both(partial(is_instrumented, name))
            assert ours == theirs


def test_a_builder_does_not_change() -> None:
    builder = zenlake.TimestampInstrumentationBuilder()
    builder.set_send(True)
    with pytest.raises(zenlake.ZError, match="at least one point"):
        builder.build()
    with pytest.raises(TypeError):
        builder.set_send(1)  # type: ignore[arg-type]  # wrong on purpose


def test_stack_prints_as_in_eclipse_zenoh() -> None:
    raw = bytes.fromhex("f0f7fae8c1a8c1fc6a01bb")
    records = (wire.StampRecord(1, raw), wire.StampRecord(4 | CUSTOM_FLAG, b"hi"))
    stack = zenlake.TimestampStack.from_wire(wire.TimestampStack(5, records))
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


def test_invalid_time_in_a_stamp_is_a_wire_error() -> None:
    record = zenlake.TimestampStackRecord.from_wire(wire.StampRecord(2, b"\x01"))
    assert record.point == zenlake.InterceptionPoint.ROUTE
    with pytest.raises(WireError):
        record.timestamp()


def test_the_context_names_the_node() -> None:
    context = zenlake.TimestampContext.from_wire(wire.ZenohId.parse("c8"), wire.WhatAmI.PEER)
    assert repr(context) == "TimestampContext(zid=c8, whatami=Peer)"
    assert context.whatami is zenlake.WhatAmI.PEER


def all_points() -> zenlake.TimestampInstrumentation:
    builder = zenlake.TimestampInstrumentationBuilder().set_send(True)
    return builder.set_route(True).set_receive(True).build()


def stack_with_callback(callback: Callable[[zenlake.TimestampContext], Any]) -> list[bool]:
    """Which records of a sample to the own session the callback made."""
    with zenlake.open(config_of(), timestamp_callback=callback) as session:
        subscriber = session.declare_subscriber("k")
        session.put("k", b"", timestamp_instrumentation=all_points())
        stack = subscriber.recv().timestamp_stack
        assert stack is not None
        return [record.is_custom for record in stack.records]


@pytest.mark.parametrize("wrong", [5, "text", None])
def test_a_callback_that_fails_records_nothing_and_is_logged(
    wrong: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert stack_with_callback(lambda _: b"x") == [True, True]
    assert caplog.records == []
    assert stack_with_callback(lambda _: wrong) == []
    assert "the timestamp callback failed" in caplog.text


def test_a_callback_that_uses_its_session_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    """It runs under the node's lock, which an operation within it would release."""
    sessions: list[zenlake.Session] = []

    def callback(context: zenlake.TimestampContext) -> bytes:
        sessions[0].put("other", b"")
        return b"x"

    with zenlake.open(config_of(), timestamp_callback=callback) as session:
        sessions.append(session)
        subscriber = session.declare_subscriber("*")
        session.put("k", b"", timestamp_instrumentation=all_points())
        session.put("end", b"")
        assert [str(subscriber.recv().key_expr) for _ in range(2)] == ["k", "end"]
    assert "may not use the session it belongs to" in caplog.text
