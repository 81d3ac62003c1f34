"""Tasks: read the rows of a partition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zenlake.lake.source.live.capture_events import CaptureEvents, PlannedEvents
from zenlake.lake.source.live.capture_reader import CaptureReader
from zenlake.lake.source.live.capture_rows import CaptureBatch, PlannedRows, unpacked
from zenlake.lake.source.live.planner import Piece, report_loss
from zenlake.lake.source.live.range_rows import Write, path_of, read_piece
from zenlake.lake.source.live.settled import SettledPieces, settled_rows
from zenlake.lake.source.streaming import rows_while_read

if TYPE_CHECKING:
    import pyarrow as pa

    from zenlake.lake.source.live.options import StreamOptions


Partition = Piece | CaptureBatch | PlannedRows | SettledPieces | PlannedEvents | CaptureEvents


def read_rows(partition: Partition, options: StreamOptions) -> Iterator[pa.Table]:
    """The rows of one partition, in the order of reading."""
    table = options.table.name
    if isinstance(partition, PlannedRows):
        return iter((unpacked(partition.data),))
    if isinstance(partition, SettledPieces | PlannedEvents | CaptureEvents):
        return settled_rows(partition, options.path, table)

    def read(write: Write) -> None:
        if isinstance(partition, CaptureBatch):
            reader = CaptureReader(options.path)
            for piece in partition.pieces:
                if is_there(piece, options):
                    reader.read(piece, (table,), write)
        elif is_there(partition, options):
            read_piece(partition, options.path, (table,), write)

    return rows_while_read(read, table)


def is_there(piece: Piece, options: StreamOptions) -> bool:
    """Whether the file of a piece exists; an error or a warning if it was just removed."""
    if path_of(piece) is not None:
        return True
    text = f"{piece.name} was removed before its packets from {piece.first + 1} on were read"
    report_loss(text, options.path, options.fails_on_loss)
    return False
