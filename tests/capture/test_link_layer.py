from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.headers import A6, B6, A, B, ethernet, ipv4, ipv6, packet, udp
from zenlake.capture.link_layer import (
    CUT,
    IPV4,
    IPV6,
    NOT_IP,
    NOT_SNAP,
    TOO_MANY_TAGS,
    UNSUPPORTED,
    cause,
    network_layer,
)
from zenlake.capture.transport import TransportReader, UdpDatagram
from zenlake.limits import VLAN_TAGS_MAX

SNAP = b"\xaa\xaa\x03\x00\x00\x00"
SLL = pack("!HHH", 0, 1, 6) + bytes(8)
SLL2_REST = pack("!HIHBB", 0, 3, 1, 0, 6) + bytes(8)

HEADERS = {
    "Ethernet": (1, ethernet(b""), IPV4),
    "Ethernet with IPv6": (1, ethernet(b"", 0x86DD), IPV6),
    "802.1Q": (1, ethernet(b"", tags=(0x8100,)), IPV4),
    "QinQ 88a8": (1, ethernet(b"", 0x86DD, tags=(0x88A8, 0x8100)), IPV6),
    "QinQ 9100": (1, ethernet(b"", tags=(0x9100, 0x8100)), IPV4),
    "QinQ 8100 twice": (1, ethernet(b"", tags=(0x8100, 0x8100)), IPV4),
    "as many tags as allowed": (1, ethernet(b"", tags=(0x8100,) * VLAN_TAGS_MAX), IPV4),
    "802.3 with SNAP": (1, ethernet(SNAP + b"\x08\x00", 300), IPV4),
    "802.1Q with SNAP": (1, ethernet(SNAP + b"\x86\xdd", 300, tags=(0x8100,)), IPV6),
    "null, little endian": (0, pack("<I", 2), IPV4),
    "null, big endian": (0, pack(">I", 2), IPV4),
    "null of Linux with IPv6": (0, pack("<I", 10), IPV6),
    "null of FreeBSD with IPv6": (0, pack("<I", 28), IPV6),
    "null of Darwin with IPv6": (0, pack(">I", 30), IPV6),
    "loop": (108, pack(">I", 2), IPV4),
    "loop of OpenBSD with IPv6": (108, pack(">I", 24), IPV6),
    "loop, little endian, of Windows with IPv6": (108, pack("<I", 23), IPV6),
    "cooked": (113, SLL + b"\x08\x00", IPV4),
    "cooked with IPv6": (113, SLL + b"\x86\xdd", IPV6),
    "cooked with a tag": (113, SLL + b"\x81\x00\x00\x05\x08\x00", IPV4),
    "cooked with SNAP": (113, SLL + b"\x00\x04" + SNAP + b"\x08\x00", IPV4),
    "cooked v2": (276, b"\x08\x00" + SLL2_REST, IPV4),
    "cooked v2 with IPv6": (276, b"\x86\xdd" + SLL2_REST, IPV6),
    "cooked v2 with a tag": (276, b"\x81\x00" + SLL2_REST + b"\x00\x05\x86\xdd", IPV6),
    "raw": (101, b"", IPV4),
    "raw with IPv6": (101, b"", IPV6),
    "raw of BSD": (12, b"", IPV4),
    "raw of OpenBSD with IPv6": (14, b"", IPV6),
    "raw IPv4": (228, b"", IPV4),
    "raw IPv6": (229, b"", IPV6),
}
LINK_TYPES = sorted({link_type for link_type, _, _ in HEADERS.values()})


@pytest.mark.parametrize("name", HEADERS)
def test_every_link_layer_leads_to_its_datagram(name: str) -> None:
    link_type, header, ethertype = HEADERS[name]
    inner = ipv4(udp(b"hello")) if ethertype == IPV4 else ipv6(udp(b"hello"))
    assert network_layer(link_type, header + inner) == (ethertype, len(header))
    reader = TransportReader()
    found = reader.read(packet(header + inner, link_type))
    assert isinstance(found, UdpDatagram)
    assert found.payload == b"hello"
    a, b = (A, B) if ethertype == IPV4 else (f"[{A6}]", f"[{B6}]")
    assert (found.ends.source, found.ends.destination) == (f"{a}:40000", f"{b}:7447")
    assert not reader.skipped


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_cut_anywhere_is_counted_as_cut(name: str) -> None:
    link_type, header, ethertype = HEADERS[name]
    inner = ipv4(udp(b"hello")) if ethertype == IPV4 else ipv6(udp(b"hello"))
    whole = header + inner
    for size in range(len(whole) - len(b"hello")):
        reader = TransportReader()
        assert reader.read(packet(whole, link_type, snap=size)) is None
        assert set(reader.skipped.counts) <= {"link header cut", "IP header cut", "UDP header cut"}
        assert sum(reader.skipped.counts.values()) == 1
        if size < len(header):
            assert network_layer(link_type, whole[:size])[0] == CUT


def test_reason_for_a_skipped_packet_is_named() -> None:
    cases = [
        (1, ethernet(bytes(40), 0x0806), "ethertype 0x0806"),
        (1, ethernet(bytes(40), tags=(0x8100,) * (VLAN_TAGS_MAX + 1)), "too many VLAN tags"),
        (1, ethernet(b"\x42\x42\x03" + bytes(40), 38), "802.3 without SNAP"),
        (1, ethernet(SNAP + b"\x00\x10" + bytes(40), 38), "802.3 without SNAP"),
        (0, pack("<I", 7) + bytes(40), "link without IP"),
        (101, b"\x70" + bytes(40), "link without IP"),
        (147, bytes(40), "link type 147"),
        (105, bytes(40), "link type 105"),
    ]
    for link_type, data, reason in cases:
        reader = TransportReader()
        assert reader.read(packet(data, link_type)) is None
        assert reader.skipped.counts == {reason: 1}
        assert reader.skipped.bytes == {reason: len(data)}
    causes = [cause(9, why) for why in (CUT, UNSUPPORTED, TOO_MANY_TAGS, NOT_SNAP, NOT_IP)]
    assert len(set(causes)) == len(causes)


@given(st.sampled_from([*LINK_TYPES, 147]), st.binary(max_size=200))
def test_random_bytes_are_a_value_or_counted(link_type: int, data: bytes) -> None:
    check_value_or_counted(link_type, data)


@given(st.sampled_from(sorted(HEADERS)), st.binary(max_size=120))
def test_random_bytes_behind_a_link_header_are_a_value_or_counted(name: str, data: bytes) -> None:
    link_type, header, ethertype = HEADERS[name]
    check_value_or_counted(link_type, header + data)
    check_value_or_counted(link_type, header + (b"\x45" if ethertype == IPV4 else b"\x60") + data)


def check_value_or_counted(link_type: int, data: bytes) -> None:
    reader = TransportReader()
    found = reader.read(packet(data, link_type))
    reader.finish()
    assert found is not None or sum(reader.skipped.counts.values()) == 1
