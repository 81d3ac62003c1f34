"""Streaming: tables of a split as they are read, without a file between."""

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
from zenlake.lake.merge.read_task import OBJECTS_BETWEEN_COLLECTIONS, split_of
from zenlake.lake.merge.split import Split, Tables, read_split
from zenlake.lake.pipeline.tasks import Job
from zenlake.lake.source.options import Tolerance
from zenlake.lake.source.planning import present, unpack

_WAITING_MAX: Final = 2
"""Tables that are read ahead of Spark."""
_LOOK_SECONDS: Final = 0.2


class _NotWanted(Exception):
    """Who reads has enough."""


def read_rows(jobs: list[Job], table: str, tolerance: Tolerance) -> Iterator[pa.Table]:
    """What splits have for one table, in the order of reading."""

    def read(write: Callable[[pa.Table], None]) -> None:
        def pick(tables: Tables) -> None:
            for part in tables.get(table, ()):
                write(part)

        for job in present(jobs, tolerance):
            try:
                read_split(_split(job, table), pick)
            except CaptureError:
                # It changed since it was planned; as of any damaged file, what was read counts.
                if not tolerance.corrupt:
                    raise

    # Rows are many and hold no cycles, as in the pipeline.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 1_000)
    return _handed_over(read)


def _split(job: Job, table: str) -> Split:
    with TemporaryDirectory(prefix="zenlake-") as folder:
        return split_of({**unpack(job, Path(folder)), "only": [table]})


def _handed_over(read: Callable[[Callable[[pa.Table], None]], None]) -> Iterator[pa.Table]:
    """Turns what calls into what is asked: it runs beside, a few tables ahead."""
    waiting: Queue[pa.Table | BaseException | None] = Queue(_WAITING_MAX)
    is_over = Event()

    def put(item: pa.Table | BaseException | None) -> None:
        while not is_over.is_set():
            try:
                return waiting.put(item, timeout=_LOOK_SECONDS)
            except Full:
                continue
        raise _NotWanted

    def run() -> None:
        try:
            try:
                read(put)
            except _NotWanted:
                raise
            except BaseException as error:
                put(error)
            else:
                put(None)
        except _NotWanted:
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
