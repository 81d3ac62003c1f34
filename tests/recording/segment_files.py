"""Segments with given packets, as a recorder would write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zenlake.capture.segment_format import WIRE, packet_block, statistics_block
from zenlake.recording.segment_file import head_blocks
from zenlake.recording.state_tracker import StatePacket

RECORDING = "0" * 32


def write_segment(
    path: Path, state: list[StatePacket], packets: Sequence[StatePacket], before: int = 0
) -> None:
    """A segment that begins after `before` packets of its recording."""
    parts = [head_blocks(RECORDING, 1, before, state, 0)]
    last_ns = 0
    for number, one in enumerate(packets, before + 1):
        parts.append(packet_block(WIRE, one.time_ns, one.data, one.flags, number))
        last_ns = one.time_ns
    path.write_bytes(b"".join([*parts, statistics_block(last_ns, 0)]))
