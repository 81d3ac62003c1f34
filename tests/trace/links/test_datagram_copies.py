"""A datagram that was captured twice is one message; two equal datagrams are two messages."""

from __future__ import annotations

from struct import pack

import pytest

from tests.capture.headers import ipv4, ipv6, packet, udp
from tests.trace.event_reader import EventReader
from zenlake.wire import Join, WhatAmI, ZenohId

GROUP, GROUP6 = "224.0.0.224", "ff02::e0"
JOIN = bytes(Join(WhatAmI.PEER, ZenohId(b"\1\2"), 10_000, 0, 0))
CAME, WENT = 0, 4
SLL, SLL2, RAW = 113, 276, 101


def messages(*packets: tuple[int, bytes, int]) -> int:
    """The number of messages in packets 0.4 ms apart: link type, bytes, interface."""
    reader = EventReader()
    for number, (link_type, data, interface) in enumerate(packets, 1):
        one = packet(data, link_type, number, number * 400_000)
        one.interface = interface
        reader.packet(one)
    reader.finish()
    return len(reader.messages)


def join4(identification: int) -> bytes:
    return ipv4(udp(JOIN, (40_000, 7447)), destination=GROUP, identification=identification)


def join6() -> bytes:
    return ipv6(udp(JOIN, (40_000, 7447)), destination=GROUP6)


def sll(data: bytes, direction: int, ethertype: int = 0x0800) -> bytes:
    return pack("!HHH8sH", direction, 1, 6, bytes(8), ethertype) + data


def sll2(data: bytes, direction: int, interface: int) -> bytes:
    return pack("!HHIHBB8s", 0x0800, 0, interface, 1, direction, 6, bytes(8)) + data


def test_identification_distinguishes_copies() -> None:
    assert messages((RAW, join4(13932), 0), (RAW, join4(13934), 0)) == 2
    assert messages((RAW, join4(13932), 0), (RAW, join4(13932), 0)) == 1
    assert messages((RAW, join4(13932), 0), (RAW, join4(13934), 1)) == 2
    assert messages((RAW, join4(13932), 0), (RAW, join4(0), 0)) == 2


@pytest.mark.parametrize("data", [join4(0), join6()], ids=["ipv4", "ipv6"])
def test_without_identification_the_interface_distinguishes_copies(data: bytes) -> None:
    assert messages((RAW, data, 0), (RAW, data, 0)) == 2
    assert messages((RAW, data, 0), (RAW, data, 1)) == 1
    assert messages((RAW, data, 0), (RAW, data, 1), (RAW, data, 0)) == 2
    assert messages((RAW, data, 0), (RAW, data, 0), (RAW, data, 1), (RAW, data, 1)) == 2
    assert messages((RAW, data, 0), (RAW, data, 1), (RAW, data, 2)) == 1


def test_without_identification_the_direction_distinguishes_copies() -> None:
    data = join4(0)
    assert messages((SLL, sll(data, WENT), 0), (SLL, sll(data, CAME), 0)) == 1
    assert messages((SLL, sll(data, CAME), 0), (SLL, sll(data, CAME), 0)) == 2
    assert messages((SLL2, sll2(data, CAME, 1), 0), (SLL2, sll2(data, CAME, 2), 0)) == 1
    assert messages((SLL2, sll2(data, CAME, 1), 0), (SLL2, sll2(data, CAME, 1), 0)) == 2
    six = sll(join6(), WENT, 0x86DD), sll(join6(), CAME, 0x86DD)
    assert messages((SLL, six[0], 0), (SLL, six[1], 0)) == 1
