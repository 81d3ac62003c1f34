"""The third task, on one machine: staged tables into those that are put together, by DuckDB.

The same SQL as on a cluster, where Spark runs it (`derive.py`). Files hold one capture each.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from zenlake.lake.duck import Engine, Frame, build_tables
from zenlake.lake.pipeline.tasks import Job, Result
from zenlake.lake.reading.parquet_files import ParquetFiles
from zenlake.lake.schema import TABLES

_BATCHES_IN_A_GROUP: Final = 8


def derive_captures(job: Job) -> Result:
    """`files` by table, of all captures; gives what was written: capture, table, path."""
    folder = Path(job["folder"])
    found: list[tuple[str, str, str]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Engine(folder, job["threads"]) as engine:
            for name, frame in build_tables(engine, job["files"]).items():
                if len(job["captures"]) > 1:
                    frame = frame.sortWithinPartitions("capture")
                for capture, parts in groupby(_parts(frame), lambda part: part[0]):
                    found += _written(folder, name, capture, (part[1] for part in parts))
    except duckdb.Error as error:
        return {"failure": f"{' '.join(str(error).split())}: {folder}"}
    except OSError as error:
        return {"failure": f"{error.strerror}: {folder}"}
    return {"files": found}


def _parts(frame: Frame) -> Iterator[tuple[str, pa.Table]]:
    """Rows of one capture each, in the order of captures; not too few at a time."""
    held: list[pa.RecordBatch] = []
    for batch in frame.batches():
        held.append(batch)
        if len(held) == _BATCHES_IN_A_GROUP:
            yield from _by_capture(held)
            held = []
    if held:
        yield from _by_capture(held)


def _by_capture(batches: list[pa.RecordBatch]) -> Iterator[tuple[str, pa.Table]]:
    table = pa.Table.from_batches(batches)
    captures = table.column("capture")
    names = captures.unique().to_pylist()
    if len(names) == 1:
        yield names[0], table
        return
    for name in names:
        yield name, table.filter(pc.equal(captures, name))


def _written(
    folder: Path, name: str, capture: str, parts: Iterator[pa.Table]
) -> Iterator[tuple[str, str, str]]:
    files = ParquetFiles(folder, TABLES)
    for part in parts:
        files.write({name: [part]})
    for one in files.close():
        yield capture, name, one.path
