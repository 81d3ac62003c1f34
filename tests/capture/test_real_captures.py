"""The bundled captures of real traffic, from the file to TCP streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.reference_streams import Stream, as_hex, reference_streams
from tests.paths import CAPTURES
from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.stream_events import StreamBytes, StreamEvent, StreamGap
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader

PATHS = {path.name.partition(".")[0]: path for path in sorted(CAPTURES.glob("*.pcap*"))}

BEYOND_THE_REFERENCE = {
    "cooked_v1": "its link layer is no Ethernet",
    "cooked_v2": "its link layer is no Ethernet",
    "impaired": "packets are missing",
    "ipv6_router": "it is IPv6 alone",
    "pico_peers": "it has no TCP",
    "snaplen": "packets are cut",
}
COMPARED = [name for name in PATHS if name not in BEYOND_THE_REFERENCE]


def stream_events(path: Path) -> list[StreamEvent]:
    skipped = Skipped()
    reader, streams = TransportReader(skipped), TcpStreams(skipped)
    events: list[StreamEvent] = []
    for packet in packets([str(path)], skipped):
        found = reader.read(packet)
        if isinstance(found, Segment):
            events += streams.feed(found)
    events += streams.finish()
    reader.finish()
    return events


@pytest.mark.parametrize("name", COMPARED)
def test_every_byte_of_every_direction_is_there(name: str) -> None:
    ours: dict[Stream, list[bytes]] = {}
    for event in stream_events(PATHS[name]):
        assert not isinstance(event, StreamGap)
        if isinstance(event, StreamBytes):
            ends = [as_hex(event.flow.source), as_hex(event.flow.destination)]
            source, destination = ends[event.direction], ends[1 - event.direction]
            ours.setdefault((source, destination, event.flow.number), []).append(event.data)
    assert ours
    assert {key: b"".join(parts) for key, parts in ours.items()} == reference_streams(PATHS[name])


@pytest.mark.parametrize("name", ["cooked_v1", "cooked_v2", "ipv6_router"])
def test_captures_the_reference_cannot_read_have_no_gap(name: str) -> None:
    events = stream_events(PATHS[name])
    assert any(isinstance(event, StreamBytes) for event in events)
    assert not any(isinstance(event, StreamGap) for event in events)


@pytest.mark.parametrize("name", ["impaired", "snaplen"])
def test_gaps_are_reported(name: str) -> None:
    assert any(isinstance(event, StreamGap) for event in stream_events(PATHS[name]))


def test_captures_are_bundled() -> None:
    assert len(COMPARED) == 25
    assert set(BEYOND_THE_REFERENCE) < set(PATHS)
