"""The bundled captures of real traffic, all the way from the file to streams."""

from __future__ import annotations

from pathlib import Path

import dpkt
import pytest

from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.stream_events import StreamBytes, StreamEvent, StreamGap
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader

FOLDER = Path(__file__).parents[1] / "data" / "captures"
CAPTURES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".pcap", ".pcapng"))


def naive_streams(path: Path) -> dict[tuple[str, str, int], bytes]:
    """By source and destination port and turn: every byte at its place after the last SYN."""
    turns: dict[tuple[str, str], int] = {}
    starts: dict[tuple[str, str], int] = {}
    places: dict[tuple[str, str, int], dict[int, int]] = {}
    with path.open("rb") as file:
        for _, frame in dpkt.pcap.UniversalReader(file):
            tcp = getattr(dpkt.ethernet.Ethernet(frame).data, "data", None)
            if not isinstance(tcp, dpkt.tcp.TCP):
                continue
            ip = dpkt.ethernet.Ethernet(frame).data
            ends = f"{ip.src.hex()}:{tcp.sport}", f"{ip.dst.hex()}:{tcp.dport}"
            if tcp.flags & dpkt.tcp.TH_SYN and starts.get(ends) != tcp.seq + 1:
                starts[ends] = tcp.seq + 1
                turns[ends] = turns.get(ends, 0) + 1
            elif ends not in starts:
                starts[ends] = tcp.seq
                turns[ends] = 0
            stream = places.setdefault((*ends, turns[ends]), {})
            for i, byte in enumerate(tcp.data):
                stream.setdefault((tcp.seq - starts[ends] & 0xFFFFFFFF) + i, byte)
    return {
        key: bytes(stream[place] for place in sorted(stream))
        for key, stream in places.items()
        if stream
    }


def as_hex(end: str) -> str:
    address, _, port = end.rpartition(":")
    return f"{bytes(map(int, address.split('.'))).hex()}:{port}"


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_every_byte_of_every_direction_is_there(path: Path) -> None:
    skipped = Skipped()
    reader, streams = TransportReader(skipped), TcpStreams(skipped)
    events: list[StreamEvent] = []
    for packet in packets([str(path)], skipped):
        found = reader.read(packet)
        if isinstance(found, Segment):
            events += streams.feed(found)
    events += streams.end()
    reader.end()
    ours: dict[tuple[str, str, int], bytes] = {}
    for event in events:
        assert not isinstance(event, StreamGap)
        if isinstance(event, StreamBytes):
            ends = [as_hex(event.flow.source), as_hex(event.flow.destination)]
            source, destination = ends[event.direction], ends[1 - event.direction]
            key = source, destination, event.flow.number
            ours[key] = ours.get(key, b"") + event.data
    assert ours == naive_streams(path)
    assert ours


def test_captures_are_bundled() -> None:
    assert CAPTURES
