"""Rows of a piece: what a task reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.segment_format import (
    STATE,
    WIRE,
    interface_block,
    section_block,
)
from zenlake.lake.errors import LakeError
from zenlake.lake.exact_reader.exact_tables import ExactReader, Tables
from zenlake.lake.merge.segment_range import read_segment_bytes
from zenlake.lake.source.live.planner import Piece
from zenlake.lake.source.live.recording_folder import sealed_or_not
from zenlake.trace.rows.seq import ORDINAL_BITS
from zenlake.trace.trace import Trace

Write = Callable[[Tables], None]

_BEFORE_ALL: Final = -(1 << 36)
"""The number of the first packet that is read for the state only; `seq` has room for it."""


def read_piece(piece: Piece, capture: str, tables: Collection[str], write: Write) -> int:
    """Calls `write` with tables of the packets in the piece; the time of the last packet."""
    if piece.is_recording:
        return _read_segment(piece, capture, tables, write)
    return _read_capture(piece, capture, tables, write)


def path_of(piece: Piece) -> str | None:
    """The file of a piece, which may have been sealed or compressed since it was planned."""
    if piece.is_recording:
        path = sealed_or_not(piece.path)
        return path if os.path.exists(path) else None
    return _compressed_or_not(piece.path)


def _compressed_or_not(path: str) -> str | None:
    names = (path, f"{path}.gz", f"{path}.zst")
    return next((name for name in names if os.path.exists(name)), None)


def _read_segment(piece: Piece, capture: str, tables: Collection[str], write: Write) -> int:
    def pick(found: Tables) -> None:
        chosen = {
            name: _within(parts, piece, name) for name, parts in found.items() if name in tables
        }
        write({name: parts for name, parts in chosen.items() if parts})

    return read_segment_bytes(capture, _segment_of(piece), tables, pick)


def _segment_of(piece: Piece) -> bytes:
    """A segment that has only the piece, and the state before it."""
    path = sealed_or_not(piece.path)
    try:
        with open(path, "rb") as file:
            file.seek(piece.start)
            data = file.read(piece.stop - piece.start)
    except OSError as error:
        raise LakeError.from_os(error, path) from None
    if len(data) < piece.stop - piece.start:
        raise LakeError(f"has {piece.start + len(data)} bytes, of {piece.stop} planned", path)
    if not piece.start:
        return data
    head = (
        section_block("{}", "zenlake", piece.first),
        interface_block(WIRE, "wire"),
        interface_block(STATE, "state"),
    )
    return b"".join((*head, piece.state, data))


def _within(parts: list[pa.Table], piece: Piece, table: str) -> list[pa.Table]:
    """Rows of packets in the piece."""
    found = []
    first = piece.first
    if piece.with_earlier_declarations and table == "declare_events":
        first = _BEFORE_ALL
    for part in parts:
        numbers = part["packet"] if "packet" in part.column_names else None
        if numbers is not None:
            mask = pc.greater(numbers, first)
            if piece.last is not None:
                mask = pc.and_(mask, pc.less_equal(numbers, piece.last))
            part = part.filter(mask)
        if part.num_rows:
            found.append(part)
    return found


def _shifted(part: pa.Table, shift: int) -> pa.Table:
    if not shift:
        return part
    for name, added in (("packet", shift), ("seq", shift << ORDINAL_BITS)):
        if name in part.column_names:
            place = part.column_names.index(name)
            part = part.set_column(place, part.schema.field(name), pc.add(part[name], added))
    return part


def _read_capture(piece: Piece, capture: str, tables: Collection[str], write: Write) -> int:
    """The rows that packets of the piece complete, after all packets before them were read.

    The end of the piece is not the end of the capture, so the trace is not finished.
    """
    skipped = Skipped()
    found = Trace(())
    path = os.path.join(capture, os.path.basename(piece.path))
    exact = ExactReader(found, path, tables)
    before = 0
    # An old capture that was removed meanwhile only held the state of its connections.
    earlier = filter(None, map(_compressed_or_not, piece.earlier))
    for packet in packets(earlier, skipped):
        before = packet.number
        for _ in found.feed(packet):
            pass

    def renumber(made: Tables) -> None:
        write({name: [_shifted(part, -before) for part in parts] for name, parts in made.items()})

    for packet in packets((path_of(piece) or piece.path,), skipped):
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
    return found.last_ns or 0
