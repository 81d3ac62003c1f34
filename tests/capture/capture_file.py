"""Captures as lists of packets: read from a file, written to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcapng_writer import PcapngWriter


def load(path: Path | str) -> list[Packet]:
    return list(packets([str(path)], Skipped()))


def write_capture(path: Path, found: Iterable[Packet]) -> Path:
    with path.open("wb") as file:
        writer = PcapngWriter(file)
        for packet in found:
            writer.write(packet)
    return path
