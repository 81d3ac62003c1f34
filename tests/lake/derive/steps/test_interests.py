"""Interests, from hand-made events."""

from __future__ import annotations

from typing import Any

from tests.lake.derive.steps.cases import MS, Row, Staged, by_case, columns, frame, staged
from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import interests


def opened(seq: int, mode: str = "current_future", **more: Any) -> Row:
    return {"seq": seq, "event": "open", "mode": mode, "options": "KS", "key": "k", **more}


def final(seq: int, **more: Any) -> Row:
    return {"seq": seq, "event": "final", **more}


def close(seq: int, **more: Any) -> Row:
    return {"seq": seq, "event": "close", **more}


CASES: dict[str, list[Row]] = {
    "whole": [opened(1), final(2), final(3), close(5)],
    "open": [opened(1), final(2)],
    "session": [opened(1)],
    "current": [opened(1, "current"), final(2), close(3)],
    "current, no final": [opened(1, "current"), close(3)],
    "used again": [opened(1), opened(2), final(3), close(4), opened(5)],
    "not seen": [final(1), close(2), opened(3)],
    "final after close": [opened(1), close(2), final(3), close(4)],
    "sides": [opened(1), opened(2, side=1), final(3, side=1)],
}


def staged_cases() -> Staged:
    sessions: list[Row] = [{"capture": "session", "session": "s", "closed_ns": 9 * MS}]
    events = staged(CASES, side=0, interest_id=1)
    return {"interest_events": events, "sessions": sessions}


def test_interests_have_their_begin_and_end(engine: Engine) -> None:
    frames = [frame(engine, name, rows) for name, rows in staged_cases().items()]
    found = by_case(interests.build(*frames))
    names = ("opened_ns", "final_ns", "closed_ns", "ended_by")

    def lifetimes(case: str) -> list[tuple[Any, ...]]:
        return [
            (*(None if ns is None else ns // MS for ns in times), ended_by)
            for *times, ended_by in columns(found[case], *names)
        ]

    assert lifetimes("whole") == [(1, 2, 5, "closed")]
    assert lifetimes("open") == [(1, 2, None, None)]
    assert lifetimes("session") == [(1, None, 9, "session")]
    assert lifetimes("current") == [(1, 2, None, "final")]
    assert lifetimes("current, no final") == [(1, None, 3, "closed")]
    assert lifetimes("used again") == [
        (1, None, None, None),
        (2, 3, 4, "closed"),
        (5, None, None, None),
    ]
    assert lifetimes("not seen") == [(3, None, None, None)]
    assert lifetimes("final after close") == [(1, None, 2, "closed")]
    assert lifetimes("sides") == [(1, None, None, None), (2, 3, None, None)]
    assert columns(found["whole"], "packet", "mode", "options", "key") == [
        (1, "current_future", "KS", "k")
    ]
