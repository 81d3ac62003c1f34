"""Bundled captures as rotated ones, for tests."""

from __future__ import annotations

from pathlib import Path

from tests.paths import CAPTURES
from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.testing.envelopes import Envelope, PcapEnvelope, PcapngEnvelope


def read_packets(name: str) -> list[Packet]:
    return list(packets([str(CAPTURES / name)], Skipped()))


def file_bytes(found: list[Packet], kind: str) -> bytes:
    """A capture file with these packets."""
    envelope: Envelope = (PcapEnvelope if kind == "pcap" else PcapngEnvelope)(found)
    parts = [envelope.head]
    times = envelope.times([packet.time_ns for packet in found])
    for packet, time in zip(found, times, strict=True):
        before, between, after = envelope.around(packet)
        parts += [before, time, between, packet.data, after]
    return b"".join(parts)


def write_rotated(folder: Path, found: list[Packet], size: int, kind: str) -> None:
    for start in range(0, len(found), size):
        path = folder / f"robot_{start:06}.{kind}"
        path.write_bytes(file_bytes(found[start : start + size], kind))
