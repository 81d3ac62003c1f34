"""The blocks of a segment of a recording: pcapng, with a number and a checksum in each block.

A segment is a little-endian pcapng file with one section and two interfaces, WIRE and STATE. Other
tools read it as a capture of raw IP packets. Every block ends in the same 32 bytes:

    -32   u16 19373, u16 20   option: custom, binary, not to be copied into changed files
    -28   u32 32473           the enterprise number of that option
    -24   u32 flags
    -20   u64 number
    -12   u32 crc             CRC-32 of the block from its first byte up to here
     -8   u16 0, u16 0        end of options
     -4   u32 length          of the block, as at its beginning

`number` is, in a packet on WIRE, its number in the recording, from 1; in a packet on STATE 0; in
the section header the number of packets in all segments before; in an interface its index; in
statistics the number of packets that the recorder has dropped in this recording so far.
"""

from __future__ import annotations

from struct import Struct
from typing import Final
from zlib import crc32

from zenlake.capture.pcapng import COMMENT, INTERFACE, PACKET, SECTION, TIME_RESOLUTION

WIRE: Final = 0
"""The interface of packets that crossed a link."""
STATE: Final = 1
"""The interface of packets that repeat what a reader must know at the start of the segment."""
STATISTICS: Final = 5
"""The type of a block with the number of dropped packets."""
LINK_TYPE_RAW_IP: Final = 101

PLAIN: Final = 1
"""Flag: the batch is one FRAME with nothing but PUSH, so it changes no state but its sequence
number."""
FIRST: Final = 2
"""Flag: the packet begins a batch (of a stream: with its length prefix). Only scouting has UDP
packets without it."""
FORMAT_VERSION: Final = 1
"""A flag of each section header."""
REDACTED: Final = 2
"""Flag of a section header: rules have removed messages or payloads before they were written."""

TRAILER_BYTES: Final = 32
ENTERPRISE: Final = 32473
"""The number that RFC 5612 reserves for examples: this project has none of its own."""
_CUSTOM_OPTION: Final = 19373
_VALUE_BYTES: Final = 20
_TRAILER_HEAD: Final = Struct("<HHIIQ")
_TRAILER_END: Final = Struct("<IHHI")
_TRAILER: Final = Struct("<HHIIQIHHI")
_HEAD: Final = Struct("<II")
_SECTION: Final = Struct("<IHHq")
_INTERFACE: Final = Struct("<HHI")
_PACKET: Final = Struct("<IIIIIII")
_STATISTICS: Final = Struct("<III")
_OPTION: Final = Struct("<HH")
_DROPPED_BY_SYSTEM: Final = 5
_APPLICATION: Final = 4
_NAME: Final = 2
_NANOSECONDS: Final = b"\x09"
_BYTE_ORDER: Final = 0x1A2B3C4D
_PADDING: Final = (b"", b"\0\0\0", b"\0\0", b"\0")
_PACKET_BYTES: Final = 28


def section_block(
    comment: str, application: str, packets_before: int, is_redacted: bool = False
) -> bytes:
    """The first block of a segment."""
    options = _option(COMMENT, comment.encode()) + _option(_APPLICATION, application.encode())
    body = _SECTION.pack(_BYTE_ORDER, 1, 0, -1) + options
    flags = FORMAT_VERSION | REDACTED if is_redacted else FORMAT_VERSION
    return _block(SECTION, body, flags, packets_before)


def interface_block(index: int, name: str) -> bytes:
    options = _option(_NAME, name.encode()) + _option(TIME_RESOLUTION, _NANOSECONDS)
    return _block(INTERFACE, _INTERFACE.pack(LINK_TYPE_RAW_IP, 0, 0) + options, 0, index)


def packet_block(interface: int, time_ns: int, data: bytes, flags: int, number: int) -> bytes:
    size = len(data)
    padding = _PADDING[size & 3]
    length = _PACKET_BYTES + size + len(padding) + TRAILER_BYTES
    high, low = time_ns >> 32, time_ns & 0xFFFF_FFFF
    head = _PACKET.pack(PACKET, length, interface, high, low, size, size)
    trailer = _TRAILER_HEAD.pack(_CUSTOM_OPTION, _VALUE_BYTES, ENTERPRISE, flags, number)
    crc = crc32(trailer, crc32(padding, crc32(data, crc32(head))))
    return b"".join((head, data, padding, trailer, _TRAILER_END.pack(crc, 0, 0, length)))


def packet_pieces(
    interface: int, time_ns: int, head: bytes, body: bytes, flags: int, number: int
) -> tuple[bytes, bytes, bytes]:
    """`packet_block` of a packet that consists of `head` and `body`, in pieces.

    `body` is the second piece, so that a long batch is not copied.
    """
    size = len(head) + len(body)
    padding = _PADDING[size & 3]
    length = _PACKET_BYTES + size + len(padding) + TRAILER_BYTES
    high, low = time_ns >> 32, time_ns & 0xFFFF_FFFF
    first = _PACKET.pack(PACKET, length, interface, high, low, size, size) + head
    last = padding + _TRAILER_HEAD.pack(_CUSTOM_OPTION, _VALUE_BYTES, ENTERPRISE, flags, number)
    crc = crc32(last, crc32(body, crc32(first)))
    return first, body, last + _TRAILER_END.pack(crc, 0, 0, length)


def statistics_block(time_ns: int, dropped: int) -> bytes:
    """A block with the number of packets that did not fit into the recorder's buffer so far."""
    body = _STATISTICS.pack(WIRE, time_ns >> 32, time_ns & 0xFFFF_FFFF)
    body += _option(_DROPPED_BY_SYSTEM, dropped.to_bytes(8, "little"))
    return _block(STATISTICS, body, 0, dropped)


def trailer_of(buffer: bytes, start: int, stop: int) -> tuple[int, int] | None:
    """Flags and number of the block between these positions; None if its checksum is wrong."""
    if stop - start < TRAILER_BYTES + 12:
        return None
    found = _TRAILER.unpack_from(buffer, stop - TRAILER_BYTES)
    code, size, enterprise, flags, number, crc, end, nothing, length = found
    is_ours = code == _CUSTOM_OPTION and size == _VALUE_BYTES and enterprise == ENTERPRISE
    if not is_ours or end or nothing or length != stop - start:
        return None
    if crc32(memoryview(buffer)[start : stop - 12]) != crc:
        return None
    return flags, number


def is_segment(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a segment: its first block has a trailer."""
    if len(head) < 12 or _HEAD.unpack_from(head)[0] != SECTION:
        return False
    length = _HEAD.unpack_from(head)[1]
    return length <= len(head) and trailer_of(head, 0, length) is not None


def _option(code: int, value: bytes) -> bytes:
    return _OPTION.pack(code, len(value)) + value + _PADDING[len(value) & 3]


def _block(type: int, body: bytes, flags: int, number: int) -> bytes:
    length = _HEAD.size + len(body) + TRAILER_BYTES
    trailer = _TRAILER_HEAD.pack(_CUSTOM_OPTION, _VALUE_BYTES, ENTERPRISE, flags, number)
    covered = _HEAD.pack(type, length) + body + trailer
    return covered + _TRAILER_END.pack(crc32(covered), 0, 0, length)
