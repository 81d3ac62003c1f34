"""The protocol of a connection, by its first bytes."""

from __future__ import annotations

import pytest

from zenlake.trace.links import recognition
from zenlake.trace.links.datagrams import _is_quic, is_multicast
from zenlake.trace.links.recognition import recognise
from zenlake.wire import Extension, Init, WhatAmI, ZenohId
from zenlake.wire.framing import frame_batch

ZID = ZenohId.parse("1020304050")
INIT = frame_batch(bytes(Init(WhatAmI.CLIENT, ZID, qos=True, patch=1)))


def init_of(size: int) -> bytes:
    """An INIT whose batch has exactly this size, by an unknown extension."""
    short = bytes(Init(WhatAmI.CLIENT, ZID))
    for padding in range(size):
        extension = Extension(0x4E, bytes(padding))
        init = bytes(Init(WhatAmI.CLIENT, ZID, extensions=(extension,)))
        if len(init) == size:
            return frame_batch(init)
    raise AssertionError(f"no INIT of {size} bytes, the shortest has {len(short)}")


def client_hello(size: int = 200) -> bytes:
    body = b"\x03\x03" + bytes(size - 6)
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message


def test_complete_init_is_zenoh() -> None:
    assert recognise(INIT) == recognition.ZENOH
    assert recognise(INIT + b"anything") == recognition.ZENOH
    for end in range(len(INIT)):
        assert recognise(INIT[:end]) == recognition.UNDECIDED, end


@pytest.mark.parametrize("size", [788, 789, 790, 791, 792])
def test_init_whose_length_looks_like_tls_is_zenoh(size: int) -> None:
    """790 is 16 03 on the wire, the beginning of a TLS handshake."""
    init = init_of(size)
    assert recognise(init) == recognition.ZENOH
    assert recognise(init[:100]) == recognition.UNDECIDED


def test_a_client_hello_is_tls() -> None:
    assert recognise(client_hello()) == recognition.TLS
    assert recognise(client_hello()[:11]) == recognition.TLS
    application = b"\x17\x03\x03\x00\x05hello"
    assert recognise(application + application) == recognition.TLS


def test_record_with_inconsistent_lengths_is_not_tls() -> None:
    hello = bytearray(client_hello())
    hello[6] ^= 0x01
    assert recognise(bytes(hello)) == recognition.UNKNOWN


@pytest.mark.parametrize(
    ("data", "protocol"),
    [
        (b"GET / HTTP/1.1\r\n", recognition.HTTP),
        (b"HTTP/1.1 101 Switching Protocols\r\n", recognition.HTTP),
        (b"SSH-2.0-OpenSSH_9.2\r\n", recognition.OTHER),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", recognition.OTHER),
        (b"220 mail.example ESMTP\r\n", recognition.UNKNOWN),
        (INIT[:2] + b"\x05" + INIT[3:], recognition.UNKNOWN),
        (INIT[:3] + b"\x07" + INIT[4:], recognition.UNKNOWN),
    ],
)
def test_other_protocols_are_recognised(data: bytes, protocol: str) -> None:
    assert recognise(data) == protocol


def test_quic_is_recognised_by_version_and_ids() -> None:
    initial = b"\xc3\x00\x00\x00\x01\x08" + bytes(1_200)
    assert _is_quic(initial)
    assert not _is_quic(initial[:20])
    assert not _is_quic(b"\xc3\x00\x00\x00\x05\x08" + bytes(1_200))
    assert not _is_quic(b"\xc3\x00\x00\x00\x01\xff" + bytes(1_200))


@pytest.mark.parametrize(
    ("address", "is_group"),
    [
        ("224.0.0.224:7446", True),
        ("239.255.255.255:1", True),
        ("223.255.255.255:1", False),
        ("240.0.0.1:1", False),
        ("[ff02::1]:7446", True),
        ("[fe80::1]:7446", False),
    ],
)
def test_multicast_addresses_are_recognised(address: str, is_group: bool) -> None:
    assert is_multicast(address) == is_group
