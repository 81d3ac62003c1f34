"""WebSocket frames (RFC 6455, section 5), as far as captures of Zenoh need them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zenlake.trace.links.units import IMPOSSIBLE, UNKNOWN
from zenlake.trace.links.websocket import frame_sizes, is_final, is_upgrade, opcode, unmask


def frame(content: bytes, mask: bytes = b"", first: int = 0x82) -> tuple[bytes, bytes]:
    """Header and content of a frame of a client (with a mask) or a server."""
    flag = 0x80 if mask else 0
    size = len(content)
    if size < 126:
        header = bytes((first, flag | size))
    elif size < 1 << 16:
        header = bytes((first, flag | 126)) + size.to_bytes(2, "big")
    else:
        header = bytes((first, flag | 127)) + size.to_bytes(8, "big")
    if mask:
        content = bytes(byte ^ mask[place % 4] for place, byte in enumerate(content))
    return header + mask, content


@given(st.binary(max_size=70_000), st.sampled_from([b"", b"\x00\x00\x00\x00", b"\x12\xf4\x56\x78"]))
def test_frame_is_read_as_written(content: bytes, mask: bytes) -> None:
    header, sent = frame(content, mask)
    assert frame_sizes(b"xx" + header + sent, 2) == (len(header), len(content))
    assert unmask(header, sent) == content
    assert opcode(header, 0) == 2
    assert is_final(header, 0)


def test_incomplete_header_has_unknown_sizes() -> None:
    header, _ = frame(bytes(300))
    for end in range(4):
        assert frame_sizes(header[:end], 0)[0] == UNKNOWN


@pytest.mark.parametrize("header", [b"\xf2\x01", b"\x83\x01", b"\x82\x7f" + b"\xff" * 8])
def test_invalid_header_is_impossible(header: bytes) -> None:
    assert frame_sizes(header, 0)[0] == IMPOSSIBLE


def test_upgrade_is_recognised_in_upper_and_lower_case() -> None:
    assert is_upgrade(b"GET /zenoh HTTP/1.1\r\nHost: a\r\nUPGRADE: WebSocket")
    assert not is_upgrade(b"GET / HTTP/1.1\r\nHost: a")
    assert not is_upgrade(b"POST / HTTP/1.1\r\nUpgrade: websocket")
