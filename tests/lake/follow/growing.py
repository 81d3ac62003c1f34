"""Captures as recordings that grow in steps, with small segments."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tests.capture import recorded
from tests.capture.recorded import RECORDING_ID, segment_head, state_block, wire_block
from zenlake.capture import segment_format as fmt
from zenlake.capture.packet import Packet


def raw_packets(path: Path) -> list[Packet]:
    """The IP packets of a capture, without their link layers; times never decrease."""
    found = recorded.raw_packets(path)
    for before, packet in pairwise(found):
        packet.time_ns = max(packet.time_ns, before.time_ns)
    return found


class GrowingRecording:
    """A recording that a test continues packet by packet; a segment has `segment_packets`."""

    def __init__(self, folder: Path, found: Sequence[Packet], segment_packets: int = 50) -> None:
        self.folder = folder
        self.packets = found
        self.written = 0
        self._segment = 0
        self._segment_packets = segment_packets
        self._in_segment = segment_packets
        folder.mkdir()
        marker = {"format": 1, "id": RECORDING_ID}
        (folder / "recording.json").write_text(json.dumps(marker))

    @property
    def _part(self) -> Path:
        return self.folder / f"{self._segment:08d}.pcapng.part"

    @property
    def is_written(self) -> bool:
        return self.written == len(self.packets)

    def grow(self, count: int, torn_bytes: int = 0) -> None:
        """Appends packets; the next one may be there in part."""
        for packet in self.packets[self.written : self.written + count]:
            if self._in_segment == self._segment_packets:
                self._rotate()
            self._append(wire_block(packet))
            self._in_segment += 1
            self.written += 1
        if torn_bytes and not self.is_written and self._in_segment < self._segment_packets:
            self._torn(wire_block(self.packets[self.written])[:torn_bytes])

    def finish(self) -> None:
        self.grow(len(self.packets))
        self._seal()

    def _append(self, block: bytes) -> None:
        with self._part.open("r+b") as file:
            file.seek(self._length)
            file.write(block)
            file.truncate()
        self._length += len(block)

    def _torn(self, block: bytes) -> None:
        with self._part.open("r+b") as file:
            file.seek(self._length)
            file.write(block)

    def _rotate(self) -> None:
        if self._segment:
            self._seal()
        self._segment += 1
        self._in_segment = 0
        self._length = 0
        self._part.write_bytes(b"")
        self._append(segment_head(self._segment, self.written))
        # A recorder would write a shorter state with the same meaning.
        for packet in self.packets[: self.written]:
            self._append(state_block(packet))

    def _seal(self) -> None:
        if self._part.exists():
            self._append(fmt.statistics_block(self.packets[self.written - 1].time_ns, 0))
            self._part.rename(self._part.with_suffix(""))


def grow_slowly(recording: GrowingRecording, over: threading.Event) -> None:
    """Ten packets a second, so that the recording grows while a follower reads it."""
    while not over.wait(0.1):
        recording.grow(1)
