"""PcapngWriter: packets as a pcapng file that other tools open.

One little-endian section; an interface for each link type, written before its first packet;
times in nanoseconds. Every block is one write, so after a crash the file is readable up to the
last block.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from zenlake.capture.packet import Packet
from zenlake.capture.pcapng import (
    COMMENT,
    END_OF_OPTIONS,
    INTERFACE,
    PACKET,
    SECTION,
    TIME_RESOLUTION,
)
from zenlake.errors import LocalError
from zenlake.limits import PACKET_BYTES_MAX

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_WORD: Final = Struct("<I")
_SECTION: Final = Struct("<IIIHHqI")
_INTERFACE: Final = Struct("<IIHHIHHB3xHHI")
_PACKET: Final = Struct("<IIIIIII")
_OPTION: Final = Struct("<HH")
_BYTE_ORDER: Final = 0x1A2B3C4D
_LENGTH_UNKNOWN: Final = -1
_NANOSECONDS: Final = 9
_COMMENT_BYTES_MAX: Final = 0xFFFF
_PADDING: Final = (b"", b"\0\0\0", b"\0\0", b"\0")


class PcapngWriter:
    """Writes to a file that the caller opens and closes."""

    def __init__(self, file: SupportsWrite[bytes]) -> None:
        self._file = file
        self._interfaces: dict[int, int] = {}
        length = _SECTION.size
        file.write(_SECTION.pack(SECTION, length, _BYTE_ORDER, 1, 0, _LENGTH_UNKNOWN, length))

    def write(self, packet: Packet, comment: str = "") -> None:
        data = packet.data
        captured = len(data)
        if captured > PACKET_BYTES_MAX:
            raise LocalError(
                f"packet of {captured} bytes: at most {PACKET_BYTES_MAX} can be written"
            )
        if not 0 <= packet.time_ns < 1 << 64:
            raise LocalError(f"time {packet.time_ns} ns: pcapng cannot represent it")
        original = max(packet.original_bytes, captured)
        if original > 0xFFFF_FFFF:
            raise LocalError(f"original length {original}: pcapng cannot represent it")
        options = _comment_option(comment) if comment else b""
        index = self._interfaces.get(packet.link_type, -1)
        if index < 0:
            index = self._add_interface(packet.link_type)
        padding = _PADDING[captured & 3]
        length = _PACKET.size + captured + len(padding) + len(options) + 4
        high, low = packet.time_ns >> 32, packet.time_ns & 0xFFFF_FFFF
        head = _PACKET.pack(PACKET, length, index, high, low, captured, original)
        self._file.write(b"".join((head, data, padding, options, _WORD.pack(length))))

    def _add_interface(self, link_type: int) -> int:
        if not 0 <= link_type <= 0xFFFF:
            raise LocalError(f"link type {link_type}: pcapng cannot represent it")
        length = _INTERFACE.size
        resolution = (TIME_RESOLUTION, 1, _NANOSECONDS, END_OF_OPTIONS, 0)
        head = (INTERFACE, length, link_type, 0, PACKET_BYTES_MAX)
        self._file.write(_INTERFACE.pack(*head, *resolution, length))
        index = len(self._interfaces)
        self._interfaces[link_type] = index
        return index


def _comment_option(comment: str) -> bytes:
    text = comment.encode("utf-8", "replace")
    if len(text) > _COMMENT_BYTES_MAX:
        raise LocalError(
            f"comment of {len(text)} bytes: pcapng allows at most {_COMMENT_BYTES_MAX}"
        )
    padded = text + _PADDING[len(text) & 3]
    return _OPTION.pack(COMMENT, len(text)) + padded + _OPTION.pack(END_OF_OPTIONS, 0)
