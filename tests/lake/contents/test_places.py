"""Columns that all tables have: packets, times, links, sessions, senders and receivers."""

from __future__ import annotations

import hashlib
import time
from collections import Counter

import pytest

from tests.lake.contents.tables import Row, Tables
from tests.trace.sidecar import PATHS, sidecar_of
from zenlake.lake.schema import TABLES

PLACED = [name for name, table in TABLES.items() if {"link", "packet", "time_ns"} <= {*table.names}]
SENT = ("samples", "declarations", "interests")
ASKED = ("queries", "replies")
BEFORE = {"compression": 1, "cooked_v1": 41, "cooked_v2": 20, "impaired": 12}
"""TCP bytes that were captured twice: on another interface, or retransmitted."""


@pytest.mark.parametrize("name", PATHS)
def test_captures_has_the_properties_of_each_file(tables: Tables, name: str) -> None:
    (row,) = tables.of(name, "captures")
    assert row["sha256"] == hashlib.sha256(PATHS[name].read_bytes()).hexdigest()
    assert row["last_ns"] < row["read_ns"] <= time.time_ns()
    if name in BEFORE:
        assert row["skipped"].startswith(f"TCP bytes seen before: {BEFORE[name]} x, ")
    elif name == "multicast":
        assert row["skipped"].startswith("IP protocol 2: 13 x, ")  # joining of groups
    else:
        assert row["skipped"] is None


@pytest.mark.parametrize("name", PATHS)
def test_packet_has_one_time_and_link_one_session_in_all_tables(tables: Tables, name: str) -> None:
    times = {row["packet"]: row["time_ns"] for row in tables.of(name, "messages")}
    sessions = {row["link"]: row["session"] for row in tables.of(name, "messages")}
    capture = sidecar_of(name).capture
    assert all(
        capture["first"] - 1e-3 < one / 1e9 < capture["last"] + 1e-3 for one in times.values()
    )
    for table in PLACED:
        for row in tables.of(name, table):
            assert times.get(row["packet"], row["time_ns"]) == row["time_ns"]
            assert sessions.get(row["link"]) == row["session"]
    for row in tables.of(name, "adjacencies"):
        assert times[row["packet"]] == row["from_ns"]
        assert sessions[row["link"]] == row["session"]


@pytest.mark.parametrize("name", PATHS)
def test_batches_go_from_one_end_of_their_link_to_the_other(tables: Tables, name: str) -> None:
    zids: dict[tuple[str, str], set[str | None]] = {}
    batches = {row["seq"]: row for row in tables.of(name, "batches")}
    for row in batches.values():
        ends = row["link"].partition("#")[0].split("-")
        assert row["sender"] in ends
        if row["protocol"] != "scouting":
            assert {row["sender"], row["receiver"]} == {*ends}
    for row in tables.of(name, "messages"):
        batch = batch_of(row, batches)
        zids.setdefault((row["link"], batch["sender"]), set()).add(row["sender_zid"])
    # All messages from one address are from one node.
    assert all(len(found - {None}) <= 1 for found in zids.values())


def batch_of(message: Row, batches: dict[int, Row]) -> Row:
    """The batch of a message: the nearest earlier batch on its link."""
    seq = message["seq"]
    while seq not in batches:
        seq -= 1
    assert batches[seq]["link"] == message["link"]
    assert batches[seq]["packet"] == message["packet"]
    return batches[seq]


@pytest.mark.parametrize("name", PATHS)
def test_rows_have_the_fields_of_their_messages(tables: Tables, name: str) -> None:
    """`queries` and `replies` have other names for the sender."""
    messages = {row["seq"]: row for row in tables.of(name, "messages")}
    for table in (*SENT, *ASKED):
        for row in tables.of(name, table):
            message = messages[row["seq"]]
            for column in ("link", "session", "packet", "time_ns"):
                assert row[column] == message[column]
            sides = ends_of(table, row)
            assert sides == (message["sender_zid"], message["receiver_zid"])
            for column in {"request_id", "interest_id", "entity_id"} & row.keys():
                assert row[column] == message[column]
            if row.get("ended_by") != "undeclare" or row["declared_ns"] is not None:
                assert row["key"] == message["key"] or has_key_only_at_the_end(table, row)


def ends_of(table: str, row: Row) -> tuple[str | None, str | None]:
    if table in SENT:
        return row["sender_zid"], row["receiver_zid"]
    ends = row["requester_zid"], row["responder_zid"]
    return ends if table == "queries" else ends[::-1]


def has_key_only_at_the_end(table: str, row: Row) -> bool:
    """Whether only the undeclaration of a declaration has a key."""
    return table == "declarations" and row["ended_by"] == "undeclare"


SN_BITS = {8: 7, 16: 14, 32: 28, 64: 63}
"""Usable bits of a sequence number, by its negotiated resolution."""

LEAPING = ("pico_1_0_4", "pico_clients")
"""zenoh-pico uses numbers of the reliable channel for fragments that it sends as best effort."""


@pytest.mark.parametrize("name", PATHS)
def test_sequence_numbers_are_consecutive(tables: Tables, name: str) -> None:
    """For each side, priority and reliability; nodes may skip a number after fragments."""
    batches = {row["seq"]: row for row in tables.of(name, "batches")}
    bits = {row["session"]: SN_BITS[row["sn_bits"] or 32] for row in tables.of(name, "sessions")}
    last: dict[tuple[str, str, int, str], Row] = {}
    leaps = 0
    for row in tables.of(name, "messages"):
        if row["kind"] not in ("FRAME", "FRAGMENT") or row["error"] is not None:
            continue
        sender = row["sender_zid"] or batch_of(row, batches)["sender"]
        side = (row["session"], sender, row["priority"], row["reliability"])
        before = last.get(side)
        if before is not None:
            step = (row["sn"] - before["sn"]) % (1 << bits[row["session"]])
            leaps += step != 1 and (step, before["kind"]) != (2, "FRAGMENT")
        last[side] = row
    are_missing = any(row["kind"] == "sn_gap" for row in tables.of(name, "losses"))
    assert bool(leaps) == (are_missing or name in LEAPING)


@pytest.mark.parametrize("name", PATHS)
def test_sizes_of_messages_add_up(tables: Tables, name: str) -> None:
    """The size of a FRAME is that of its messages plus its header."""
    messages = tables.of(name, "messages")
    assert all(row["size"] > 0 for row in messages)
    carried: Counter[int] = Counter()
    frame = None
    for row in messages:
        if row["sn"] is None or row["kind"] in ("FRAME", "FRAGMENT"):
            frame = row if row["kind"] == "FRAME" else None
        elif frame is not None and "fragments" not in (row["detail"] or ""):
            assert row["sn"] == frame["sn"]
            carried[frame["seq"]] += row["size"]
    for row in messages:
        if row["kind"] == "FRAME" and row["seq"] in carried:
            # The header has a number of one to four bytes, or up to ten bytes with an extension.
            assert 2 <= row["size"] - carried[row["seq"]] <= 10
