"""The rows of a piece of a recording, as a task reads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from zenlake.capture.segment_format import (
    STATE,
    WIRE,
    interface_block,
    section_block,
)
from zenlake.lake.errors import LakeError
from zenlake.lake.exact_reader.exact_tables import Tables
from zenlake.lake.merge.segment_range import read_segment_bytes
from zenlake.lake.source.live.live_files import compressed_or_not
from zenlake.lake.source.live.planner import Piece
from zenlake.lake.source.live.recording_folder import sealed_or_not

Write = Callable[[Tables], None]

_BEFORE_ALL: Final = -(1 << 36)
"""The number of the first state packet, small enough to be part of `seq`."""


def read_piece(piece: Piece, capture: str, tables: Collection[str], write: Write) -> int:
    """Calls `write` with the rows of the piece; returns the time of its last packet."""

    def pick(found: Tables) -> None:
        chosen = {
            name: _within(parts, piece, name) for name, parts in found.items() if name in tables
        }
        write({name: parts for name, parts in chosen.items() if parts})

    return read_segment_bytes(capture, _segment_of(piece), tables, pick)


def adding_to(found: Tables) -> Write:
    """A function that adds tables to those that were found."""

    def add(tables: Tables) -> None:
        for name, parts in tables.items():
            found.setdefault(name, []).extend(parts)

    return add


def path_of(piece: Piece) -> str | None:
    """The file of a piece, which may have been sealed or compressed since it was planned."""
    if piece.is_recording:
        path = sealed_or_not(piece.path)
        return path if os.path.exists(path) else None
    return compressed_or_not(piece.path)


def _segment_of(piece: Piece) -> bytes:
    """A segment with the state before the piece, and the piece."""
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
