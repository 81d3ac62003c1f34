"""Publications of other nodes and versions, whose sidecars record only requested attributes."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from tests.trace.publications import PUSHES
from tests.trace.queries import is_pico
from tests.trace.sidecar import (
    OWN,
    Reading,
    Row,
    Sidecar,
    digest,
    digest_in,
    field,
    is_captured,
    reading_of,
    sidecar_of,
)
from zenlake.trace import MessageSeen

MIDSTREAM = ["compressed_midstream", "lowlatency_midstream"]
EARLY_KEYS = ("mid/stream/temperature", "mid/own")
"""Keys whose aliases were declared before those captures began."""
REMAPPED = {"map/second": "map/first", "map/second/more": "map/first/more"}
"""In `alias_remapped`, the intended key and the key that the receiver used."""
OWN_ENCODING = "my/own;"


class Sent(NamedTuple):
    kind: str
    key: str | None
    payload: str | None
    encoding: str | None
    attachment: str | None
    has_timestamp: bool
    priority: int
    express: bool
    reliability: str


class Got(NamedTuple):
    kind: str
    key: str | None
    payload: str | None
    encoding: str | None
    attachment: str | None
    timestamp: str | None
    priority: int


def sent_in(event: MessageSeen) -> Sent:
    return Sent(
        event.kind,
        event.key,
        digest(field(event, "payload")),
        field(event, "encoding"),
        digest(field(event, "attachment")),
        field(event, "timestamp") is not None,
        field(event, "priority"),
        field(event, "express"),
        field(event, "reliability"),
    )


def sent_by(sidecar: Sidecar, row: Row) -> Sent:
    is_put = row["op"] == "put"
    is_big = is_put and row["payload"]["len"] > 2000
    # zenoh-pico sends fragments as best effort, whatever was requested.
    in_pico_fragments = is_big and is_pico(sidecar, row["node"])
    return Sent(
        "PUSH/PUT" if is_put else "PUSH/DEL",
        understood(sidecar, row["key"]),
        digest_in(row.get("payload")),
        encoding_by(sidecar, row) if is_put else None,
        digest_in(row.get("attachment")),
        row.get("stamp", False),
        sidecar.setting(row, "priority") or 5,
        sidecar.setting(row, "express") or False,
        "best_effort" if in_pico_fragments else sidecar.setting(row, "reliability") or "reliable",
    )


def encoding_by(sidecar: Sidecar, row: Row) -> str:
    """Old releases and zenoh-pico write an encoding that is not predefined as a schema."""
    given: str = sidecar.setting(row, "encoding") or "zenoh/bytes"
    version = next(one["version"] for one in sidecar.nodes if one["node"] == row["node"])
    is_old = version.startswith("1.0.") or is_pico(sidecar, row["node"])
    return f"zenoh/bytes;{given}" if given.startswith(OWN_ENCODING) and is_old else given


def understood(sidecar: Sidecar, key: str) -> str | None:
    if sidecar.capture["file"].startswith(tuple(MIDSTREAM)):
        return None if key in EARLY_KEYS else key
    return REMAPPED.get(key, key)


def pushes(name: str, reading: Reading, sidecar: Sidecar, node: str) -> list[MessageSeen]:
    """Publications of a node; without a handshake, all publications to the router."""
    found = [event for event in reading.messages if event.kind in PUSHES]
    if name in MIDSTREAM:
        router = f":{sidecar.capture['ports']['tcp'][0]}"
        return [event for event in found if event.receiver.endswith(router)]
    return [event for event in found if event.sender_zid == sidecar.zids[node]]


def test_captures_of_the_second_set_are_listed() -> None:
    assert len(OWN) == 14


@pytest.mark.parametrize("name", OWN)
def test_each_call_has_one_message_on_its_link(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    rows = sidecar.of("put", "delete")
    nodes = {row["node"] for row in rows}
    assert nodes
    if name in MIDSTREAM:
        wanted = Counter(sent_by(sidecar, row) for row in rows)
        assert sum(call.key is None for call in wanted.elements()) == 121
        assert Counter(map(sent_in, pushes(name, reading, sidecar, ""))) == wanted
        return
    for node in nodes:
        wanted = Counter(sent_by(sidecar, row) for row in rows if row["node"] == node)
        assert Counter(map(sent_in, pushes(name, reading, sidecar, node))) == wanted


@pytest.mark.parametrize("name", OWN)
def test_congestion_control_is_the_requested_one(name: str) -> None:
    sidecar, reading = sidecar_of(name), reading_of(name)
    for row in sidecar.of("put", "delete"):
        asked = sidecar.setting(row, "congestion_control")
        if asked is None:
            continue
        found = [
            event
            for event in pushes(name, reading, sidecar, row["node"])
            if sent_in(event) == sent_by(sidecar, row)
        ]
        assert any(field(event, "congestion") == asked for event in found)


def got_by(row: Row) -> Got:
    is_put = row["kind"] == "put"
    stamp: str | None = row.get("timestamp")
    if stamp is not None:
        # zenoh-pico writes a zero before an id whose first digit is small.
        time, _, zid = stamp.partition("/")
        stamp = f"{time}/{zid.lstrip('0')}"
    return Got(
        "PUSH/PUT" if is_put else "PUSH/DEL",
        row["key"],
        digest_in(row["payload"]) if is_put else None,
        row["encoding"].removeprefix("unknown(65535);") if is_put else None,
        digest_in(row.get("attachment")),
        stamp,
        row["priority"],
    )


def got_in(event: MessageSeen) -> Got:
    return Got(
        event.kind,
        event.key,
        digest(field(event, "payload")),
        field(event, "encoding"),
        digest(field(event, "attachment")),
        field(event, "timestamp"),
        field(event, "priority"),
    )


def arrived_at(name: str, sidecar: Sidecar, node: str) -> Counter[Got]:
    zid = sidecar.zids[node]
    found = reading_of(name).of(*PUSHES)
    if name in MIDSTREAM:
        router = f":{sidecar.capture['ports']['tcp'][0]}"
        return Counter(got_in(event) for event in found if event.sender.endswith(router))
    return Counter(
        got_in(event)
        for event in found
        if event.receiver_zid == zid
        or (event.link.protocol == "multicast" and event.sender_zid != zid)
    )


@pytest.mark.parametrize("name", OWN)
def test_each_sample_has_a_message_on_a_captured_link(name: str) -> None:
    """Captures without a handshake lack the declaration of the prefix that all keys share."""
    sidecar = sidecar_of(name)
    rows = [row for row in sidecar.received if is_captured(row, sidecar.capture)]
    own = {(row["node"], row["key"]) for row in sidecar.of("put", "delete")}
    checked = 0
    for node, subscriber in {(row["node"], row["subscriber"]) for row in rows}:
        samples = [
            got_by(row)._replace(key=None if name in MIDSTREAM else row["key"])
            for row in rows
            if (row["node"], row["subscriber"]) == (node, subscriber)
            and (row["node"], row["key"]) not in own
        ]
        assert not Counter(samples) - arrived_at(name, sidecar, node)
        checked += len(samples)
    assert checked
