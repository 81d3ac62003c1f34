"""Figures of `queries` and `replies` agree with the messages they come from."""

from __future__ import annotations

import re

import pytest

from tests.lake.contents.tables import Row, Tables
from tests.trace.test_contents_queries import ASKING


def final_of(messages: list[Row], query: Row) -> Row | None:
    """The first RESPONSE_FINAL with the id of the query that was sent to the requester after it."""
    finals = (
        row
        for row in messages
        if row["kind"] == "RESPONSE_FINAL"
        and row["session"] == query["session"]
        and row["request_id"] == query["request_id"]
        and row["sender_zid"] != query["requester_zid"]
        and row["seq"] > query["seq"]
    )
    return next(finals, None)


@pytest.mark.parametrize("name", ASKING)
def test_times_are_measured_from_the_request(tables: Tables, name: str) -> None:
    messages, replies = tables.of(name, "messages"), tables.of(name, "replies")
    for query in tables.of(name, "queries"):
        own = [row for row in replies if row["query_seq"] == query["seq"]]
        for row in own:
            assert row["latency_ms"] == pytest.approx(ms_between(query, row))
        latencies = [row["latency_ms"] for row in own if row["kind"] != "ERR"]
        assert query["first_reply_ms"] == (min(latencies) if latencies else None)
        assert query["replies"] == len(latencies)
        final = final_of(messages, query)
        assert final is not None
        assert query["final_ms"] == pytest.approx(ms_between(query, final))
        assert all(row["after_final"] == (row["seq"] > final["seq"]) for row in own)


def ms_between(one: Row, other: Row) -> float:
    return float((other["time_ns"] - one["time_ns"]) / 1e6)


@pytest.mark.parametrize("name", ASKING)
def test_each_reply_belongs_to_the_request_with_its_id(tables: Tables, name: str) -> None:
    queries = {row["seq"]: row for row in tables.of(name, "queries")}
    for row in tables.of(name, "replies"):
        query = queries[row["query_seq"]]
        for column in ("session", "request_id", "trace_id"):
            assert row[column] == query[column]
        # Messages to a group go to all of its members.
        assert row["requester_zid"] in (query["requester_zid"], None)
        assert query["responder_zid"] in (row["responder_zid"], None)
        assert row["delivered"] == (row["dropped_because"] is None)


@pytest.mark.parametrize("name", ASKING)
def test_reasons_contain_the_rounded_figures(tables: Tables, name: str) -> None:
    """The figures are those of the other columns, rounded."""
    for row in tables.of(name, "queries"):
        found_ms = {
            float(one.replace(",", "")) for one in re.findall(r"([\d.,]*\d) ms", row["reason"])
        }
        assert found_ms
        figure = row["timeout_ms"] if row["verdict"] == "timeout" else row["final_ms"]
        assert any(figure == pytest.approx(one, rel=0.1, abs=0.006) for one in found_ms)
        if row["verdict"] == "timeout":
            assert row["final_ms"] > 0.9 * row["timeout_ms"]
            assert "did not answer" in row["reason"]
        if row["verdict"] == "empty":
            assert row["replies"] + row["errors"] == 0
        if row["verdict"] == "error":
            assert row["replies"] == 0 < row["errors"]


def test_dropped_replies_have_a_reason(tables: Tables) -> None:
    """The reason names the consolidation mode, and the packet of the reply that was kept."""
    replies = tables.of("queries", "replies")
    modes = {row["seq"]: row["consolidation"] for row in tables.of("queries", "queries")}
    packets = {row["seq"]: row["packet"] for row in replies}
    checked = set()
    for row in replies:
        why, mode = row["dropped_because"], modes[row["query_seq"]]
        if why is None or "timeout" in why:
            continue
        assert why.startswith(f"{mode}: ")
        assert row["kind"] != "ERR"
        checked.add(mode)
        found = re.search(r"packet (\d+)", why)
        if found is not None:
            rivals = [
                other
                for other in replies
                if (other["query_seq"], other["key"]) == (row["query_seq"], row["key"])
                and other["delivered"]
                and other["kind"] != "ERR"
            ]
            assert [packets[other["seq"]] for other in rivals] == [int(found[1])]
    assert checked == {"latest", "monotonic"}
