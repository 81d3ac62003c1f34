"""`declarations` and `interests`: lifetimes of what the nodes of the sidecars declared."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.lake.contents.tables import Row, Tables, is_near, seconds
from tests.trace.sidecar import CLOCK_SECONDS, PATHS, Sidecar, sidecar_of
from tests.trace.test_contents_declarations import (
    ASKING,
    DECLARING,
    ENTITIES,
    PUBLISHING,
    declared_in,
    undeclared_at,
)

SAID = ("FRAME", "PUSH/PUT", "DECLARE/D_TOKEN")
"""Tables whose rows show that a node sends messages."""


def sessions_since(tables: Tables, name: str, row: Row) -> int:
    """The number of sessions in which a node sends between a call and its undeclaration."""
    sidecar = sidecar_of(name)
    zid, until = sidecar.zids[row["node"]], undeclared_at(sidecar, row)
    outcomes = {one["session"]: one["outcome"] for one in tables.of(name, "sessions")}
    return len(
        {
            one["session"]
            for one in tables.of(name, "messages")
            if one["kind"] in SAID
            and one["sender_zid"] == zid
            and one["error"] is None
            and outcomes.get(one["session"], "refused") != "refused"
            and row["t"] - CLOCK_SECONDS < seconds(one["time_ns"])
            and (until is None or seconds(one["time_ns"]) < until)
        }
    )


def is_answer(tables: Tables, name: str, life: Row) -> bool:
    """Whether a declaration only answers an INTEREST of mode CURRENT: it has no end."""
    return life["interest_id"] is not None and any(
        row["mode"] == "current"
        and row["interest_id"] == life["interest_id"]
        and row["session"] == life["session"]
        and row["sender_zid"] == life["receiver_zid"]
        for row in tables.of(name, "interests")
    )


@pytest.mark.parametrize("name", DECLARING)
def test_each_entity_is_declared_in_each_session_and_undeclared(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    wanted: Counter[tuple[str, ...]] = Counter()
    for row in declared_in(sidecar):
        end = "undeclare" if undeclared_at(sidecar, row) is not None else "session"
        wanted_key = (sidecar.zids[row["node"]], ENTITIES[row["op"]], row["key"], end)
        wanted[wanted_key] += sessions_since(tables, name, row)
    declarers = {wanted_key[0] for wanted_key in wanted}
    found = Counter(
        (life["sender_zid"], life["entity"], life["key"], life["ended_by"] or "session")
        for life in tables.of(name, "declarations")
        if life["entity"] != "keyexpr"
        and life["sender_zid"] in declarers
        and not is_answer(tables, name, life)
    )
    assert found == wanted
    assert min(wanted.values()) > 0


@pytest.mark.parametrize("name", DECLARING)
def test_each_call_has_a_lifetime_at_its_time(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    lifetimes = tables.of(name, "declarations")
    for row in declared_in(sidecar):
        zid, end = sidecar.zids[row["node"]], undeclared_at(sidecar, row)
        assert any(
            life["sender_zid"] == zid
            and (life["entity"], life["key"]) == (ENTITIES[row["op"]], row["key"])
            and bool(life["complete"]) == row.get("complete", False)
            and is_near(row["t"], life["declared_ns"])
            and (end is None or is_near(end, life["undeclared_ns"]))
            for life in lifetimes
        ), row


@pytest.mark.parametrize("name", PATHS)
def test_lifetimes_end_with_their_sessions(tables: Tables, name: str) -> None:
    sessions = {row["session"]: row for row in tables.of(name, "sessions")}
    lifetimes = tables.of(name, "declarations")
    for life in lifetimes:
        session = sessions[life["session"]]
        assert life["declared_ns"] is not None or life["undeclared_ns"] is not None
        assert (life["ended_by"] is None) == (life["undeclared_ns"] is None)
        if life["ended_by"] is None and session["closed_ns"] is not None:
            # Answers to an INTEREST of mode CURRENT have no end.
            assert is_answer(tables, name, life) or is_number_used_again(life, lifetimes)
        assert (life["complete"] is not None) <= (life["entity"] == "queryable")
        assert (life["distance"] is not None) <= (life["entity"] == "queryable")


def is_number_used_again(life: Row, lifetimes: list[Row]) -> bool:
    """Whether an alias in use is declared for another key, as in `alias_remapped`."""
    columns = ("session", "sender_zid", "entity", "entity_id")
    return life["entity"] == "keyexpr" and any(
        other["seq"] > life["seq"]
        and other["key"] != life["key"]
        and all(other[column] == life[column] for column in columns)
        for other in lifetimes
    )


@pytest.mark.parametrize("name", PATHS)
def test_no_lifetime_ends_before_it_begins(tables: Tables, name: str) -> None:
    for life in tables.of(name, "declarations"):
        start, end = life["declared_ns"], life["undeclared_ns"]
        assert start is None or end is None or start <= end


# --- interests ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLISHING)
def test_each_publisher_and_querier_sends_an_interest(tables: Tables, name: str) -> None:
    sidecar, interests = sidecar_of(name), tables.of(name, "interests")
    for op, letter in ASKING.items():
        for row in sidecar.of(op):
            assert any(is_asked_by(sidecar, row, letter, life) for life in interests)


def is_asked_by(sidecar: Sidecar, row: Row, letter: str, life: Row) -> bool:
    end = undeclared_at(sidecar, row)
    return bool(
        life["sender_zid"] == sidecar.zids[row["node"]]
        and life["key"] == row["key"]
        and letter in life["options"]
        and life["mode"] == "current_future"
        and is_near(row["t"], life["opened_ns"])
        and (end is None or (life["ended_by"] == "closed" and is_near(end, life["closed_ns"])))
    )


@pytest.mark.parametrize("name", PATHS)
def test_each_sent_interest_has_a_row_and_is_answered(tables: Tables, name: str) -> None:
    """All modes except FINAL; interests of mode CURRENT end with D_FINAL."""
    messages = tables.of(name, "messages")
    sent = {row["seq"] for row in messages if row["kind"] == "INTEREST"}
    rows = {row["seq"]: row for row in tables.of(name, "interests")}
    assert rows.keys() <= sent
    finals = [row for row in rows.values() if row["ended_by"] == "closed"]
    assert len(sent) - len(rows) == len(finals)
    for row in rows.values():
        assert row["opened_ns"] == row["time_ns"]
        if row["mode"] != "future" and name != "midstream":
            assert row["final_ns"] is not None
            assert row["final_ns"] >= row["opened_ns"]
        if row["mode"] == "current":
            assert row["ended_by"] == "final"


# --- messages ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PATHS)
def test_each_declaration_belongs_to_one_lifetime(tables: Tables, name: str) -> None:
    """A lifetime has its number of declarations and, for a queryable, distance and completeness."""
    messages = {row["seq"]: row for row in tables.of(name, "messages")}
    lifetimes = tables.of(name, "declarations")
    declared = Counter(
        row["kind"].partition("D_")[2].lower()
        for row in messages.values()
        if row["kind"].startswith("DECLARE/D_") and row["kind"] != "DECLARE/D_FINAL"
    )
    counted: Counter[str] = Counter()
    for life in lifetimes:
        counted[life["entity"]] += life["told"]
        detail = json.loads(messages[life["seq"]]["detail"] or "{}")
        assert life["node_id"] == detail.get("node_id")
        if life["told"] == 1 and life["entity"] == "queryable":
            assert (life["complete"], life["distance"]) == (
                detail.get("complete", False),
                detail.get("distance", 0),
            )
    assert counted == declared
