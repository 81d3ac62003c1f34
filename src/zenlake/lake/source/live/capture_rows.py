"""CaptureRows: the rows of rotated captures, read in the planning process or in one task.

The state of connections is too large to send to a task. So the planning process has a reader, which
reads each new packet once, and tasks get rows. A large batch, such as the first one of an old
folder, is read by one task instead; then the reader catches up with the next batch. Both return the
same rows, because both have read the same packets before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from zenlake.lake.exact_reader.exact_tables import Tables
from zenlake.lake.schema.table import Table
from zenlake.lake.source.live.capture_reader import CaptureReader
from zenlake.lake.source.live.planner import Piece
from zenlake.lake.source.live.range_rows import path_of

PLANNED_BYTES_MAX: Final = 16 << 20
"""The most bytes of captures whose rows the planning process reads."""
_PARTITION_BYTES: Final = 8 << 20


class PlannedRows(NamedTuple):
    """Rows for a task, as a stream of Arrow record batches."""

    data: bytes


class CaptureBatch(NamedTuple):
    """Pieces of captures that one task reads in order."""

    pieces: tuple[Piece, ...]


class CaptureRows:
    """Used in the planning process."""

    def __init__(self, capture: str, table: Table) -> None:
        self._capture = capture
        self._table = table
        self._reader: CaptureReader | None = None
        self._pieces: Sequence[Piece] = ()
        self._planned: list[PlannedRows] = []

    def partitions(self, pieces: list[Piece], count_min: int) -> list[PlannedRows | CaptureBatch]:
        """The parts of a micro-batch, one for each task."""
        if not pieces:
            return []
        if pieces == self._pieces:
            # Spark plans a batch again for each action of `foreachBatch`.
            return list(self._planned)
        size = sum(piece.stop - piece.start for piece in pieces)
        if size > PLANNED_BYTES_MAX or not all(map(path_of, pieces)):
            # If a file was just removed, the task reports it.
            return [CaptureBatch(tuple(pieces))]
        self._planned = self._read(pieces, count_min)
        self._pieces = pieces
        return list(self._planned)

    def _read(self, pieces: list[Piece], count_min: int) -> list[PlannedRows]:
        reader, self._reader = self._reader, None
        if reader is None or not reader.is_before(pieces[0]):
            if reader is not None:
                reader.close()
            reader = CaptureReader(self._capture)
        parts: list[pa.Table] = []

        def pick(found: Tables) -> None:
            parts.extend(found.get(self._table.name, ()))

        for piece in pieces:
            reader.read(piece, (self._table.name,), pick)
        # After an error the reader is dropped, because its position is undefined.
        self._reader = reader
        return _divided(pa.concat_tables(parts), count_min) if parts else []


def _divided(rows: pa.Table, count_min: int) -> list[PlannedRows]:
    count = max(count_min, -(-rows.nbytes // _PARTITION_BYTES))
    size = max(1, -(-rows.num_rows // count))
    return [PlannedRows(packed(rows.slice(at, size))) for at in range(0, rows.num_rows, size)]


def packed(rows: pa.Table) -> bytes:
    """A table as bytes, with its own rows only, even if it is a slice of a larger table."""
    out = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(out, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return bytes(out.getvalue())


def unpacked(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
