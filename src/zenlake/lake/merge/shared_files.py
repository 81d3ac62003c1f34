"""Files that several small captures share.

A file for each table and capture would give thousands of tiny files. Rows of a capture are kept in
memory until it is read without an error, and are then written to the files of the task. A capture
with more rows than fit into memory gets files of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from zenlake.lake.merge.split import Tables
from zenlake.lake.parquet.parquet_files import ParquetFiles
from zenlake.lake.schema.written import WRITTEN

HELD_BYTES_MAX: Final = 64 << 20
"""The most rows of one capture in memory."""
_ROWS_AT_ONCE: Final = 65_536
"""The rows of one row group, which come from several captures."""


class SharedFiles:
    """The files of one task; `close` returns the written files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shared = ParquetFiles(folder)
        self._waiting: dict[str, list[pa.Table]] = {}
        self._own: list[ParquetFiles] = []

    @contextmanager
    def add_capture(self) -> Iterator[CaptureRows]:
        """The rows of one capture, which are added to the files if no error is raised."""
        rows = CaptureRows(self._folder)
        try:
            yield rows
        except BaseException:
            rows.discard()
            raise
        if rows.files is not None:
            self._own.append(rows.files)
        for name, parts in rows.held.items():
            self._waiting.setdefault(name, []).extend(parts)
        self._flush(_ROWS_AT_ONCE)

    def _flush(self, rows_min: int) -> None:
        for name, parts in self._waiting.items():
            if parts and sum(part.num_rows for part in parts) >= rows_min:
                schema = WRITTEN[name].base.arrow
                united = pa.concat_tables(
                    part.cast(schema) if part.schema != schema else part for part in parts
                )
                self._shared.write({name: [united]})
                self._waiting[name] = []

    def close(self) -> list[dict[str, Any]]:
        self._flush(0)
        files = [*self._shared.close()]
        for one in self._own:
            files += one.close()
        return [file._asdict() for file in files]


class CaptureRows:
    """Rows of one capture, until it is read without an error."""

    def __init__(self, folder: Path) -> None:
        self.held: dict[str, list[pa.Table]] = {}
        self.files: ParquetFiles | None = None
        """Files of its own, if it has too many rows for memory."""
        self._folder = folder
        self._bytes = 0

    def write(self, tables: Tables) -> None:
        if self.files is not None:
            self.files.write(tables)
            return
        for name, parts in tables.items():
            self.held.setdefault(name, []).extend(part for part in parts if part.num_rows)
            self._bytes += sum(part.nbytes for part in parts)
        if self._bytes > HELD_BYTES_MAX:
            self.files = ParquetFiles(self._folder)
            self.files.write(self.held)
            self.held = {}

    def discard(self) -> None:
        """Drops all rows after an error."""
        self.held = {}
        if self.files is not None:
            self.files.abandon()
            self.files = None
