"""Liveliness: each notification of a subscriber or get has its message in the capture."""

from __future__ import annotations

import pytest

from tests.trace.sidecar import (
    CLOCK_SECONDS,
    PATHS,
    Row,
    Sidecar,
    is_captured,
    reading_of,
    seconds,
    sidecar_of,
)
from zenlake.keyexpr import includes
from zenlake.trace.timelines.interests import InterestLifetime

KINDS = {"put": "DECLARE/D_TOKEN", "delete": "DECLARE/U_TOKEN"}
WATCHING = [name for name in PATHS if sidecar_of(name).liveliness_received]
ASKING = [name for name in PATHS if sidecar_of(name).of("liveliness_get")]


def is_own(sidecar: Sidecar, row: Row, key: str) -> bool:
    """Whether a node watches its own token, which needs no message."""
    return any(
        token["node"] == row["node"] and token["key"] == key
        for token in sidecar.of("declare_token")
    )


def test_captures_have_liveliness() -> None:
    assert len(WATCHING) == 8
    assert len(ASKING) == 8


@pytest.mark.parametrize("name", WATCHING)
def test_each_token_event_has_a_message(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    checked = 0
    for row in sidecar.liveliness_received:
        if not is_captured(row, sidecar.capture) or is_own(sidecar, row, row["key"]):
            continue
        zid = sidecar.zids[row["node"]]
        is_found = any(
            event.receiver_zid == zid
            and event.key == row["key"]
            and row["t"] - CLOCK_SECONDS < seconds(event) < row["t"] + CLOCK_SECONDS
            for event in reading.of(KINDS[row["kind"]])
        )
        assert is_found or is_lost_with_the_session(sidecar, row), row
        checked += is_found
    assert checked


def is_lost_with_the_session(sidecar: Sidecar, row: Row) -> bool:
    """Whether the event has no message: a node that loses its router reports all tokens as gone."""
    return row["kind"] == "delete" and any(
        other["op"] in ("killed", "close")
        and sidecar.roles[sidecar.zids[other["node"]]] == "router"
        and abs(other["t"] - row["t"]) < 10 * CLOCK_SECONDS
        for other in sidecar.events
    )


@pytest.mark.parametrize("name", WATCHING)
def test_each_liveliness_subscriber_sent_an_interest(name: str) -> None:
    sidecar = sidecar_of(name)
    rows = sidecar.of("declare_liveliness_subscriber")
    assert rows
    for row in rows:
        wanted = "current_future" if row.get("history") else "future"
        assert interest_for(sidecar, name, row, wanted) is not None, row


@pytest.mark.parametrize("name", ASKING)
def test_each_get_was_answered_with_its_tokens(name: str) -> None:
    sidecar = sidecar_of(name)
    for row in sidecar.of("liveliness_get"):
        interest = interest_for(sidecar, name, row, "current")
        if sidecar.roles[sidecar.zids[row["node"]]] == "peer":
            # Peers declare all their tokens to each other, without an interest.
            assert interest is None
            assert set(row["tokens"]) <= tokens_announced_to(sidecar, name, row)
            continue
        assert interest is not None
        assert interest.ended_by == "final"
        answers = {event.key for event in interest.declared if event.kind == KINDS["put"]}
        own = own_keys(sidecar, row)
        assert answers - own == set(row["tokens"]) - own
        assert all(key is not None and includes(row["key"], key) for key in answers)


def own_keys(sidecar: Sidecar, row: Row) -> set[str | None]:
    return {one["key"] for one in sidecar.of("declare_token") if one["node"] == row["node"]}


def tokens_announced_to(sidecar: Sidecar, name: str, row: Row) -> set[str | None]:
    zid = sidecar.zids[row["node"]]
    return {event.key for event in reading_of(name).of(KINDS["put"]) if event.receiver_zid == zid}


def interest_for(sidecar: Sidecar, name: str, row: Row, mode: str) -> InterestLifetime | None:
    """The INTEREST in tokens that a call caused."""
    zid = sidecar.zids[row["node"]]
    started = row["started"] if "started" in row else row["t"]
    for life in reading_of(name).interests():
        if (
            life.opened is not None
            and life.sender_zid == zid
            and life.key == row["key"]
            and (str(life.mode), life.options) == (mode, "KTR")
            and started - CLOCK_SECONDS < seconds(life.opened) < row["t"] + CLOCK_SECONDS
        ):
            return life
    return None
