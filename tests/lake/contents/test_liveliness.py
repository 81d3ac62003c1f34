"""Events of liveliness subscribers and gets are beginnings and ends of the lifetimes of tokens."""

from __future__ import annotations

import pytest

from tests.lake.contents.tables import Row, Tables, is_near, seconds
from tests.trace.sidecar import CLOCK_SECONDS, is_captured, sidecar_of
from tests.trace.test_contents_liveliness import (
    ASKING,
    WATCHING,
    is_lost_with_the_session,
    is_own,
    own_keys,
)
from zenlake.keyexpr import includes


def tokens_declared_to(tables: Tables, name: str, node: str) -> list[Row]:
    zid = sidecar_of(name).zids[node]
    return [
        row
        for row in tables.of(name, "declarations")
        if row["entity"] == "token" and row["receiver_zid"] == zid
    ]


@pytest.mark.parametrize("name", WATCHING)
def test_each_token_event_is_the_beginning_or_end_of_a_lifetime(tables: Tables, name: str) -> None:
    """Each lifetime causes both events once, even if the same key is declared several times."""
    sidecar = sidecar_of(name)
    checked = 0
    for row in sidecar.liveliness_received:
        if not is_captured(row, sidecar.capture) or is_own(sidecar, row, row["key"]):
            continue
        column = "declared_ns" if row["kind"] == "put" else "undeclared_ns"
        lifetimes = [
            lifetime
            for lifetime in tokens_declared_to(tables, name, row["node"])
            if lifetime["key"] == row["key"] and is_near(row["t"], lifetime[column])
        ]
        if row["kind"] == "delete" and "undeclare" not in {
            lifetime["ended_by"] for lifetime in lifetimes
        }:
            assert is_lost_with_the_session(sidecar, row), row
            continue
        assert lifetimes, row
        checked += 1
    assert checked


def interest_for(tables: Tables, name: str, row: Row, mode: str) -> Row | None:
    """The interest in tokens that a call made."""
    zid = sidecar_of(name).zids[row["node"]]
    started = row["started"] if "started" in row else row["t"]
    for lifetime in tables.of(name, "interests"):
        if (
            lifetime["sender_zid"] == zid
            and lifetime["key"] == row["key"]
            and (lifetime["mode"], lifetime["options"]) == (mode, "KTR")
            and started - CLOCK_SECONDS < seconds(lifetime["opened_ns"]) < row["t"] + CLOCK_SECONDS
        ):
            return lifetime
    return None


@pytest.mark.parametrize("name", WATCHING)
def test_each_liveliness_subscriber_sent_an_interest(tables: Tables, name: str) -> None:
    rows = sidecar_of(name).of("declare_liveliness_subscriber")
    assert rows
    for row in rows:
        wanted = "current_future" if row.get("history") else "future"
        assert interest_for(tables, name, row, wanted) is not None, row


@pytest.mark.parametrize("name", ASKING)
def test_each_get_was_answered_with_its_tokens(tables: Tables, name: str) -> None:
    sidecar = sidecar_of(name)
    for row in sidecar.of("liveliness_get"):
        interest = interest_for(tables, name, row, "current")
        declared = tokens_declared_to(tables, name, row["node"])
        if sidecar.roles[sidecar.zids[row["node"]]] == "peer":
            # Peers declare all their tokens to each other, so they need no interest.
            assert interest is None
            assert set(row["tokens"]) <= {lifetime["key"] for lifetime in declared}
            continue
        assert interest is not None
        assert interest["ended_by"] == "final"
        answers = {
            lifetime["key"]
            for lifetime in declared
            if lifetime["interest_id"] == interest["interest_id"]
            and lifetime["session"] == interest["session"]
            and interest["opened_ns"] <= lifetime["declared_ns"] <= interest["final_ns"]
        }
        own = own_keys(sidecar, row)
        assert answers - own == set(row["tokens"]) - own
        assert all(includes(row["key"], key) for key in answers)


def test_tokens_of_a_killed_client_end_with_its_session(tables: Tables) -> None:
    """Its own declarations end with its session; the router undeclares them to subscribers."""
    sidecar = sidecar_of("liveliness")
    (killed,) = (row["t"] for row in sidecar.of("killed"))
    victim = sidecar.zids["victim"]
    own = [
        row
        for row in tables.of("liveliness", "declarations")
        if row["entity"] == "token" and row["sender_zid"] == victim
    ]
    assert own
    for lifetime in own:
        assert lifetime["ended_by"] == "session"
        assert is_near(killed, lifetime["undeclared_ns"])
        passed_on = [
            row
            for row in tokens_declared_to(tables, "liveliness", "watch")
            if row["key"] == lifetime["key"] and row["ended_by"] == "undeclare"
        ]
        assert any(is_near(killed, row["undeclared_ns"]) for row in passed_on)
