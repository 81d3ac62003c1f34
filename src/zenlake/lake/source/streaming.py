"""Streaming: tables of a split while they are read, without files."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Full, Queue
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Final

import pyarrow as pa

from zenlake.errors import CaptureError
from zenlake.lake.jobs import Job
from zenlake.lake.merge.read_task import OBJECTS_BETWEEN_COLLECTIONS, split_of
from zenlake.lake.merge.split import Tables, read_split
from zenlake.lake.source import stored
from zenlake.lake.source.options import Tolerance
from zenlake.lake.source.planning import present, unpack

_WAITING_MAX: Final = 2
"""The number of tables by which the reading thread may be ahead of Spark."""
_LOOK_SECONDS: Final = 0.2


class _Stopped(Exception):
    """The consumer needs no more rows."""


def read_rows(jobs: list[Job], table: str, tolerance: Tolerance) -> Iterator[pa.Table]:
    """The rows of splits for one table, in the order of reading."""

    def read(write: Callable[[Tables], None]) -> None:
        for job in present(jobs, tolerance):
            try:
                with (
                    TemporaryDirectory(prefix="zenlake-") as folder,
                    stored.named_as_given(job["path"], job["capture"]),
                ):
                    read_split(split_of({**unpack(job, Path(folder)), "only": [table]}), write)
            except CaptureError:
                # The file has changed since planning: keep its rows so far, as for a damaged file.
                if not tolerance.corrupt:
                    raise

    return rows_while_read(read, table)


def rows_while_read(
    read: Callable[[Callable[[Tables], None]], None], table: str
) -> Iterator[pa.Table]:
    """The rows of one table among those that `read` passes to its callback, in another thread."""
    # There are many rows and no reference cycles, as in the pipeline.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 1_000)
    waiting: Queue[pa.Table | BaseException | None] = Queue(_WAITING_MAX)
    is_over = Event()

    def put(item: pa.Table | BaseException | None) -> None:
        while not is_over.is_set():
            try:
                return waiting.put(item, timeout=_LOOK_SECONDS)
            except Full:
                continue
        raise _Stopped

    def write(tables: Tables) -> None:
        for part in tables.get(table, ()):
            put(part)

    def run() -> None:
        try:
            try:
                read(write)
            except _Stopped:
                raise
            except BaseException as error:
                put(error)
            else:
                put(None)
        except _Stopped:
            pass

    reader = Thread(target=run, name="zenlake-reader", daemon=True)
    reader.start()
    try:
        while True:
            item = waiting.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_over.set()
        reader.join()
