"""Rows of a piece: what a task reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from struct import Struct
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcapng import PACKET
from zenlake.capture.segment_format import LINK_TYPE_RAW_IP, WIRE, trailer_of
from zenlake.lake.errors import LakeError
from zenlake.lake.exact_reader.exact_tables import ExactReader, Tables
from zenlake.lake.merge.split import Split, read_split
from zenlake.lake.source.live.planner import Piece
from zenlake.lake.source.live.recording_folder import sealed_or_not
from zenlake.trace.rows.seq import ORDINAL_BITS
from zenlake.trace.trace import from_packets

Write = Callable[[Tables], None]

FAST_BYTES_MIN: Final = 1 << 20
"""The exact reader reads a smaller piece faster than a worker loads kernels for the first time."""
_HEAD: Final = Struct("<II")
_PACKET: Final = Struct("<IIIIIII")
_BEFORE_ALL: Final = -(1 << 36)
"""The number of the first packet that is read for the state only; `seq` has room for it."""


def read_piece(piece: Piece, capture: str, tables: Collection[str], write: Write) -> None:
    """Calls `write` with tables of the packets in the piece."""
    if piece.is_recording:
        _read_segment(piece, capture, tables, write)
    else:
        _read_capture(piece, capture, tables, write)


def _read_segment(piece: Piece, capture: str, tables: Collection[str], write: Write) -> None:
    path = sealed_or_not(piece.path)
    try:
        with open(path, "rb") as file:
            data = file.read(piece.stop)
    except OSError as error:
        raise LakeError.from_os(error, path) from None
    if len(data) < piece.stop:
        raise LakeError(f"has {len(data)} bytes, and {piece.stop} were planned", path)

    def pick(found: Tables) -> None:
        chosen = {name: _within(parts, piece) for name, parts in found.items() if name in tables}
        write({name: parts for name, parts in chosen.items() if parts})

    if piece.stop - piece.start >= FAST_BYTES_MIN and _read_fast(data, capture, tables, pick):
        return
    last = piece.first if piece.last is None else piece.last
    found = from_packets((last, piece.end_ns))
    exact = ExactReader(found, capture, tables)
    for packet in segment_packets(data):
        for item, events in found.feed(packet):
            pick(exact.feed(item, events))
    for item, events in found.finish():
        pick(exact.feed(item, events))
    pick(exact.finish())


def _within(parts: list[pa.Table], piece: Piece) -> list[pa.Table]:
    """Rows of packets in the piece."""
    found = []
    for part in parts:
        numbers = part["packet"] if "packet" in part.column_names else None
        if numbers is not None:
            mask = pc.greater(numbers, piece.first)
            if piece.last is not None:
                mask = pc.and_(mask, pc.less_equal(numbers, piece.last))
            part = part.filter(mask)
        if part.num_rows:
            found.append(part)
    return found


def segment_packets(data: bytes) -> Iterator[Packet]:
    """The packets of a segment with their numbers; those that repeat state have numbers <= 0."""
    position = 0
    state = _BEFORE_ALL
    while position + 12 <= len(data):
        type, length = _HEAD.unpack_from(data, position)
        stop = position + length
        if length < 12 or stop > len(data):
            return
        trailer = trailer_of(data, position, stop)
        if type == PACKET and trailer is not None:
            _, _, interface, high, low, captured, size = _PACKET.unpack_from(data, position)
            state += 1
            number = trailer[1] if interface == WIRE else state
            start = position + 28
            content = data[start : start + captured]
            yield Packet(number, high << 32 | low, LINK_TYPE_RAW_IP, content, size, interface)
        position = stop


def _read_fast(data: bytes, capture: str, tables: Collection[str], pick: Write) -> bool:
    """Whether the fast reader could read it."""
    from zenlake.lake import fast_reader

    with TemporaryDirectory(prefix="zenlake-") as folder:
        path = os.path.join(folder, "range.pcapng")
        with open(path, "wb") as file:
            file.write(data)
        survey = fast_reader.survey(path)
        if isinstance(survey, fast_reader.Refusal) or not survey.may_be_regular.any():
            return False
        shift = _first_number(data)

        def renumber(found: Tables) -> None:
            pick({name: [_shifted(part, shift) for part in parts] for name, parts in found.items()})

        read_split(Split(path, capture, survey, None, True, frozenset(tables)), renumber)
    return True


def _first_number(data: bytes) -> int:
    """What to add to the place of a packet in the file for its number in the recording."""
    for place, packet in enumerate(segment_packets(data), 1):
        if packet.number > 0:
            return packet.number - place
    return 0


def _shifted(part: pa.Table, shift: int) -> pa.Table:
    if not shift:
        return part
    for name, added in (("packet", shift), ("seq", shift << ORDINAL_BITS)):
        if name in part.column_names:
            place = part.column_names.index(name)
            part = part.set_column(place, part.schema.field(name), pc.add(part[name], added))
    return part


def _read_capture(piece: Piece, capture: str, tables: Collection[str], write: Write) -> None:
    """The rows that packets of the piece complete, after all packets before them were read.

    The end of the piece is not the end of the capture, so the trace is not finished.
    """
    skipped = Skipped()
    found = from_packets((0, 0))
    path = os.path.join(capture, os.path.basename(piece.path))
    exact = ExactReader(found, path, tables)
    before = 0
    for packet in packets(piece.earlier, skipped):
        before = packet.number
        for _ in found.feed(packet):
            pass

    def renumber(made: Tables) -> None:
        write({name: [_shifted(part, -before) for part in parts] for name, parts in made.items()})

    for packet in packets((piece.path,), skipped):
        number = packet.number
        if piece.last is not None and number > piece.last:
            break
        packet.number += before
        if number <= piece.first:
            for _ in found.feed(packet):
                pass
            continue
        for item, events in found.feed(packet):
            renumber(exact.feed(item, events))
    renumber(exact.finish())
