"""Queries and replies, from hand-made events to verdicts and reasons."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lake.derive.steps.cases import (
    MS,
    Row,
    Staged,
    build_all,
    built,
    by_case,
    columns,
    declared_shape,
    frame,
    shape,
    staged,
)
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import build_queries, exchanges
from zenlake.lake.schema import STAGED

pytestmark = pytest.mark.xdist_group("exchanges")


def request(seq: int, **more: Any) -> Row:
    return {"kind": "REQUEST", "seq": seq, "consolidation": "none", "timeout_ms": 100.0, **more}


def put(seq: int, **more: Any) -> Row:
    return {"kind": "PUT", "seq": seq, "payload": b"v", "replier_zid": "r", **more}


def err(seq: int, **more: Any) -> Row:
    return {"kind": "ERR", "seq": seq, "payload": b"no", "key": None, **more}


def final(seq: int, **more: Any) -> Row:
    return {"kind": "FINAL", "seq": seq, "key": None, **more}


def stamped(seq: int, order: str, **more: Any) -> Row:
    return put(seq, timestamp_order=order, **more)


LATEST = {"consolidation": "latest"}
MONOTONIC = {"consolidation": "monotonic"}

CASES: dict[str, list[Row]] = {
    "answered": [request(1), put(2), err(3), put(4), final(5)],
    "two sides": [request(1), request(2, side=1), put(3, side=1), final(4), final(5, side=1)],
    "used again": [request(1), request(5), put(6), final(7)],
    "used again after final": [request(1), final(2), request(5), final(7), put(8)],
    "request not seen": [put(1), final(2), put(3), request(4), final(5)],
    "final twice": [request(1), final(2), final(6)],
    "late": [request(1), put(2), final(3), put(6), err(8)],
    "late once": [request(1), final(3), put(6)],
    "empty": [request(1), final(3)],
    "error": [request(1), err(2), final(3)],
    "final after deadline": [request(1), put(2), final(150), put(151, request_id=9)],
    "reply after deadline": [request(1), put(120), put(130), final(150)],
    "silent hop": [request(1), err(90, payload=b"Timeout", replier_zid="r2"), final(91)],
    "silent queryable": [request(1), err(90, payload=b"Timeout", replier_zid="b"), final(91)],
    "silent and not": [request(1), put(2), err(90, payload=b"Timeout"), final(91)],
    "capture outlives deadline": [request(1)],
    "replied but no final": [request(1), put(2), put(3)],
    "session ended": [request(1)],
    "session ended, replied": [request(1), put(3)],
    "session ended after deadline": [request(1)],
    "capture ended": [request(40)],
    "no timeout": [request(1, timeout_ms=None)],
    "used again without timeout": [request(1, timeout_ms=None), request(5), final(6)],
    "long timeout": [request(1, timeout_ms=1.8e19), put(2), final(3)],
    "none": [request(1), stamped(2, "5"), stamped(3, "4"), put(4), final(9)],
    "monotonic": [
        request(1, key="k/*", **MONOTONIC), stamped(2, "5"), stamped(3, "3"), put(4),
        stamped(5, "4"), stamped(6, "5"), stamped(7, "1", key="k/2"), final(9),
    ],
    "latest": [
        request(1, key="k/*", **LATEST), stamped(2, "5"), stamped(3, "3"), put(4), stamped(5, "4"),
        stamped(6, "5"), stamped(7, "1", key="k/2"), err(8), final(9),
    ],
    "latest without timestamps": [request(1, **LATEST), put(2), put(3), final(4)],
    "latest after final": [request(1, **LATEST), put(2), final(3), put(4)],
    "auto": [request(1, consolidation="auto"), put(2), put(3), final(4)],
    "auto over time": [
        request(1, consolidation="auto", parameters="a=1;_time=[..]"), put(2), put(3), final(4)
    ],
    "auto, not over time": [
        request(1, consolidation="auto", parameters="x_time=1"), put(2), put(3), final(4)
    ],
    "other keys": [
        request(1, key="k/*"), put(2, key="k/1"), put(3, key="x"), put(4, key=None),
        put(5, key="//"), err(6, key="x"), final(9),
    ],
    "any key": [request(1, key="k/*", parameters="_anyke"), put(3, key="x"), final(9)],
}  # fmt: skip

ENDS = {"session ended": 12, "session ended, replied": 12, "session ended after deadline": 150}
"""When these sessions ended."""
CAPTURE_ENDS = {"capture ended": 90, "no timeout": 90}


WITH_CAPTURE = f"""
SELECT exchanges.*, events.capture FROM {{exchanges}} AS exchanges
JOIN (SELECT {exchanges.PLACE} AS place, seq, capture FROM {{events}}) AS events
    ON events.place = exchanges.place AND events.seq = exchanges.seq
"""
"""`exchanges` identifies events by place."""


def staged_cases() -> Staged:
    defaults = {
        "side": 0,
        "request_id": 1,
        "key": "k/1",
        "requester_zid": "a",
        "responder_zid": "b",
    }
    sessions = [
        {
            "capture": case,
            "session": "s",
            "outcome": "lost" if case in ENDS else "open",
            "closed_ns": ENDS[case] * MS if case in ENDS else None,
        }
        for case in CASES
    ]
    captures = [{"capture": case, "last_ns": CAPTURE_ENDS.get(case, 1_000) * MS} for case in CASES]
    events = staged(CASES, **defaults)
    return {"exchange_events": events, "sessions": sessions, "captures": captures}


@pytest.fixture(scope="module")
def tables(engine: Engine) -> dict[str, dict[str, list[Row]]]:
    staged = {**staged_cases(), "declare_events": []}
    frames = {name: frame(engine, name, rows) for name, rows in staged.items()}
    kept: dict[str, Any] = {"events": frames["exchange_events"]}
    found = built(build_queries, frames, lambda name, one: kept.setdefault(name, one))
    exchanged = engine.sql(WITH_CAPTURE, exchanges=kept["exchanges"], events=kept["events"])
    return {name: by_case(one) for name, one in {**found, "exchanges": exchanged}.items()}


Tables = dict[str, dict[str, list[Row]]]


@pytest.mark.parametrize(
    ("case", "names"),
    [
        # For each event: seq of its query, seq of the final response.
        ("answered", [(1, 5)] * 5),
        ("two sides", [(1, 4), (2, 5), (2, 5), (1, 4), (2, 5)]),
        ("used again", [(1, None), (5, 7), (5, 7), (5, 7)]),
        ("used again after final", [(1, 2), (1, 2), (5, 7), (5, 7), (5, 7)]),
        ("request not seen", [(None, 2), (None, 2), (None, 2), (4, 5), (4, 5)]),
        ("final twice", [(1, 2)] * 3),
    ],
)
def test_each_event_knows_its_exchange(
    tables: Tables, case: str, names: list[tuple[int | None, int | None]]
) -> None:
    assert columns(tables["exchanges"][case], "query_seq", "final_seq") == names


AFTER_FINAL = "it came after the final response"
TOO_LATE = "it came after the query's timeout of 100 ms"
ELSEWHERE = "its key does not intersect the query's"
OLDER = "monotonic: older than one delivered before for this key"


def replaced(packet: int) -> str:
    return f"latest: the reply in packet {packet} replaced it"


@pytest.mark.parametrize(
    ("case", "dropped"),
    [
        ("answered", [None, None, None]),
        ("late", [None, AFTER_FINAL, AFTER_FINAL]),
        ("reply after deadline", [TOO_LATE, TOO_LATE]),
        ("silent hop", [None]),
        ("none", [None, None, None]),
        ("monotonic", [None, OLDER, OLDER, OLDER, None, None]),
        ("latest", [replaced(6)] * 4 + [None, None, None]),
        ("latest without timestamps", [replaced(3), None]),
        ("latest after final", [None, AFTER_FINAL]),
        ("auto", [replaced(3), None]),
        ("auto over time", [None, None]),
        ("auto, not over time", [replaced(3), None]),
        ("other keys", [None, ELSEWHERE, None, None, None]),
        ("any key", [None]),
        ("long timeout", [None]),
    ],
)
def test_dropped_replies_have_a_reason(
    tables: Tables, case: str, dropped: list[str | None]
) -> None:
    found = tables["replies"][case]
    assert [row["dropped_because"] for row in found] == dropped
    assert [row["delivered"] for row in found] == [reason is None for reason in dropped]
    delivered = sum(row["delivered"] for row in tables["queries"][case])
    assert delivered == dropped.count(None)


def test_reply_without_its_request_has_no_verdict(tables: Tables) -> None:
    names = ("query_seq", "after_final", "latency_ms", "delivered", "dropped_because", "trace_id")
    assert columns(tables["replies"]["request not seen"], *names) == [
        (None, False, None, None, None, None),
        (None, True, None, None, None, None),
    ]


def test_times_are_counted_from_the_request(tables: Tables) -> None:
    assert columns(tables["replies"]["answered"], "latency_ms", "query_seq", "trace_id") == [
        (1.0, 1, 1),
        (2.0, 1, 1),
        (3.0, 1, 1),
    ]
    names = ("replies", "errors", "first_reply_ms", "final_ms", "trace_id")
    assert columns(tables["queries"]["answered"], *names) == [(2, 1, 1.0, 4.0, 1)]
    assert columns(tables["queries"]["empty"], *names) == [(0, 0, None, 2.0, 1)]
    assert columns(tables["queries"]["late"], *names) == [(2, 1, 1.0, 2.0, 1)]


@pytest.mark.parametrize(
    ("case", "verdict", "reason"),
    [
        ("answered", "answered", "2 replies and 1 error, the first after 1 ms, final after 4 ms"),
        (
            "late",
            "reply_after_final",
            "2 answers came after the final response, the first 3 ms after it "
            "(packet 6), and are dropped; 1 came in time",
        ),
        (
            "late once",
            "reply_after_final",
            "1 reply came 3 ms after the final response (packet 6) and is dropped",
        ),
        (
            "final after deadline",
            "timeout",
            "the final response came after 149 ms, later than the timeout of 100 ms; "
            "1 reply after 1 ms",
        ),
        (
            "silent hop",
            "timeout",
            "node b says that node r2 did not answer within the timeout of 100 ms; no reply",
        ),
        (
            "silent queryable",
            "timeout",
            "node b says that its queryable did not answer within the timeout of 100 ms; no reply",
        ),
        (
            "silent and not",
            "answered",
            "1 reply and 1 error, the first after 1 ms, final after 90 ms",
        ),
        (
            "capture outlives deadline",
            "timeout",
            "neither a reply nor the final response came: the timeout of 100 ms passed",
        ),
        (
            "replied but no final",
            "timeout",
            "2 replies, the first after 1 ms, but the final response never came: "
            "the timeout of 100 ms passed (does a queryable still hold the query?)",
        ),
        ("error", "error", "1 error after 1 ms and no reply, final after 2 ms"),
        (
            "empty",
            "empty",
            "no queryable for it is seen; the capture shows only one link of node b: "
            "final after 2 ms without any reply",
        ),
        (
            "session ended",
            "interrupted",
            "the session ended (lost) 11 ms after the request without any answer",
        ),
        (
            "session ended, replied",
            "answered",
            "1 reply after 2 ms, but the final response is missing: "
            "the session ended (lost) 11 ms after the request",
        ),
        (
            "session ended after deadline",
            "timeout",
            "neither a reply nor the final response came: the timeout of 100 ms passed",
        ),
        (
            "capture ended",
            "open",
            "no answer yet: the capture ended 50 ms after the request, "
            "before its timeout of 100 ms",
        ),
        ("no timeout", "open", "no answer yet: the capture ended 89 ms after the request"),
        (
            "latest",
            "answered",
            "2 of 6 replies delivered: consolidation latest kept the newest of each key; "
            "besides 1 error; final after 8 ms",
        ),
        (
            "monotonic",
            "answered",
            "3 of 6 replies delivered: consolidation monotonic dropped what was older than "
            "delivered before; final after 8 ms",
        ),
        (
            "other keys",
            "answered",
            "3 of 4 replies delivered: 1 for keys that were not asked for; besides 1 error; "
            "final after 8 ms",
        ),
    ],
)
def test_query_has_this_verdict_and_reason(
    tables: Tables, case: str, verdict: str, reason: str
) -> None:
    assert columns(tables["queries"][case], "verdict", "reason") == [(verdict, reason)]


def test_query_whose_id_is_reused_has_no_final(tables: Tables) -> None:
    assert columns(tables["queries"]["used again without timeout"], "verdict", "reason") == [
        ("no_final", "the final response never came: its number was used again by a later request"),
        (
            "empty",
            "no queryable for it is seen; the capture shows only one link of node b: "
            "final after 1 ms without any reply",
        ),
    ]
    assert columns(tables["queries"]["used again"], "verdict") == [("timeout",), ("answered",)]


def test_every_verdict_has_a_reason(tables: Tables) -> None:
    assert all(row["reason"] for rows in tables["queries"].values() for row in rows)


def test_all_tables_are_built_from_the_staged_ones(engine: Engine) -> None:
    known = (*STAGED, "samples", "sessions", "captures")
    inputs = {name: frame(engine, name, []) for name in known}
    for name, table in build_all(inputs).items():
        assert shape(table) == declared_shape(name)
