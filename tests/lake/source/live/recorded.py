"""Recordings of bundled captures, for tests: batches of links, as a recorder writes them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.paths import CAPTURES
from tests.recording.recorded_captures import recorded
from zenlake.capture import segment_format as fmt
from zenlake.recording.segment_file import head_blocks
from zenlake.recording.state_tracker import StateTracker

RECORDING_ID = "00112233445566778899aabbccddeeff"


class Recorded(NamedTuple):
    """One packet of a recording."""

    time_ns: int
    data: bytes
    flags: int


def recorded_packets(*names: str) -> list[Recorded]:
    """The TCP links of captures, one capture after the other."""
    found = [
        Recorded(one.time_ns, one.data, one.flags)
        for name in names
        for one in recorded(CAPTURES / name, "tcp")
    ]
    times = sorted(one.time_ns for one in found)
    return [one._replace(time_ns=time_ns) for one, time_ns in zip(found, times, strict=True)]


def wire_block(packet: Recorded, number: int) -> bytes:
    return fmt.packet_block(fmt.WIRE, packet.time_ns, packet.data, packet.flags, number)


class TestRecorder:
    """Writes a recording packet by packet."""

    __test__ = False

    def __init__(self, folder: Path, recording: str = RECORDING_ID) -> None:
        self.folder = folder
        self.number = 0
        self.segment = 0
        self._recording = recording
        self._tracker = StateTracker()
        self._last_ns = 0
        folder.mkdir(exist_ok=True)
        description = {"format": 1, "id": recording}
        (folder / "recording.json").write_text(json.dumps(description))
        self.rotate()

    @property
    def path(self) -> Path:
        return self.folder / f"{self.segment:08}.pcapng.part"

    def rotate(self) -> None:
        """Seals the segment and begins the next one."""
        if self.segment:
            self.seal()
        self.segment += 1
        state = self._tracker.packets()
        head = head_blocks(self._recording, self.segment, self.number, state, 0)
        self.path.write_bytes(head)

    def seal(self) -> None:
        with self.path.open("ab") as file:
            file.write(fmt.statistics_block(self._last_ns, 0))
        self.path.rename(self.folder / f"{self.segment:08}.pcapng")

    def write(self, packets: list[Recorded]) -> None:
        with self.path.open("ab") as file:
            for packet in packets:
                self.number += 1
                self._last_ns = packet.time_ns
                self._tracker.feed_packet(packet.time_ns, packet.data, packet.flags)
                file.write(wire_block(packet, self.number))


def parts_of(packets: list[Recorded], count: int) -> list[list[Recorded]]:
    """About equal parts. Between them no session is being opened."""
    tracker = StateTracker()
    quiet = [0]
    for place, packet in enumerate(packets, 1):
        tracker.feed_packet(packet.time_ns, packet.data, packet.flags)
        if all(link.is_open or link.is_over for link in tracker.links):
            quiet.append(place)
    wanted = [len(packets) * number // count for number in range(1, count)]
    bounds = [0, *(max(one for one in quiet if one <= place) for place in wanted), len(packets)]
    return [packets[start:stop] for start, stop in pairwise(bounds)]


def write_recording(folder: Path, packets: list[Recorded], segments: int) -> Path:
    """A recording whose last segment is not sealed."""
    recorder = TestRecorder(folder)
    size = -(-len(packets) // segments)
    for start in range(0, len(packets), size):
        if start:
            recorder.rotate()
        recorder.write(packets[start : start + size])
    return folder
