"""WebSocket frames, as far as a capture of Zenoh needs them (RFC 6455, section 5).

Zenoh sends each batch as one binary message, without a length of its own.
"""

from __future__ import annotations

from typing import Final

CONTINUATION: Final = 0x0
BINARY: Final = 0x2

_UNKNOWN: Final = -1
_IMPOSSIBLE: Final = -2
_SIZE_MAX: Final = 1 << 20
_OPCODES: Final = frozenset((0x0, 0x1, 0x2, 0x8, 0x9, 0xA))


def frame_sizes(buffer: bytes, at: int) -> tuple[int, int]:
    """The sizes of header and content of a frame, as in `units.unit_sizes`."""
    left = len(buffer) - at
    if left < 2:
        return _UNKNOWN, 0
    first, second = buffer[at], buffer[at + 1]
    if first & 0x70 or first & 0x0F not in _OPCODES:
        return _IMPOSSIBLE, 0
    header, size = 2, second & 0x7F
    if size >= 126:
        wide = 2 if size == 126 else 8
        if left < 2 + wide:
            return _UNKNOWN, 0
        size = int.from_bytes(buffer[at + 2 : at + 2 + wide], "big")
        header += wide
        if size > _SIZE_MAX:
            return _IMPOSSIBLE, 0
    if second & 0x80:
        header += 4
    return header, size


def opcode(buffer: bytes, at: int) -> int:
    return buffer[at] & 0x0F


def is_final(buffer: bytes, at: int) -> bool:
    return buffer[at] & 0x80 != 0


def unmask(header: bytes, content: bytes) -> bytes:
    """The unmasked content of a frame: clients mask theirs, servers do not."""
    if not header[1] & 0x80 or not content:
        return content
    size = len(content)
    mask = header[-4:] * ((size + 3) // 4)
    mixed = int.from_bytes(content, "little") ^ int.from_bytes(mask[:size], "little")
    return mixed.to_bytes(size, "little")


def is_upgrade(head: bytes) -> bool:
    """Whether this HTTP request asks for a WebSocket."""
    text = head.lower()
    return text.startswith(b"get ") and b"upgrade: websocket" in text
