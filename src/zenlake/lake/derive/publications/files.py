"""PublicationFiles: reads files of `samples`, writes `latencies` and copies of the samples."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.derive.publications import contents as rows_of
from zenlake.lake.derive.publications.contents import COLUMNS, TEXTS, Contents
from zenlake.lake.derive.publications.grouping import Numbers, distinct
from zenlake.lake.derive.publications.hashing import KERNEL_ROWS_MIN, Hasher
from zenlake.lake.derive.publications.latency_rows import LATENCIES, latency_tables
from zenlake.lake.derive.publications.measuring import (
    Measured,
    measure,
    measure_marked,
)
from zenlake.lake.derive.publications.parts import PARTS_MAX, Parts
from zenlake.lake.derive.publications.places import UNKNOWN
from zenlake.lake.parquet.parquet_files import ParquetFiles, WrittenFile
from zenlake.lake.parquet.trace_ids import replace_trace_ids
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.spanning import SPANNING

SAMPLES: Final = "samples"
PUBLISHED: Final = frozenset((SAMPLES, LATENCIES))
"""Tables that change."""
_GROUPS: Final = "content_groups"
_SESSIONS: Final = "sample_sessions"
PROOFS: Final = frozenset((_GROUPS, _SESSIONS))
"""Tables that show whether other splits have rows of the same groups."""
ROW_BYTES: Final = 256
"""The memory that a row needs; 135 to 230 bytes were measured."""
_CONTENTS_TYPES: Final = (np.int64,) * len(Contents._fields)
_MEASURED_TYPES: Final = (*((np.int64,) * (len(Measured._fields) - 1)), np.bool_)


class PublicationFiles:
    """`write` does all; then `written` has the new files."""

    def __init__(self, folder: Path, secret: bytes, memory_bytes: int) -> None:
        self.written: list[WrittenFile] = []
        self.copies: dict[str, str] = {}
        """Copies of files of `samples` with the final `trace_id`, by the original path."""
        self._folder = folder
        self._secret = secret
        self._rows_max = max(memory_bytes // ROW_BYTES, 1)

    def write(self, paths: Sequence[str], wanted: Collection[str]) -> None:
        """`paths` are all files with samples that may be hops of the same publications."""
        sizes = [int(pq.read_metadata(path).num_rows) for path in paths]
        firsts = np.cumsum([0, *sizes]).tolist()
        count = min(PARTS_MAX, -(-firsts[-1] // self._rows_max)) or 1
        # Splits are compared by their hashes, so all of them must use the same hash function.
        is_split = not PROOFS.isdisjoint(wanted)
        hasher = Hasher(self._secret, is_split or firsts[-1] >= KERNEL_ROWS_MIN)
        parts = self._folder / f"parts-{uuid4().hex}"
        contents = Parts(parts / "contents", count, _CONTENTS_TYPES)
        chosen = None if is_split else _captures_to_compare(paths)
        sessions: list[Numbers] = []
        publishers = _NodeTexts(hasher)
        for path, first in zip(paths, firsts[:-1], strict=True):
            for table in _row_groups(path):
                rows, session = rows_of.contents_of(table, first, hasher, chosen)
                first += table.num_rows
                contents.add(rows, rows.content)
                sessions.append(distinct(session))
                publishers.add(table["sender_zid"])
        groups: list[Numbers] = []
        found = self._measure_in_parts(parts, contents, firsts[-1], groups if is_split else None)
        if is_split:
            self._write_hashes(_GROUPS, groups)
            self._write_hashes(_SESSIONS, sessions)
        self._write_results(paths, firsts, found, publishers, wanted)

    def _measure_in_parts(
        self, folder: Path, contents: Parts, rows: int, groups: list[Numbers] | None
    ) -> Parts:
        """The results for all rows, divided into parts by row number."""
        # A part holds consecutive rows.
        step = -(-rows // contents.count) or 1
        found = Parts(folder / "measured", contents.count, _MEASURED_TYPES)
        marked = Parts(folder / "marked", contents.count, _CONTENTS_TYPES)
        for columns in contents:
            part = Contents(*columns)
            if groups is not None:
                groups.append(rows_of.groups_of(part))
            known, others = measure(rows_of.Rows(part))
            for measured in known:
                found.add(measured, measured.row // step)
            marked.add(others.copied(), others.mark)
        for columns in marked:
            for measured in measure_marked(rows_of.Rows(Contents(*columns))):
                found.add(measured, measured.row // step)
        return found

    def _write_hashes(self, name: str, hashes: list[Numbers]) -> None:
        found = distinct(np.concatenate([np.zeros(0, np.int64), *hashes]))
        files = ParquetFiles(self._folder, SPANNING)
        files.write({name: [pa.table([pa.array(found)], SPANNING[name].base.arrow)]})
        self.written += files.close()

    def _write_results(
        self,
        paths: Sequence[str],
        firsts: list[int],
        found: Parts,
        publishers: _NodeTexts,
        wanted: Collection[str],
    ) -> None:
        files = ParquetFiles(self._folder, TABLES)
        rows = _ResultsInOrder(found)
        for path, (first, stop) in zip(paths, pairwise(firsts), strict=True):
            traced: list[pa.Table] = []
            for measured in rows.until(stop):
                table = _columns_of_latencies(measured, first, publishers)
                if LATENCIES in wanted:
                    files.write({LATENCIES: latency_tables(Path(path), table)})
                traced.append(table.select(["row", "trace_id"]))
            if traced and SAMPLES in wanted:
                target = self._folder / SAMPLES / f"{uuid4().hex}.parquet"
                if replace_trace_ids(Path(path), target, pa.concat_tables(traced)):
                    self.copies[path] = str(target)
        self.written += files.close()


class _ResultsInOrder:
    """Reads the results in the order of the rows that they belong to."""

    def __init__(self, found: Parts) -> None:
        self._found = iter(found)
        self._rest = Measured(*(np.zeros(0, kind) for kind in _MEASURED_TYPES))

    def until(self, stop: int) -> Iterator[Measured]:
        """The results for the next rows up to, but not including, row `stop`, in pieces."""
        while True:
            end = int(np.searchsorted(self._rest.row, stop))
            if end:
                yield self._rest.take(np.arange(end))
            self._rest = self._rest.take(np.arange(end, len(self._rest.row)))
            if len(self._rest.row):
                return
            columns = next(self._found, None)
            if columns is None:
                return
            part = Measured(*columns)
            self._rest = part.take(np.argsort(part.row))


def _row_groups(path: str) -> Iterator[pa.Table]:
    with pq.ParquetFile(path, read_dictionary=TEXTS) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, COLUMNS)


def _captures_to_compare(paths: Sequence[str]) -> list[str]:
    """Captures in which several sessions have samples."""
    sessions: dict[str, set[str | None]] = {}
    names = ["capture", "session"]
    for path in paths:
        with pq.ParquetFile(path, read_dictionary=names) as file:
            for group in range(file.num_row_groups):
                pairs = file.read_row_group(group, names).group_by(names).aggregate([])
                for row in pairs.to_pylist():
                    sessions.setdefault(row["capture"], set()).add(row["session"])
    return [name for name, found in sessions.items() if len(found - {None}) > 1]


class _NodeTexts:
    """The texts of nodes, by their hash."""

    def __init__(self, hasher: Hasher) -> None:
        self._hasher = hasher
        self._texts: dict[int, str] = {}

    def add(self, column: pa.ChunkedArray) -> None:
        for chunk in column.chunks:
            words = chunk.dictionary
            self._texts.update(
                zip(self._hasher.array(words).tolist(), words.to_pylist(), strict=True)
            )

    def texts(self, hashes: Numbers) -> pa.Array:
        known, which = np.unique(hashes, return_inverse=True)
        found = pa.array([self._texts.get(one) for one in known.tolist()], pa.string())
        return found.take(pa.array(which))


def _columns_of_latencies(measured: Measured, first_row: int, nodes: _NodeTexts) -> pa.Table:
    """The columns of `latencies` that `samples` lacks, and `row` in the file."""
    unknown, unsent = measured.trace_id == UNKNOWN, measured.sent_ns == UNKNOWN
    return pa.table(
        {
            "row": measured.row - first_row,
            "trace_id": pa.array(measured.trace_id, mask=unknown),
            "sent_ns": pa.array(measured.sent_ns, mask=unsent),
            "latency_ms": pa.array((measured.time_ns - measured.sent_ns) / 1e6, mask=unsent),
            "publisher_zid": nodes.texts(measured.publisher),
            "is_last": pa.array(measured.is_last, mask=unknown),
        }
    )
