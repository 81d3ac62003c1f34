from __future__ import annotations

import random

import pytest

from tests.capture.headers import A6, B6, A, B, ipv4, ipv6, ipv6_fragment, packet
from zenlake.capture.byte_ranges import PIECE_COST
from zenlake.capture.ip import IpDatagram, IpReader, address_text
from zenlake.capture.link_layer import IPV4, IPV6
from zenlake.capture.packet import Skipped
from zenlake.limits import (
    IP_DATAGRAMS_MAX,
    IP_EXTENSION_HEADERS_MAX,
    IP_FRAGMENT_BYTES_MAX,
    IP_FRAGMENT_SECONDS_MAX,
)

SECOND = 1_000_000_000


class Ip:
    """A reader, its counts, and packets of raw IP."""

    def __init__(self) -> None:
        self.skipped = Skipped()
        self.reader = IpReader(self.skipped)
        self.number = 0

    def read(self, data: bytes, time_ns: int = 0, snap: int | None = None) -> IpDatagram | None:
        self.number += 1
        ethertype = IPV6 if data[0] >> 4 == 6 else IPV4
        one = packet(data, 101, self.number, time_ns, snap)
        return self.reader.read(one, ethertype, 0)


def whole(data: bytes, snap: int | None = None) -> tuple[str, str, int, bytes, int]:
    found = Ip().read(data, snap=snap)
    assert found is not None
    half = len(found.addresses) // 2
    source, destination = found.addresses[:half], found.addresses[half:]
    ends = address_text(source), address_text(destination)
    return *ends, found.protocol, found.payload, found.missing


def test_the_payload_is_what_the_header_claims() -> None:
    assert whole(ipv4(b"payload")) == (A, B, 17, b"payload", 0)
    assert whole(ipv4(b"payload", options=b"\x94\x04\x00\x00")) == (A, B, 17, b"payload", 0)
    assert whole(ipv4(b"", 6)) == (A, B, 6, b"", 0)
    assert whole(ipv6(b"payload")) == (A6, B6, 17, b"payload", 0)


def test_padding_of_the_link_layer_is_dropped() -> None:
    assert whole(ipv4(b"pay") + bytes(23)) == (A, B, 17, b"pay", 0)
    assert whole(ipv6(b"pay") + bytes(3)) == (A6, B6, 17, b"pay", 0)


def test_a_length_of_zero_means_to_the_end() -> None:
    assert whole(ipv4(bytes(70_000), length=0))[3:] == (bytes(70_000), 0)
    assert whole(ipv6(bytes(70_000), length=0))[3:] == (bytes(70_000), 0)
    assert whole(ipv4(bytes(70_000), length=0), snap=120)[3:] == (bytes(100), 69_900)


def test_a_snap_length_leaves_missing_bytes() -> None:
    data = bytes(range(200))
    for snap in range(20, 220):
        assert whole(ipv4(data), snap=snap)[3:] == (data[: snap - 20], 220 - snap)
    for snap in range(40, 240):
        assert whole(ipv6(data), snap=snap)[3:] == (data[: snap - 40], 240 - snap)


@pytest.mark.parametrize(
    "data",
    [
        b"\x44" + ipv4(b"x")[1:],
        b"\x55" + ipv4(b"x")[1:],
        ipv4(b"payload", length=19),
        ipv4(b"payload", options=bytes(8), length=24),
        ipv6(b"\x11\x00", 60, length=4),
        b"\x70" + ipv6(b"x")[1:],
    ],
)
def test_malformed_headers_are_counted(data: bytes) -> None:
    ip = Ip()
    assert ip.read(data) is None
    assert sum(ip.skipped.counts.values()) == 1


def extension(kind: int, following: int, size: int = 8) -> bytes:
    """One extension header; the unit of the length of an authentication header is four bytes."""
    length = size // 4 - 2 if kind == 51 else size // 8 - 1
    return bytes((following, length)) + bytes(size - 2)


def chain(kinds: list[int], payload: bytes, protocol: int = 17) -> bytes:
    following = [*kinds[1:], protocol]
    sizes = [24 if kind in (0, 51, 60) else 8 for kind in kinds]
    headers = map(extension, kinds, following, sizes)
    return ipv6(b"".join(headers) + payload, kinds[0])


@pytest.mark.parametrize(
    "kinds", [[0], [43], [51], [60], [135], [44], [0, 60, 43, 44, 51, 60], [60] * 8]
)
def test_ipv6_extension_headers_are_skipped(kinds: list[int]) -> None:
    assert whole(chain(kinds, b"payload")) == (A6, B6, 17, b"payload", 0)


def test_ipv6_extension_headers_are_bounded() -> None:
    ip = Ip()
    assert ip.read(chain([60] * (IP_EXTENSION_HEADERS_MAX + 1), b"payload")) is None
    assert ip.skipped.counts == {"too many IPv6 extension headers": 1}


def test_an_ipv6_extension_header_cut_anywhere_is_counted() -> None:
    data = chain([0, 51, 43], b"payload")
    for size in range(40, len(data) - len(b"payload")):
        ip = Ip()
        assert ip.read(data, snap=size) is None
        assert ip.skipped.counts == {"IP header cut": 1}


def test_no_next_header_is_a_protocol_like_others() -> None:
    assert whole(ipv6(b"", 59))[2] == 59


def fragment(version: int, data: bytes, offset: int, more: bool, number: int = 7) -> bytes:
    if version == 4:
        return ipv4(data, identification=number, offset=offset, more=more)
    return ipv6_fragment(data, identification=number, offset=offset, more=more)


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("seed", range(150))
def test_fragments_in_any_order_with_overlaps_and_copies(version: int, seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randrange(9, 4_000)
    total = bytes(rng.randrange(256) for _ in range(size))
    pieces = []
    place = 0
    while place < size:
        end = min(size, place + 8 * rng.randrange(1, 80))
        start = max(0, place - 8 * rng.choice([0, 0, 0, 1, 7]))
        data = bytearray(total[start:end])
        if start < place and rng.random() < 0.5:
            data[0] ^= 0xFF
        pieces.append((start, bytes(data), end < size))
        place = end
    pieces += rng.sample(pieces, rng.randrange(len(pieces)))
    if rng.random() < 0.8:
        rng.shuffle(pieces)

    ip = Ip()
    known: dict[int, int] = {}
    found, expected = [], []
    for start, piece, more in pieces:
        for i, byte in enumerate(piece):
            known.setdefault(start + i, byte)
        datagram = ip.read(fragment(version, piece, start, more))
        if datagram is not None:
            found.append((datagram.payload, datagram.missing, datagram.protocol))
        is_last_known = size - 1 in known
        if is_last_known and len(known) == size:
            expected.append((bytes(known[i] for i in range(size)), 0, 17))
            known = {}
    assert found == expected
    assert expected


def test_bytes_in_conflict_are_counted() -> None:
    ip = Ip()
    assert ip.read(fragment(4, b"a" * 16, 0, True)) is None
    assert ip.read(fragment(4, b"abbbbbbb" + b"c" * 16, 8, True)) is None
    found = ip.read(fragment(4, b"c" * 8 + b"d", 24, False))
    assert found is not None
    assert found.payload == b"a" * 16 + b"c" * 16 + b"d"
    assert ip.skipped.bytes == {
        "IP fragment bytes seen before": 8 + 8,
        "IP fragment bytes in conflict": 7,
    }


def test_extension_headers_may_be_within_the_fragments() -> None:
    inner = extension(60, 17, 24) + b"payload"
    ip = Ip()
    first, last = inner[:16], inner[16:]
    assert ip.read(ipv6_fragment(first, 60, more=True)) is None
    found = ip.read(ipv6_fragment(last, 60, offset=16))
    assert found is not None
    assert (found.protocol, found.payload) == (17, b"payload")


def test_a_cut_fragment_leaves_the_rest_of_its_datagram_missing() -> None:
    ip = Ip()
    assert ip.read(fragment(4, b"a" * 80, 0, True), snap=20 + 50) is None
    found = ip.read(fragment(4, b"b" * 40, 80, False))
    assert found is not None
    assert (found.payload, found.missing) == (b"a" * 50, 70)


def test_incomplete_datagrams_are_bounded_in_number() -> None:
    ip = Ip()
    for number in range(IP_DATAGRAMS_MAX + 10):
        assert ip.read(fragment(4, b"a" * 8, 0, True, number)) is None
    assert ip.skipped.counts == {"IP datagram incomplete": 10}
    assert ip.skipped.bytes == {"IP datagram incomplete": 80}
    assert ip.read(fragment(4, b"b", 8, False, 9)) is None
    found = ip.read(fragment(4, b"b", 8, False, 11))
    assert found is not None
    assert found.payload == b"a" * 8 + b"b"
    ip.reader.finish()
    assert ip.skipped.counts == {"IP datagram incomplete": IP_DATAGRAMS_MAX + 10}


@pytest.mark.parametrize("size", [8, 60_000])
def test_incomplete_datagrams_are_bounded_in_bytes(size: int) -> None:
    ip = Ip()
    fits = IP_FRAGMENT_BYTES_MAX // (size + PIECE_COST)
    per_datagram = 65_528 // size
    for i in range(fits + 1):
        assert not ip.skipped
        at = i % per_datagram * size
        ip.read(fragment(4, bytes(size), at, True, i // per_datagram))
    assert ip.skipped.counts == {"IP datagram incomplete": 1}


def test_incomplete_datagrams_expire() -> None:
    ip = Ip()
    age = IP_FRAGMENT_SECONDS_MAX * SECOND
    assert ip.read(fragment(4, b"a" * 8, 0, True, 1), 5) is None
    assert ip.read(fragment(4, b"a" * 8, 0, True, 2), 5) is None
    assert ip.read(fragment(4, b"b", 8, False, 1), 5 + age) is not None
    assert not ip.skipped
    assert ip.read(fragment(4, b"b", 8, False, 2), 6 + age) is None
    assert ip.skipped.counts == {"IP datagram incomplete": 1}
