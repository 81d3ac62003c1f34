"""Tables of all bundled captures say what the timelines of the scalar trace say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.lake.tables.cases import Row
from tests.trace.sidecar import PATHS, reading_of
from zenlake.lake.schema import STAGED, TABLES
from zenlake.lake.tables import (
    declarations,
    exchanges,
    interests,
    queries,
    replies,
    requests,
    traces,
    unanswered,
)
from zenlake.trace.timelines.declarations import DeclarationLife
from zenlake.trace.timelines.interests import InterestLife

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.xdist_group("spark")

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def staged(spark: SparkSession) -> dict[str, DataFrame]:
    """All captures at once, each under its name."""
    import pyarrow as pa

    from zenlake.lake.reading.scalar import stage

    parts = [stage(str(path), name) for name, path in PATHS.items()]
    tables = {**STAGED, **TABLES}
    frames = {}
    for name in (*STAGED, "sessions"):
        found = [part[name] for part in parts if name in part]
        data = pa.concat_tables(found or [tables[name].base.arrow.empty_table()])
        frames[name] = spark.createDataFrame(data, schema=tables[name].base.spark)
    last = [
        {"capture": name, "last_ns": max(event.time_ns for event in reading_of(name).events)}
        for name in PATHS
    ]
    frames["captures"] = spark.createDataFrame(
        pa.Table.from_pylist(last, schema=TABLES["captures"].base.arrow),
        schema=TABLES["captures"].base.spark,
    )
    return frames


def rows_of(frame: DataFrame, *names: str) -> Rows:
    return sorted((tuple(row) for row in frame.select("capture", *names).collect()), key=str)


@pytest.fixture(scope="module")
def asked(staged: dict[str, DataFrame]) -> dict[str, DataFrame]:
    events = staged["exchange_events"]
    exchanged = exchanges.build(events).localCheckpoint()
    sent = requests.build(events, exchanged).localCheckpoint()
    traced = traces.join(sent, traces.build(sent)).localCheckpoint()
    replied = replies.build(events, exchanged, traced).localCheckpoint()
    known = (staged["sessions"], staged["captures"])
    lives = declarations.build(staged["declare_events"], staged["sessions"])
    causes = unanswered.build(traced, replied, lives.where("entity = 'queryable'"), *known)
    found = queries.build(events, traced, replied, *known, causes)
    return {"queries": found.localCheckpoint(), "replies": replied}


def test_queries(asked: dict[str, DataFrame]) -> None:
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


def test_replies(asked: dict[str, DataFrame]) -> None:
    expected = [
        (name, response.packet, exchange.latency_ms(response), is_late)
        for name in PATHS
        for exchange in reading_of(name).exchanges()
        for is_late, responses in ((False, exchange.responses), (True, exchange.after_final))
        for response in responses
    ]
    found = rows_of(asked["replies"], "packet", "latency_ms", "after_final")
    assert found == sorted(expected, key=str)


def life(name: str, life: DeclarationLife) -> tuple[Any, ...]:
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
        life.told,
    )


def test_declarations(staged: dict[str, DataFrame]) -> None:
    """But for groups: who left one, and took its declarations along, is not in any table."""
    expected = [
        life(name, one)
        for name in PATHS
        for one in reading_of(name).declarations()
        if not one.session.is_multicast
    ]
    names = (
        "packet",
        "entity",
        "entity_id",
        "key",
        "sender_zid",
        "receiver_zid",
        "declared_ns",
        "undeclared_ns",
        "ended_by",
        "complete",
        "distance",
        "interest_id",
        "node_id",
        "told",
    )
    lives = declarations.build(staged["declare_events"], staged["sessions"])
    unicast = staged["sessions"].where("members IS NULL").select("capture", "session")
    found = rows_of(lives.join(unicast, ["capture", "session"], "left_semi"), *names)
    assert found == sorted(expected, key=str)
    assert len(found) > 500


def test_interests(staged: dict[str, DataFrame]) -> None:
    def ends(one: InterestLife) -> int | None:
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
    lives = interests.build(staged["interest_events"], staged["sessions"])
    found = rows_of(lives, *names, "closed_ns", "ended_by")
    assert found == sorted(expected, key=str)


def test_routers_pass_on_what_they_are_asked(asked: dict[str, DataFrame]) -> None:
    """Every query of a client that reached others did so under one trace."""
    rows: list[Row] = [
        row.asDict()
        for row in asked["queries"].select("capture", "seq", "trace_id", "requester_zid").collect()
    ]
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
