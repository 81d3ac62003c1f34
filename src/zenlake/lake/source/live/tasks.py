"""Tasks: the rows of a partition, as an iterator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from zenlake.lake.exact_reader.exact_tables import Tables
from zenlake.lake.source.live.range_rows import read_piece
from zenlake.lake.source.streaming import iterated

if TYPE_CHECKING:
    import pyarrow as pa

    from zenlake.lake.source.live.options import StreamOptions
    from zenlake.lake.source.live.planner import Piece


def read_rows(piece: Piece, options: StreamOptions) -> Iterator[pa.Table]:
    """The rows of one piece, in the order of reading."""
    table = options.table.name

    def read(write: Callable[[pa.Table], None]) -> None:
        def pick(tables: Tables) -> None:
            for part in tables.get(table, ()):
                write(part)

        read_piece(piece, options.path, (table,), pick)

    return iterated(read)
