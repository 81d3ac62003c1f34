"""Captures written as recordings, for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tests.capture.capture_file import load
from tests.recording.recorded_captures import recorded
from zenlake.capture import segment_format as fmt
from zenlake.capture.link_layer import IPV4, IPV6, network_layer
from zenlake.capture.packet import Packet
from zenlake.capture.recordings import GROWING_SUFFIX, MARKER_NAME, segment_name
from zenlake.recording.redaction_rules import RedactionRules
from zenlake.recording.segment_file import head_blocks
from zenlake.recording.state_tracker import StateTracker

RECORDING_ID = "00112233445566778899aabbccddeeff"


def raw_packets(path: Path) -> list[Packet]:
    """The IP packets of a capture, without their link layers, numbered from 1."""
    found: list[Packet] = []
    for packet in load(path):
        ethertype, offset = network_layer(packet.link_type, packet.data)
        if ethertype in (IPV4, IPV6):
            data = packet.data[offset:]
            number = len(found) + 1
            found.append(Packet(number, packet.time_ns, fmt.LINK_TYPE_RAW_IP, data, len(data)))
    return found


def segment_head(number: int, packets_before: int) -> bytes:
    return head_blocks(RECORDING_ID, number, packets_before, [], 0)


def state_block(packet: Packet) -> bytes:
    return fmt.packet_block(fmt.STATE, packet.time_ns, packet.data, 0, 0)


def wire_block(packet: Packet) -> bytes:
    return fmt.packet_block(fmt.WIRE, packet.time_ns, packet.data, fmt.FIRST, packet.number)


def segment_bytes(
    number: int, found: Sequence[Packet], state: Sequence[Packet] = (), is_sealed: bool = True
) -> bytes:
    before = found[0].number - 1 if found else 0
    blocks = [segment_head(number, before), *map(state_block, state), *map(wire_block, found)]
    if is_sealed:
        blocks.append(fmt.statistics_block(found[-1].time_ns if found else 0, 0))
    return b"".join(blocks)


def parts_of(found: Sequence[Packet], count: int) -> list[Sequence[Packet]]:
    """The packets divided into about equal parts."""
    bounds = [len(found) * index // count for index in range(count + 1)]
    return [found[start:stop] for start, stop in pairwise(bounds)]


def write_recording(
    folder: Path, parts: Sequence[Sequence[Packet]], first: int = 1, is_growing: bool = False
) -> Path:
    """Each part is a segment. The state of a segment are all packets before it.

    A recorder would write less. With `is_growing` the last segment is not sealed.
    """
    folder.mkdir()
    (folder / MARKER_NAME).write_text(json.dumps({"format": 1, "id": RECORDING_ID}))
    state: list[Packet] = []
    for index, part in enumerate(parts):
        is_sealed = not is_growing or index < len(parts) - 1
        name = segment_name(first + index) + ("" if is_sealed else GROWING_SUFFIX)
        (folder / name).write_bytes(segment_bytes(first + index, part, state, is_sealed))
        state.extend(part)
    return folder


def linked_packets(path: Path, rules: RedactionRules | None = None) -> list[Packet]:
    """The TCP links of a capture as a recorder at one of their ends would write them.

    `interface` has the flags of the blocks.
    """
    return [
        Packet(number, one.time_ns, fmt.LINK_TYPE_RAW_IP, one.data, len(one.data), one.flags)
        for number, one in enumerate(recorded(path, "tcp", rules), 1)
    ]


def write_tracked_recording(
    folder: Path, parts: Sequence[Sequence[Packet]], is_redacted: bool = False
) -> Path:
    """Writes a recording as `write_recording` does, with the state that a recorder writes."""
    folder.mkdir()
    (folder / MARKER_NAME).write_text(json.dumps({"format": 1, "id": RECORDING_ID}))
    tracker = StateTracker()
    for index, part in enumerate(parts):
        before = part[0].number - 1
        state = tracker.packets(), tracker.forgotten
        head = head_blocks(RECORDING_ID, index + 1, before, *state, is_redacted)
        end = fmt.statistics_block(part[-1].time_ns, 0)
        blocks = b"".join(map(wire_block, part))
        (folder / segment_name(index + 1)).write_bytes(head + blocks + end)
        for packet in part:
            tracker.feed_packet(packet.time_ns, packet.data, packet.interface)
    return folder
