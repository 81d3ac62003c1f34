"""Evidence made by hand: a router, clients, and their messages, with times in milliseconds."""

from __future__ import annotations

from typing import Any, TypeVar

from zenlake.why import Evidence, Scope, Story, report
from zenlake.why.records import (
    Declaration,
    Flow,
    InterestRecord,
    Loss,
    Moment,
    QueryHop,
    ReplyRecord,
    Sample,
    SessionRecord,
)

ROUTER, ASKER, SERVER = "aaaa01", "cccc02", "bbbb03"
A, B = "asker-router#1", "server-router#1"
END_MS = 20_000


def at(ms: float) -> Moment:
    """The number of the packet determines its time."""
    return Moment(int(ms * 1e6), int(ms))


_Record = TypeVar("_Record")


def _changed(record: _Record, changes: dict[str, Any]) -> _Record:
    for name, value in changes.items():
        setattr(record, name, value)
    return record


def evidence(**changes: Any) -> Evidence:
    made = Evidence("by hand", 100, 0, END_MS * 1_000_000)
    made.roles = {ROUTER: "router", ASKER: "client", SERVER: "client"}
    made.sessions = {
        A: SessionRecord(A, ASKER, ROUTER, 0, None, "open", None, "tcp"),
        B: SessionRecord(B, SERVER, ROUTER, 0, None, "open", None, "tcp"),
    }
    return _changed(made, changes)


def asked(ms: float, key: str = "k/a", number: int = 1, **changes: Any) -> QueryHop:
    """A query from the asker to the router."""
    query = QueryHop(
        A, int(ms), at(ms), ASKER, ROUTER, number, key, "", "best_matching", "latest", 1_000.0
    )
    query.trace_id = int(ms)
    return _changed(query, changes)


def passed(origin: QueryHop, ms: float, **changes: Any) -> QueryHop:
    """The same query, forwarded by the router to the server."""
    query = QueryHop(
        B, int(ms), at(ms), ROUTER, SERVER, 1, origin.key, "", origin.target, "latest", 1_000.0
    )
    query.trace_id = origin.trace_id
    return _changed(query, changes)


def reply(ms: float, key: str = "k/a", stamp: str = "", late: bool = False) -> ReplyRecord:
    return ReplyRecord(at(ms), "PUT", key, SERVER, stamp, late)


def error(ms: float, text: str, replier: str | None = SERVER) -> ReplyRecord:
    return ReplyRecord(at(ms), "ERR", "", replier, "", False, text)


def declared(
    entity: str, key: str, ms: float = 5, ended: float | None = None, **changes: Any
) -> Declaration:
    """A declaration from the server to the router."""
    life = Declaration(
        B,
        int(ms),
        entity,
        key,
        SERVER,
        ROUTER,
        1,
        at(ms),
        None if ended is None else at(ended),
        None if ended is None else "undeclare",
        False if entity == "queryable" else None,
        None,
    )
    return _changed(life, changes)


def published(key: str, *times: float, session: str = A, **changes: Any) -> Flow:
    """Publications from the asker to the router, or from the router to the server."""
    nodes = (ASKER, ROUTER) if session == A else (ROUTER, SERVER)
    flow = Flow(session, *nodes, key, "drop", "reliable", 5)
    flow.samples = [Sample(at(ms), f"digest {number}") for number, ms in enumerate(times)]
    flow.count = len(times)
    flow.first, flow.last = flow.samples[0].at, flow.samples[-1].at
    return _changed(flow, changes)


def flows(*made: Flow) -> dict[tuple[str, str | None, str], Flow]:
    return {(flow.session, flow.sender, flow.key): flow for flow in made}


def interest(ms: float, options: str, key: str, **changes: Any) -> InterestRecord:
    """An interest of the asker, answered a millisecond later."""
    made = InterestRecord(
        A, int(ms), at(ms), ASKER, ROUTER, 1, "current_future", options, key, 0, None
    )
    made.final_ns = at(ms + 1).time_ns
    return _changed(made, changes)


def lost(session: str, ms: float, kind: str, sender: str = ROUTER) -> Loss:
    return Loss(session, at(ms), kind, sender, None, 5, "reliable", 2, None)


def stories(made: Evidence, key: str = "**") -> list[Story]:
    return report(made, Scope(key=key)).stories


def only(made: Evidence, key: str = "**") -> Story:
    [story] = stories(made, key)
    return story
