from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.headers import A6, B6, A, B, ipv4, ipv6, ipv6_fragment, packet, tcp, udp
from zenlake.capture.transport import Segment, TransportReader, UdpDatagram
from zenlake.limits import ENDS_MAX

RAW = 101


def read_tcp(data: bytes, snap: int | None = None) -> Segment:
    found = TransportReader().read(packet(data, RAW, 3, 5, snap))
    assert isinstance(found, Segment)
    return found


def read_udp(data: bytes, snap: int | None = None) -> UdpDatagram:
    found = TransportReader().read(packet(data, RAW, 3, 5, snap))
    assert isinstance(found, UdpDatagram)
    return found


def test_a_segment_has_what_its_headers_say() -> None:
    found = read_tcp(ipv4(tcp(b"data", 0xFFFFFFFE, 77, 0x18, options=bytes(12)), 6))
    assert (found.number, found.time_ns) == (3, 5)
    assert (found.ends.source, found.ends.destination) == (f"{A}:40000", f"{B}:7447")
    assert (found.seq, found.ack, found.flags) == (0xFFFFFFFE, 77, 0x18)
    assert (found.payload, found.missing) == (b"data", 0)


def test_ipv6_addresses_are_in_brackets() -> None:
    found = read_tcp(ipv6(tcp(b"data"), 6))
    assert found.ends.text == f"[{A6}]:40000-[{B6}]:7447"


def test_a_datagram_has_what_its_headers_say() -> None:
    found = read_udp(ipv4(udp(b"data", (5, 6))))
    assert (found.number, found.time_ns) == (3, 5)
    assert (found.ends.source, found.ends.destination) == (f"{A}:5", f"{B}:6")
    assert (found.payload, found.missing) == (b"data", 0)
    assert read_udp(ipv4(udp(b""))).payload == b""


@pytest.mark.parametrize(
    ("data", "destination"),
    [
        (ipv4(udp(b"scout", (7446, 7446)), destination="224.0.0.224"), "224.0.0.224:7446"),
        (ipv6(udp(b"scout", (7446, 7446)), destination="ff02::224"), "[ff02::224]:7446"),
    ],
)
def test_multicast_is_like_unicast(data: bytes, destination: str) -> None:
    found = read_udp(data)
    assert (found.ends.destination, found.payload) == (destination, b"scout")


def test_a_snap_length_leaves_missing_bytes() -> None:
    data = bytes(range(100))
    segment = ipv4(tcp(data, options=bytes(12)), 6)
    for snap in range(40, len(segment)):
        found = read_tcp(segment, snap)
        kept = max(snap - 52, 0)
        assert (found.payload, found.missing) == (data[:kept], 100 - kept)
    datagram = ipv6(udp(data))
    for snap in range(48, len(datagram)):
        kept = snap - 48
        found_udp = read_udp(datagram, snap)
        assert (found_udp.payload, found_udp.missing) == (data[:kept], 100 - kept)


def test_headers_cut_by_a_snap_length_are_counted() -> None:
    for data, least, reason in (
        (ipv4(tcp(b"data"), 6), 40, "TCP header cut"),
        (ipv4(udp(b"data")), 28, "UDP header cut"),
    ):
        for snap in range(20, least):
            reader = TransportReader()
            assert reader.read(packet(data, RAW, snap=snap)) is None
            assert reader.skipped.counts == {reason: 1}


def test_udp_lengths() -> None:
    assert read_udp(ipv4(udp(b"data and padding", length=12))).payload == b"data"
    assert read_udp(ipv6(udp(bytes(70_000), length=0), length=0)).payload == bytes(70_000)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (ipv4(tcp(b"")[:12] + b"\x40" + tcp(b"")[13:], 6), "TCP header malformed"),
        (ipv4(tcp(b"")[:12] + b"\x60" + tcp(b"")[13:], 6), "TCP header malformed"),
        (ipv4(tcp(b"")[:19], 6), "TCP header cut"),
        (ipv4(udp(b"data", length=7)), "UDP header malformed"),
        (ipv4(udp(b"data", length=13)), "UDP header malformed"),
        (ipv4(b"echo", 1), "IP protocol 1"),
        (ipv6(b"", 59), "IP protocol 59"),
    ],
)
def test_reason_for_a_skipped_packet_is_named(data: bytes, reason: str) -> None:
    reader = TransportReader()
    assert reader.read(packet(data, RAW)) is None
    assert reader.skipped.counts == {reason: 1}


def test_a_datagram_in_fragments_has_the_number_of_its_last_packet() -> None:
    data = udp(b"x" * 100)
    reader = TransportReader()
    assert reader.read(packet(ipv6_fragment(data[56:], offset=56), RAW, 1, 10)) is None
    found = reader.read(packet(ipv6_fragment(data[:56], more=True), RAW, 2, 20))
    assert isinstance(found, UdpDatagram)
    assert (found.number, found.time_ns, found.payload) == (2, 20, b"x" * 100)


def test_texts_of_addresses_are_bounded() -> None:
    head = ipv4(udp(b""))[:12]
    ends_max = 2_000
    assert ends_max < ENDS_MAX
    reader = TransportReader(ends_max=ends_max)
    tracemalloc.start()
    try:
        for i in range(ends_max):
            reader.read(packet(head + i.to_bytes(8, "big") + udp(b""), RAW))
        before, _ = tracemalloc.get_traced_memory()
        for i in range(ends_max, 4 * ends_max + 10):
            reader.read(packet(head + i.to_bytes(8, "big") + udp(b""), RAW))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert before > 200 * ends_max
    assert peak < before * 1.2
    found = reader.read(packet(ipv4(udp(b"")), RAW))
    assert isinstance(found, UdpDatagram)
    assert found.ends.source == f"{A}:40000"


@given(st.sampled_from([6, 17]), st.booleans(), st.binary(max_size=80), st.integers(0, 120))
def test_random_bytes_in_ip_are_a_value_or_counted(
    protocol: int, is_ipv6: bool, data: bytes, snap: int
) -> None:
    reader = TransportReader()
    whole = ipv6(data, protocol) if is_ipv6 else ipv4(data, protocol)
    found = reader.read(packet(whole, RAW, snap=snap))
    assert found is not None or sum(reader.skipped.counts.values()) == 1
    if found is not None:
        assert len(found.payload) + found.missing <= len(data)
