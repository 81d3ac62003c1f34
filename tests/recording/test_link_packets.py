"""The packets of a link are those of a TCP connection or of datagrams."""

from __future__ import annotations

import ipaddress

import pytest

from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.segment_format import LINK_TYPE_RAW_IP
from zenlake.capture.stream_events import StreamBytes, StreamClosed, StreamGap, StreamOpened
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader, UdpDatagram
from zenlake.recording.link_packets import LinkPackets, first_seq, packets_of
from zenlake.recording.packet_headers import (
    PAYLOAD_BYTES_MAX,
    End,
    as_one_family,
    end_of_locator,
    ends_of_pair,
    pair_of_ends,
    parse,
)

PAIRS = {
    "v4": ("tcp/10.0.0.1:40000", "tls/10.0.0.2:7447"),
    "v6": ("tcp/[fe80::1%eth0]:40000", "tcp/[2001:db8::2]:7447"),
    "mixed": ("tcp/10.0.0.1:40000", "tcp/[::1]:7447"),
}


def ends(name: str) -> tuple[End, End]:
    first, second = PAIRS[name]
    return as_one_family(end_of_locator(first), end_of_locator(second))


def read(packets: list[bytes]) -> list[object]:
    skipped = Skipped()
    reader = TransportReader(skipped)
    found: list[object] = [
        reader.read(Packet(number, number * 1_000, LINK_TYPE_RAW_IP, data, len(data)))
        for number, data in enumerate(packets, 1)
    ]
    assert not skipped
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_stream_is_a_whole_connection(name: str) -> None:
    link = LinkPackets(ends(name), True, [first_seq(1 << 60), 7])
    packets = link.opening() + link.data(0, b"one") + link.data(1, b"two" * 40_000)
    packets += link.data(0, b"three") + link.closing()
    streams = TcpStreams()
    events: list[object] = []
    for segment in read(packets):
        assert isinstance(segment, Segment)
        events += streams.feed(segment)
    events += streams.finish()
    sent = {0: b"", 1: b""}
    for event in events:
        assert not isinstance(event, StreamGap)
        if isinstance(event, StreamBytes):
            sent[event.direction] += event.data
    assert sent == {0: b"onethree", 1: b"two" * 40_000}
    assert [one.seen_syn for one in events if isinstance(one, StreamOpened)] == [True, True]
    assert [one.cause for one in events if isinstance(one, StreamClosed)] == ["fin", "fin"]


def test_lost_bytes_are_a_gap_of_their_size() -> None:
    link = LinkPackets(ends("v4"), True, [1, 1])
    packets = link.opening() + link.data(0, b"one")
    link.skip(0, 1_000)
    packets += link.data(0, b"two") + link.closing()
    streams = TcpStreams()
    events: list[object] = []
    for segment in read(packets):
        assert isinstance(segment, Segment)
        events += streams.feed(segment)
    events += streams.finish()
    assert [one.missing_bytes for one in events if isinstance(one, StreamGap)] == [1_000]


@pytest.mark.parametrize("size", [1, PAYLOAD_BYTES_MAX, PAYLOAD_BYTES_MAX + 1, 65_537])
def test_batch_needs_one_packet_or_two(size: int) -> None:
    link = LinkPackets(ends("v4"), True, [0xFFFF_FFF0, 1])
    packets = link.data(0, b"x" * size)
    assert len(packets) == packets_of(size) == (1 if size <= PAYLOAD_BYTES_MAX else 2)
    assert link.next_seq[0] == (0xFFFF_FFF0 + size) & 0xFFFF_FFFF
    assert all(len(one) <= 65_535 for one in packets)


@pytest.mark.parametrize("name", PAIRS)
def test_ip_checksum_is_right(name: str) -> None:
    link = LinkPackets(ends(name), True, [1, 1])
    datagrams = LinkPackets(ends(name), False, [0, 0])
    for packet in link.opening() + link.data(1, b"abc") + datagrams.data(0, b"abc"):
        if packet[0] >> 4 == 4:
            total = sum(int.from_bytes(packet[at : at + 2], "big") for at in range(0, 20, 2))
            assert (total & 0xFFFF) + (total >> 16) == 0xFFFF


@pytest.mark.parametrize("name", PAIRS)
def test_datagrams_carry_one_batch_each(name: str) -> None:
    link = LinkPackets(ends(name), False, [0, 0])
    assert link.opening() == link.closing() == link.reset() == link.earlier_uses(3) == []
    found = read(link.data(0, b"one") + link.data(1, b"two") + link.data(0, b"one"))
    payloads = [one.payload for one in found if isinstance(one, UdpDatagram)]
    assert payloads == [b"one", b"two", b"one"]


@pytest.mark.parametrize("name", PAIRS)
def test_headers_are_read_back(name: str) -> None:
    both = ends(name)
    link = LinkPackets(both, True, [5, 9])
    packet = link.data(1, b"payload")[0]
    headers = parse(packet)
    assert headers is not None
    assert headers.pair == pair_of_ends(both[1], both[0])
    assert ends_of_pair(headers.pair) == (both[1], both[0])
    assert (headers.seq, packet[headers.start :]) == (9, b"payload")


def test_end_without_an_address_gets_one_of_the_documentation_range() -> None:
    end = end_of_locator("memory/somewhere")
    assert ipaddress.ip_address(end.address) in ipaddress.ip_network("192.0.2.0/24")
    assert end == end_of_locator("memory/somewhere")
