"""Requests on several links that belong to one query."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lake.derive.steps.cases import Row, Staged, by_case, columns, frame, staged
from zenlake.errors import LocalError
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import exchanges, requests, traces
from zenlake.trace.timelines.request_traces import NEVER, Request, RequestTraces


def asked(
    seq: int,
    requester: str | None,
    responder: str | None,
    until: int = NEVER,
    session: str | None = None,
    deadline: int = NEVER,
) -> Request:
    name = session or f"{requester}{responder}"
    return Request(seq, seq, name, requester, responder, until, deadline)


@pytest.mark.parametrize(
    ("requests", "trace_ids"),
    [
        pytest.param(
            [asked(1, "a", "b"), asked(2, "b", "c"), asked(3, "b", "d"), asked(4, "c", "e")],
            [1, 1, 1, 1],
            id="a tree",
        ),
        pytest.param([asked(1, "a", "b", 2), asked(3, "b", "c")], [1, 3], id="over by its final"),
        pytest.param(
            [asked(1, "a", "b", deadline=2), asked(3, "b", "c")], [1, 3], id="over by its deadline"
        ),
        pytest.param([asked(1, "a", "b"), asked(2, "x", "y")], [1, 2], id="another node asks"),
        pytest.param(
            [asked(1, "a", "b"), asked(2, "a", "b"), asked(3, "b", "c"), asked(4, "b", "c")],
            [1, 2, 1, 2],
            id="order is kept on a session",
        ),
        pytest.param(
            [asked(1, "a", "b", 3), asked(2, "a", "b"), asked(4, "b", "c"), asked(5, "b", "c")],
            [1, 2, 2, 5],
            id="each is passed on once in a session",
        ),
        pytest.param(
            [asked(1, "a", "b"), asked(2, "x", "b"), asked(3, "b", "c"), asked(4, "c", "d")],
            [1, 2, None, None],
            id="two sessions might be meant",
        ),
        pytest.param(
            [asked(1, "a", "b"), asked(2, "b", "c"), asked(3, "x", "b"), asked(4, "b", "c")],
            [1, 1, 3, 3],
            id="one of two sessions is taken",
        ),
        pytest.param(
            [asked(1, "a", "b", session="s"), asked(2, "b", "a", session="s")],
            [1, 2],
            id="not within a session",
        ),
        pytest.param([asked(1, None, "b"), asked(2, "b", "c")], [None, None], id="unknown asks"),
        pytest.param([asked(1, "a", None), asked(2, "b", "c")], [1, None], id="unknown is asked"),
    ],
)
def test_request_belongs_to_the_expected_trace(
    requests: list[Request], trace_ids: list[int | None]
) -> None:
    hops = RequestTraces()
    assert [hops.add(request) for request in requests] == trace_ids


def test_ended_requests_are_dropped_and_open_ones_kept() -> None:
    hops = RequestTraces()
    assert hops.add(asked(1, "a", "b")) == 1
    for seq in range(2, 2_000, 2):
        assert hops.add(asked(seq, "a", "b", until=seq + 1)) == seq
    assert hops.add(asked(3_000, "b", "c")) == 1
    assert hops.add(asked(3_001, "b", "c")) == 3_001
    assert hops.add(asked(3_002, "b", "d")) == 1


def test_requests_out_of_order_are_refused() -> None:
    hops = RequestTraces()
    hops.add(asked(2, "a", "b"))
    with pytest.raises(LocalError, match="out of order"):
        hops.add(asked(1, "a", "b"))


def hop(seq: int, requester: str, responder: str, **more: Any) -> Row:
    return {
        "kind": "REQUEST",
        "seq": seq,
        "session": requester + responder,
        "requester_zid": requester,
        "responder_zid": responder,
        **more,
    }


CASES: dict[str, list[Row]] = {
    "passed on": [hop(1, "a", "b"), hop(2, "b", "c"), hop(3, "c", "d")],
    "asks something else": [
        hop(1, "a", "b"),
        hop(2, "b", "c", key="x"),
        hop(3, "b", "c", parameters="x"),
        hop(4, "b", "c", payload=b""),
        hop(5, "b", "c", attachment=b""),
        hop(6, "b", "c", timeout_ms=1.0),
    ],
    "final": [hop(1, "a", "b"), hop(2, "a", "b") | {"kind": "FINAL"}, hop(3, "b", "c")],
    "many": [
        one
        for seq in range(0, 12_000, 4)
        for one in (
            hop(seq, "a", "b", request_id=seq),
            hop(seq + 1, "b", "c", request_id=seq),
            hop(seq + 2, "a", "b", request_id=seq) | {"kind": "FINAL"},
        )
    ],
}


def staged_cases() -> Staged:
    defaults = {"side": 0, "request_id": 1, "key": "k", "consolidation": "none"}
    return {"exchange_events": staged(CASES, **defaults)}


def test_captures_have_the_expected_traces(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are shuffled; the step processes them in order, over several batches."""
    monkeypatch.setattr("zenlake.lake.derive.duck.frame.ROWS_AT_ONCE", 100)
    events = frame(engine, "exchange_events", staged_cases()["exchange_events"])
    found = by_case(traces.build(requests.build(events, exchanges.build(events))))
    trace_ids = {case: [row["trace_id"] for row in rows] for case, rows in found.items()}
    assert trace_ids["passed on"] == [1, 1, 1]
    assert trace_ids["asks something else"] == [1, 2, 3, 4, 5, 6]
    assert trace_ids["final"] == [1, 3]
    assert trace_ids["many"] == [seq for seq in range(0, 12_000, 4) for _ in range(2)]
    assert columns(found["final"], "session", "seq") == [("ab", 1), ("bc", 3)]
