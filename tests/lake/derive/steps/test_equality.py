"""Tables of all bundled captures agree with the timelines of the trace."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from tests.lake.derive.steps.cases import Frames, Row, built, collected
from tests.trace.sidecar import PATHS, reading_of
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import build_queries, declarations, interests
from zenlake.lake.derive.steps.conform import query
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.lake.schema import STAGED, TABLES
from zenlake.trace.timelines.declarations import DeclarationLifetime
from zenlake.trace.timelines.interests import InterestLifetime

# All in one process, so that captures are read only once.
pytestmark = pytest.mark.xdist_group("equality")

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def staged(engine: Engine) -> Frames:
    """The staged tables of all captures at once."""
    parts = [stage(path, name) for name, path in PATHS.items()]
    tables = {**STAGED, **TABLES}
    frames = {}
    for name in (*STAGED, "sessions"):
        found = [part[name] for part in parts if name in part]
        data = pa.concat_tables(found or [tables[name].base.arrow.empty_table()])
        frames[name] = engine.load(data.to_reader(), {name})
    last = [
        {"capture": name, "last_ns": max(event.time_ns for event in reading_of(name).events)}
        for name in PATHS
    ]
    captures = pa.Table.from_pylist(last, schema=TABLES["captures"].base.arrow)
    frames["captures"] = engine.load(captures.to_reader(), {"captures"})
    return frames


def rows_of(frame: Any, *names: str) -> Rows:
    chosen = collected(frame.select("capture", *names))
    return sorted((tuple(row.values()) for row in chosen), key=str)


@pytest.fixture(scope="module")
def asked(engine: Engine, staged: Frames) -> Frames:
    found = built(build_queries, staged, lambda _, frame: engine.keep(frame))
    return {name: engine.keep(frame) for name, frame in found.items()}


def test_queries_are_those_of_the_trace(asked: Frames) -> None:
    expected = [
        (
            name,
            exchange.request.packet,
            exchange.request_id,
            exchange.key,
            exchange.requester_zid,
            exchange.responder_zid,
            exchange.replies,
            exchange.errors,
            exchange.first_reply_ms,
            exchange.final_ms,
        )
        for name in PATHS
        for exchange in reading_of(name).exchanges()
        if exchange.request is not None
    ]
    names = ("packet", "request_id", "key", "requester_zid", "responder_zid", "replies", "errors")
    found = rows_of(asked["queries"], *names, "first_reply_ms", "final_ms")
    assert found == sorted(expected, key=str)
    assert len(found) > 200


def test_replies_are_those_of_the_trace(asked: Frames) -> None:
    expected = [
        (name, response.packet, exchange.latency_ms(response), is_late)
        for name in PATHS
        for exchange in reading_of(name).exchanges()
        for is_late, responses in ((False, exchange.responses), (True, exchange.after_final))
        for response in responses
    ]
    found = rows_of(asked["replies"], "packet", "latency_ms", "after_final")
    assert found == sorted(expected, key=str)


def life(name: str, life: DeclarationLifetime) -> tuple[Any, ...]:
    first = life.declared or life.undeclared
    assert first is not None
    return (
        name,
        first.packet,
        life.entity,
        life.id,
        life.key,
        life.sender_zid,
        life.receiver_zid,
        None if life.declared is None else life.declared.time_ns,
        life.ended_ns,
        life.ended_by,
        life.complete,
        life.distance,
        life.interest_id,
        life.node_id,
        life.times_declared,
    )


_UNICAST = """
SELECT lifetimes.* FROM {lifetimes} AS lifetimes
LEFT SEMI JOIN (SELECT capture, session FROM {sessions} WHERE members IS NULL) AS sessions
    ON sessions.capture = lifetimes.capture AND sessions.session = lifetimes.session
"""


def test_declarations_are_those_of_the_trace(staged: Frames) -> None:
    """Except for groups: no table records the members that left and ended their declarations."""
    expected = [
        life(name, one)
        for name in PATHS
        for one in reading_of(name).declarations()
        if not one.session.is_multicast
    ]
    names = (
        *("packet", "entity", "entity_id", "key", "sender_zid", "receiver_zid", "declared_ns"),
        *("undeclared_ns", "ended_by", "complete", "distance", "interest_id", "node_id", "told"),
    )
    lifetimes = declarations.build(staged["declare_events"], staged["sessions"])
    unicast = query(_UNICAST, lifetimes=lifetimes, sessions=staged["sessions"])
    found = rows_of(unicast, *names)
    assert found == sorted(expected, key=str)
    assert len(found) > 500


def test_interests_are_those_of_the_trace(staged: Frames) -> None:
    def ends(one: InterestLifetime) -> int | None:
        if one.ended_by == "closed":
            return None if one.closed is None else one.closed.time_ns
        return one.session.closed_ns if one.ended_by == "session" else None

    expected = [
        (
            name,
            one.opened.packet,
            one.id,
            one.key,
            one.sender_zid,
            one.options,
            one.opened.time_ns,
            None if one.final is None else one.final.time_ns,
            ends(one),
            one.ended_by,
        )
        for name in PATHS
        for one in reading_of(name).interests()
        if one.opened is not None
    ]
    names = ("packet", "interest_id", "key", "sender_zid", "options", "opened_ns", "final_ns")
    lifetimes = interests.build(staged["interest_events"], staged["sessions"])
    found = rows_of(lifetimes, *names, "closed_ns", "ended_by")
    assert found == sorted(expected, key=str)


def test_forwarded_queries_have_one_trace(asked: Frames) -> None:
    """All hops of a forwarded query of a client have one trace."""
    names = ("capture", "seq", "trace_id", "requester_zid")
    rows: list[Row] = collected(asked["queries"].select(*names))
    hops = Counter((row["capture"], row["trace_id"]) for row in rows)
    roots = {(row["capture"], row["seq"]) for row in rows}
    assert all(name in roots for name in hops if name[1] is not None)
    for capture in ("queries", "routers_ring"):
        asking = {row["requester_zid"] for row in rows if row["capture"] == capture}
        begun = {
            row["requester_zid"]
            for row in rows
            if row["capture"] == capture and row["trace_id"] == row["seq"]
        }
        assert begun < asking, "routers begin no query themselves"
