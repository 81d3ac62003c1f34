"""Recordings of bundled captures, for tests: batches of links, as a recorder writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from struct import pack
from typing import NamedTuple

from zenlake import trace
from zenlake.capture import segment_format as fmt
from zenlake.recording.segment_file import head_blocks
from zenlake.recording.state_tracker import StateTracker
from zenlake.trace.link import Link, LinkBatch
from zenlake.wire import Frame, Push

CAPTURES = Path(__file__).parents[3] / "data" / "captures"
RECORDING_ID = "00112233445566778899aabbccddeeff"
SYN, ACK, PSH = 0x02, 0x10, 0x08


class Recorded(NamedTuple):
    """One packet of a recording."""

    time_ns: int
    data: bytes
    flags: int


class _Wire:
    """Packets of TCP links."""

    def __init__(self) -> None:
        self._next: dict[Link, list[int]] = {}

    def packets(self, batch: LinkBatch) -> Iterator[Recorded]:
        link, time_ns = batch.link, batch.time_ns
        if link not in self._next:
            seqs = self._next[link] = [1000 + 100_000 * len(self._next)] * 2
            yield Recorded(time_ns, _tcp(link, 0, SYN, seqs[0] - 1, 0), 0)
            yield Recorded(time_ns, _tcp(link, 1, SYN | ACK, seqs[1] - 1, seqs[0]), 0)
            yield Recorded(time_ns, _tcp(link, 0, ACK, seqs[0], seqs[1]), 0)
        seqs = self._next[link]
        unit = pack("<H", len(batch.data)) + batch.data
        flags = fmt.FIRST | (fmt.PLAIN if is_plain(batch) else 0)
        for start in range(0, len(unit), 65_495):
            part = unit[start : start + 65_495]
            direction = batch.direction
            seq, ack = seqs[direction], seqs[1 - direction]
            yield Recorded(time_ns, _tcp(link, direction, PSH | ACK, seq, ack, part), flags)
            seqs[direction] += len(part)
            flags &= ~fmt.FIRST


def is_plain(batch: LinkBatch) -> bool:
    if len(batch.messages) != 1 or not isinstance(batch.messages[0], Frame):
        return False
    return all(isinstance(message, Push) for message in batch.messages[0].messages)


def _tcp(link: Link, direction: int, flags: int, seq: int, ack: int, data: bytes = b"") -> bytes:
    ends = [_address(end) for end in (link.sender(direction), link.receiver(direction))]
    source, target = ends
    tcp = pack(">HHIIBBHHH", source[1], target[1], seq, ack, 0x50, flags, 65_535, 0, 0)
    ip = pack(">BBHHHBBH", 0x45, 0, 40 + len(data), 0, 0x4000, 64, 6, 0)
    return ip + source[0] + target[0] + tcp + data


def _address(text: str) -> tuple[bytes, int]:
    host, port = text.rsplit(":", 1)
    return bytes(map(int, host.split("."))), int(port)


def recorded_packets(*names: str) -> list[Recorded]:
    """The TCP links of captures, one capture after the other."""
    found: list[Recorded] = []
    for name in names:
        wire = _Wire()
        with trace.open(str(CAPTURES / name)) as opened:
            for batch in opened.batches():
                if batch.link.protocol == "tcp":
                    found += wire.packets(batch)
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
