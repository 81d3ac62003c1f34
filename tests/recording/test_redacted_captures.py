"""Redaction of real traffic: the batches of all bundled captures."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.paths import CAPTURES
from tests.recording.recorded_captures import recorded
from zenlake import trace
from zenlake.capture.packet import Packet
from zenlake.capture.segment_format import LINK_TYPE_RAW_IP
from zenlake.errors import WireError
from zenlake.recording.redaction import Redactor
from zenlake.recording.redaction_rules import EXCLUDED, RedactionRules
from zenlake.recording.state_tracker import StatePacket
from zenlake.rules import Checker
from zenlake.trace.events import MessageSeen
from zenlake.trace.link import LinkBatch
from zenlake.trace.links.units import LOW_LATENCY
from zenlake.trace.session import Session
from zenlake.trace.trace import from_packets
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    Fragment,
    Frame,
    Message,
    NetworkMessage,
    Oam,
    Push,
    Put,
    decode_batch,
    decode_low_latency,
)
from zenlake.wire.compression import decompress_batch

PATHS = sorted(
    path for path in CAPTURES.iterdir() if path.name.endswith((".pcap", ".pcapng", ".gz"))
)
PATHS = [path for path in PATHS if ".json" not in path.name]


class Unit(NamedTuple):
    link: str
    direction: int
    data: bytes
    form: int


@cache
def units_of(path: Path) -> tuple[tuple[Unit, ...], tuple[str, ...]]:
    """The batches of links that the capture has from their start, and the keys in it."""
    units: list[Unit] = []
    sessions: dict[str, Session] = {}
    keys: dict[str, None] = {}
    lossy: set[str] = set()
    with trace.open(str(path)) as capture:
        for item, events in capture.steps():
            for event in events:
                if isinstance(event, MessageSeen) and event.key and "*" not in event.key:
                    keys[event.key] = None
            if not isinstance(item, LinkBatch) or item.link.protocol == "scouting":
                continue
            link = item.link
            if link.session is None or item.state != "ok" or not link.session.seen_start:
                lossy.add(link.name)
                continue
            sessions[link.name] = link.session
            units.append(Unit(link.name, item.direction, item.data, item.form))
    # A node of zenlake has one link with each other node; prefixes are those of a session.
    lossy |= {name for name, session in sessions.items() if len(session.links) > 1}
    return tuple(unit for unit in units if unit.link not in lossy), tuple(keys)


def redacted(path: Path, rules: RedactionRules) -> tuple[Redactor, list[tuple[Unit, bytes]]]:
    redactor = Redactor(rules)
    links = {unit.link: redactor.link() for unit in units_of(path)[0]}
    found = []
    for unit in units_of(path)[0]:
        changed = links[unit.link].batch(unit.direction, unit.data, 0)
        if changed is not None:
            found.append((unit, changed[0]))
    return redactor, found


def messages_of(unit: Unit, data: bytes) -> list[Message]:
    if unit.form == LOW_LATENCY:
        return list(decode_low_latency(data).messages)
    messages = decode_batch(data).messages
    if not messages or not isinstance(messages[0], (Frame, Fragment)):
        try:
            inner = decode_batch(decompress_batch(data))
        except WireError:
            return list(messages)
        if inner.error is None and any(
            isinstance(one, (Frame, Fragment)) for one in inner.messages
        ):
            messages = inner.messages
    return list(messages)


def is_credential(data: bytes) -> bool:
    return bool(data) and data[0] & 0x1F in (1, 2)


def without_prefixes(messages: list[Message]) -> tuple[list[Message], int]:
    """The messages without declarations of prefixes, which may come later, and their number."""
    count = 0
    for message in messages:
        if isinstance(message, Frame):
            kept = [one for one in message.messages if not _is_prefix(one)]
            count += len(message.messages) - len(kept)
            message.messages = kept
    return messages, count


def _is_prefix(message: NetworkMessage) -> bool:
    return isinstance(message, Declare) and isinstance(message.body, DeclareKeyExpr)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_rules_about_other_keys_change_nothing(path: Path) -> None:
    redactor, found = redacted(path, RedactionRules(["nothing/has/this/key"]))
    assert len(found) == len(units_of(path)[0])
    missing_prefixes = 0
    for unit, data in found:
        if not is_credential(data):
            before, prefixes_before = without_prefixes(messages_of(unit, unit.data))
            after, prefixes_after = without_prefixes(messages_of(unit, data))
            assert after == before
            missing_prefixes += prefixes_before - prefixes_after
    assert redactor.counts.removed == missing_prefixes
    assert redactor.counts.emptied == redactor.counts.undecodable == 0
    if not any("@" in key for key in units_of(path)[1]):
        assert missing_prefixes == 0


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_all_keys_can_be_excluded(path: Path) -> None:
    _, found = redacted(path, RedactionRules(["**", "@/**"]))
    for unit, data in found:
        for message in messages_of(unit, data):
            inner = message.messages if isinstance(message, Frame) else [message]
            for one in inner:
                assert not isinstance(one, Push)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_excluded_key_is_in_no_batch(path: Path) -> None:
    keys = [key for key in units_of(path)[1] if len(key) > 6 and "@" not in key]
    for key in keys[:3]:
        rules = RedactionRules([key])
        _, found = redacted(path, rules)
        longer = [one for one in units_of(path)[1] if key in one and rules.verdict(one) < EXCLUDED]
        if longer:
            continue  # a kept key contains it
        for unit, data in found:
            for message in messages_of(unit, data):
                inner = message.messages if isinstance(message, Frame) else [message]
                for one in inner:
                    if isinstance(one, Oam) or not isinstance(one, NetworkMessage):
                        continue
                    assert key.encode() not in _without_payload(one), (key, one)


def rules_for(path: Path) -> list[RedactionRules]:
    """Rules about keys of the capture, their beginnings and their ends."""
    keys = [key for key in units_of(path)[1] if "@" not in key]
    firsts = sorted({key.split("/")[0] for key in keys})
    lasts = sorted({key.split("/")[-1] for key in keys})
    excluded = [
        *keys[:4],
        *(f"{one}/**" for one in firsts[:2]),
        *(f"**/{one}" for one in lasts[:3]),
    ]
    return [RedactionRules([one]) for one in [*excluded, "**"]] + [RedactionRules((), ["**"])]


def findings(packets: tuple[StatePacket, ...]) -> Counter[str]:
    """The findings of `check` in a redacted recording, by rule."""
    reader = from_packets((len(packets), packets[-1].time_ns if packets else 0))
    checker = Checker(is_redacted=lambda: True)
    for number, one in enumerate(packets, 1):
        packet = Packet(number, one.time_ns, LINK_TYPE_RAW_IP, one.data, len(one.data))
        for item, events in reader.feed(packet):
            checker.feed(item, events)
    for item, events in reader.finish():
        checker.feed(item, events)
    checker.finish()
    return Counter(checker.counts)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_no_node_is_blamed_for_what_was_removed(path: Path) -> None:
    as_sent = findings(recorded(path))
    for rules in rules_for(path):
        more = findings(recorded(path, "", rules)) - as_sent
        assert not more, (rules.exclude, rules.drop_payload)


def _without_payload(message: NetworkMessage) -> bytes:
    """A kept message may have the text of the key in its payload."""
    if isinstance(message, Push) and isinstance(message.body, Put):
        message = message.copy()
        assert isinstance(message.body, Put)
        message.body = Put(b"")
    return bytes(message)
