"""Every get has a row in `queries`; its caller received the replies that are marked delivered."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.lake.contents.questions import (
    Questions,
    asked,
    delivered_to,
    detail,
    is_timed_out,
    unmatched,
)
from tests.lake.contents.tables import Row, Tables, seconds
from tests.trace.queries import asked_by, is_pico, recorded_answer
from tests.trace.sidecar import CLOCK_SECONDS, Sidecar, sidecar_of
from tests.trace.test_contents_queries import ANSWERING, ASKING, given_by, plain

CANCELLED = {"queries": 1}


@pytest.mark.parametrize("name", ASKING)
def test_each_get_has_one_query(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    questions = Questions(tables, name)
    assert questions.others == []
    for node in {row["node"] for row in sidecar.of("get")}:
        wanted = Counter(asked_by(sidecar, row) for row in sidecar.of("get") if row["node"] == node)
        rows = [row for row in questions.rows if row["requester_zid"] == sidecar.zids[node]]
        assert Counter(map(asked, rows)) == wanted
        assert all(row["budget"] is None for row in rows)


@pytest.mark.parametrize("name", ASKING)
def test_get_received_the_delivered_replies(tables: Tables, name: str) -> None:
    """Queryables of the same node reply without a message."""
    questions = Questions(tables, name)
    cancelled = 0
    for get, row in questions.gets:
        replies = questions.replies_to(row)
        delivered = [one for one in replies if one["delivered"]]
        left, missing = unmatched(delivered, delivered_to(get))
        assert {plain(one) for one in missing} <= given_by(questions.sidecar, get["node"])
        if get.get("cancelled"):
            cancelled += 1
        elif left:
            # zenoh-pico numbers the modes differently: it meant latest and wrote monotonic.
            assert is_pico(questions.sidecar, get["node"])
            assert row["consolidation"] == "monotonic"
        assert row["delivered"] == len(delivered)
        assert row["replies"] + row["errors"] == len(replies)
        assert row["errors"] == sum(one["kind"] == "ERR" for one in replies)
        assert all((one["dropped_because"] is None) == one["delivered"] for one in replies)
    assert cancelled == CANCELLED.get(name, 0)


def verdict_of(sidecar: Sidecar, get: Row) -> str:
    """The expected verdict of a get, from the replies that its caller received from other nodes."""
    answers = [one for one in delivered_to(get) if plain(one) not in given_by(sidecar, get["node"])]
    if is_timed_out(get):
        return "timeout"
    if not answers:
        return "empty"
    return "error" if all(one.kind == "err" for one in answers) else "answered"


@pytest.mark.parametrize("name", ASKING)
def test_verdicts_match_what_callers_observed(tables: Tables, name: str) -> None:
    questions = Questions(tables, name)
    for get, row in questions.gets:
        if not get.get("cancelled"):
            assert row["verdict"] == verdict_of(questions.sidecar, get), get
            took_ms = 1000 * (get["t"] - get["started"] + CLOCK_SECONDS)
            assert row["final_ms"] < took_ms
        assert row["reason"]
        if row["verdict"] == "timeout":
            assert row["final_ms"] is None or row["final_ms"] >= 0.9 * row["timeout_ms"]


def test_captures_have_several_verdicts(tables: Tables) -> None:
    roots = [row for _, row in Questions(tables, "queries").gets]
    assert Counter(row["verdict"] for row in roots).keys() == {
        "answered",
        "empty",
        "error",
        "timeout",
    }
    for row in roots:
        if row["verdict"] == "timeout":
            assert row["parameters"] in ("slow", "hold")
        if row["verdict"] == "empty":
            assert row["key"].startswith("db_nobody/") or row["parameters"] == "hold"


@pytest.mark.parametrize("name", ANSWERING)
def test_each_call_of_a_queryable_is_a_last_hop_with_its_answers(tables: Tables, name: str) -> None:
    """Each request to a node with queryables is also such a call."""
    questions = Questions(tables, name)
    sidecar = questions.sidecar
    called = set()
    for received in questions.received():
        row = questions.last_hop(received)
        assert received["t"] - seconds(row["time_ns"]) < 1
        answers = [recorded_answer(one) for one in received["replies"] if not one.get("failed")]
        missing = unmatched(questions.replies_to(row), answers)[1]
        # A reply after the node reported the timeout is not sent.
        assert not missing or (row["verdict"], row["parameters"]) == ("timeout", "slow")
        called.add(row["seq"])
    answering = {sidecar.zids[row["node"]] for row in sidecar.of("declare_queryable")} | {None}
    asked_there = {row["seq"] for row in questions.rows if row["responder_zid"] in answering}
    assert called == asked_there


@pytest.mark.parametrize("name", ANSWERING)
def test_each_reply_on_a_last_hop_was_sent_by_a_queryable(tables: Tables, name: str) -> None:
    """Two queryables of a node may reply to one request; a node itself reports a timeout."""
    questions = Questions(tables, name)
    calls: dict[int, list[Row]] = {}
    for received in questions.received():
        row = questions.last_hop(received)
        given = [one for one in received["replies"] if not one.get("failed")]
        calls.setdefault(row["seq"], []).extend(given)
    for row in questions.rows:
        if row["seq"] not in calls:
            continue
        left, missing = unmatched(
            questions.replies_to(row), [recorded_answer(one) for one in calls[row["seq"]]]
        )
        assert not missing or row["verdict"] == "timeout"
        assert all(one["kind"] == "ERR" and one["payload"] == b"Timeout" for one in left)


@pytest.mark.parametrize("name", ASKING)
def test_queries_and_replies_have_the_requested_priority(tables: Tables, name: str) -> None:
    priorities = {row["seq"]: row["priority"] for row in tables.of(name, "messages")}
    questions = Questions(tables, name)
    for get, root in questions.gets:
        wanted = questions.sidecar.setting(get, "priority") or 5
        assert {one["priority"] for one in get["replies"] if "priority" in one} <= {wanted, None}
        for hop in questions.hops(root):
            rows = [hop, *questions.replies_to(hop)]
            assert {priorities[row["seq"]] for row in rows} == {wanted}


def test_attachments_of_replies_are_in_the_tables(tables: Tables) -> None:
    questions = Questions(tables, "queries")
    for get, row in questions.gets:
        wanted = sum(one.get("attachment") is not None for one in get["replies"])
        found = [column_or_detail(tables, one, "attachment") for one in questions.replies_to(row)]
        assert sum(one is not None for one in found) >= wanted


def test_congestion_control_of_replies_is_in_the_tables(tables: Tables) -> None:
    """One get was made with a non-default setting."""
    questions = Questions(tables, "queries")
    chosen = [
        (get, row)
        for get, row in questions.gets
        if any(one.get("express") for one in get["replies"])
    ]
    assert len(chosen) == 1
    for _, row in chosen:
        for one in (row, *questions.replies_to(row)):
            assert column_or_detail(tables, one, "congestion") == "drop"
            assert column_or_detail(tables, one, "express")


def column_or_detail(tables: Tables, row: Row, name: str) -> Any:
    """The value of a column, or of the detail of its message."""
    return row[name] if name in row else detail(tables, "queries", row["seq"]).get(name)
