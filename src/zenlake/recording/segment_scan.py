"""The valid blocks of a segment file; damaged parts are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final, NamedTuple

from zenlake.capture.pcapng import INTERFACE, PACKET, SECTION
from zenlake.capture.segment_format import STATE, STATISTICS, WIRE, trailer_of
from zenlake.recording.state_tracker import StateTracker

_HEAD: Final = Struct("<II")
_PACKET: Final = Struct("<IIIII")
_TYPES: Final = frozenset((SECTION, INTERFACE, PACKET, STATISTICS))
_BLOCK_BYTES_MIN: Final = 44
_PACKET_BYTES: Final = 28


class Block(NamedTuple):
    """One valid block: its place in the file, its type, flags and number."""

    start: int
    stop: int
    type: int
    flags: int
    number: int


@dataclass(slots=True)
class SegmentScan:
    """The content of a segment: where its last valid block ends, and the state there."""

    packets: int
    """The number of the last packet, over all segments."""
    tracker: StateTracker
    end: int = 0
    """The end of the last valid block."""
    dropped: int = 0
    """How many packets the recorder had dropped when it wrote the last block."""
    last_ns: int = 0


def blocks(data: bytes) -> Iterator[Block]:
    """The valid blocks of a segment; damaged bytes between them are skipped."""
    start, size = 0, len(data)
    while start + _BLOCK_BYTES_MIN <= size:
        block = _block_at(data, start)
        if block is None:
            start = _next_start(data, start + 4)
            if start < 0:
                return
            continue
        yield block
        start = block.stop


def _block_at(data: bytes, start: int) -> Block | None:
    type, length = _HEAD.unpack_from(data, start)
    if type not in _TYPES or length < _BLOCK_BYTES_MIN or start + length > len(data):
        return None
    trailer = trailer_of(data, start, start + length)
    if trailer is None:
        return None
    return Block(start, start + length, type, trailer[0], trailer[1])


def _next_start(data: bytes, start: int) -> int:
    """Where the next block may begin after damage; -1 if nowhere. Blocks are 4-byte aligned."""
    for at in range(start, len(data) - _BLOCK_BYTES_MIN + 1, 4):
        type, length = _HEAD.unpack_from(data, at)
        is_possible = type in _TYPES and _BLOCK_BYTES_MIN <= length <= len(data) - at
        if is_possible and data[at + length - 4 : at + length] == data[at + 4 : at + 8]:
            return at
    return -1


def scan_segment(path: str) -> SegmentScan | None:
    """The content of a segment file; None if it does not begin with a valid section header."""
    with open(path, "rb") as file:
        data = file.read()
    scan: SegmentScan | None = None
    for block in blocks(data):
        if scan is None:
            if block.type != SECTION or block.start:
                return None
            scan = SegmentScan(block.number, StateTracker())
        elif block.type == STATISTICS:
            scan.dropped = block.number
        elif block.type == PACKET:
            _scan_packet(data, block, scan)
        scan.end = block.stop
    return scan


def _scan_packet(data: bytes, block: Block, scan: SegmentScan) -> None:
    interface, high, low, size, _ = _PACKET.unpack_from(data, block.start + 8)
    time_ns = high << 32 | low
    if interface == WIRE:
        scan.packets = max(scan.packets, block.number)
    elif interface != STATE:
        return
    scan.last_ns = max(scan.last_ns, time_ns)
    begin = block.start + _PACKET_BYTES
    scan.tracker.feed_packet(time_ns, data[begin : begin + size], block.flags)
