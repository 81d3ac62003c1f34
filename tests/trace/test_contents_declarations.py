"""Subscribers, queryables, tokens and publishers of the sidecars are declared and undeclared."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.trace.sidecar import (
    CLOCK_SECONDS,
    PATHS,
    Reading,
    Row,
    Sidecar,
    reading_of,
    seconds,
    sidecar_of,
)
from zenlake.trace import MessageSeen
from zenlake.trace.timelines.declarations import DeclarationLifetime

ENTITIES = {
    "declare_subscriber": "subscriber",
    "declare_queryable": "queryable",
    "declare_token": "token",
}
ASKING = {"declare_publisher": "S", "declare_querier": "Q"}
WITHOUT_HANDSHAKE = ["compressed_midstream", "lowlatency_midstream", "midstream"]


def declared_in(sidecar: Sidecar) -> list[Row]:
    """Calls of all nodes except routers, which declare their own entities only for an interest."""
    return [
        row for row in sidecar.of(*ENTITIES) if sidecar.roles[sidecar.zids[row["node"]]] != "router"
    ]


DECLARING = [
    name for name in PATHS if name not in WITHOUT_HANDSHAKE and declared_in(sidecar_of(name))
]
PUBLISHING = [
    name
    for name in PATHS
    if name not in (*WITHOUT_HANDSHAKE, "pico_peers") and sidecar_of(name).of(*ASKING)
]


def undeclared_at(sidecar: Sidecar, row: Row) -> float | None:
    for later in sidecar.of("undeclare"):
        if later["i"] > row["i"] and (later["node"], later["handle"]) == (
            row["node"],
            row["handle"],
        ):
            return float(later["t"])
    return None


def sessions_since(sidecar: Sidecar, reading: Reading, row: Row) -> int:
    """The number of sessions in which a node sends between a call and its undeclaration."""
    zid, until = sidecar.zids[row["node"]], undeclared_at(sidecar, row)
    return len(
        {
            event.session.id
            for event in reading.of("FRAME", "PUSH/PUT", "DECLARE/D_TOKEN")
            if event.sender_zid == zid
            and event.session is not None
            and event.session.outcome != "refused"
            and row["t"] - CLOCK_SECONDS < seconds(event)
            and (until is None or seconds(event) < until)
        }
    )


def test_captures_have_declarations() -> None:
    assert len(DECLARING) == 27
    assert len(PUBLISHING) == 21


@pytest.mark.parametrize("name", DECLARING)
def test_each_entity_is_declared_in_each_session_and_undeclared(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    wanted: Counter[tuple[str | None, ...]] = Counter()
    for row in declared_in(sidecar):
        entity = (sidecar.zids[row["node"]], ENTITIES[row["op"]], row["key"])
        end = "undeclare" if undeclared_at(sidecar, row) is not None else "session"
        wanted[(*entity, end)] += sessions_since(sidecar, reading, row)
    tellers = {zid for zid, *_ in wanted}
    found = Counter(
        (life.sender_zid, life.entity, life.key, ended(life))
        for life in reading.declarations()
        if life.entity != "keyexpr" and not life.is_answer and life.sender_zid in tellers
    )
    assert found == wanted
    assert min(wanted.values()) > 0


def ended(life: DeclarationLifetime) -> str:
    """The expected end: without an undeclaration an entity ends with its session or the capture."""
    return "session" if life.ended_by is None else life.ended_by


@pytest.mark.parametrize("name", DECLARING)
def test_each_call_has_a_message_at_its_time(name: str) -> None:
    sidecar = sidecar_of(name)
    lifetimes = reading_of(name).declarations()
    for row in declared_in(sidecar):
        zid, end = sidecar.zids[row["node"]], undeclared_at(sidecar, row)
        assert any(
            life.sender_zid == zid
            and (life.entity, life.key) == (ENTITIES[row["op"]], row["key"])
            and bool(life.complete) == row.get("complete", False)
            and is_at(row["t"], life.declared)
            and (end is None or is_at(end, life.undeclared))
            for life in lifetimes
        ), row


def is_at(time: float, event: MessageSeen | None) -> bool:
    return event is not None and abs(seconds(event) - time) < CLOCK_SECONDS


@pytest.mark.parametrize("name", PUBLISHING)
def test_each_publisher_and_querier_sends_an_interest(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    lifetimes = reading.interests()
    for op, letter in ASKING.items():
        for row in sidecar.of(op):
            zid = sidecar.zids[row["node"]]
            assert any(
                life.sender_zid == zid
                and life.key == row["key"]
                and letter in (life.options or "")
                and str(life.mode) == "current_future"
                and is_at(row["t"], life.opened)
                and (undeclared_at(sidecar, row) is None or life.closed is not None)
                for life in lifetimes
            ), row
