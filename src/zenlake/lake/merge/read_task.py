"""The second task of a capture: one split into Parquet files of its own."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any, Final

from zenlake.errors import ZenlakeError
from zenlake.lake.jobs import Job, Result
from zenlake.lake.merge.split import Split, Tables, read_split
from zenlake.lake.parquet.parquet_files import ParquetFiles
from zenlake.lake.plan.splits import split_file

_REPORT_SECONDS: Final = 0.5
OBJECTS_BETWEEN_COLLECTIONS: Final = 1_000_000


def read_capture(job: Job) -> Result:
    """`split` is a number, or None for all of the file; `only` names tables, None is all."""
    progress = Progress(Path(job["progress"]))
    # There are many rows and no cycles: the garbage collector would take a fifth of the time.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 1_000)
    try:
        with ParquetFiles(Path(job["folder"])) as files:

            def write(tables: Tables) -> None:
                progress.add(tables)
                files.write(tables)

            trace = read_split(split_of(job), write)
            progress.report()
            written = [one._asdict() for one in files.close()]
    except ZenlakeError as error:
        return {"path": job["path"], "error": str(error)}
    except OSError as error:
        return {"path": job["path"], "failure": f"{error.strerror}: {job['folder']}"}
    return {"path": job["path"], "trace": facts_of(trace), "files": written}


def split_of(job: Job) -> Split:
    """`capture` is the name in the tables, where it is not the path."""
    path = job["path"]
    capture = str(job.get("capture", path))
    only = None if job["only"] is None else frozenset(job["only"])
    if job["split"] is None:
        return Split(path, capture, only=only)
    from zenlake.lake import fast_reader

    number = job["split"]
    survey = fast_reader.Survey.load(str(split_file(Path(job["survey"]), number)))
    survey = fast_reader.check(path, survey)
    return Split(path, capture, survey, None, number == 0, only)


def facts_of(trace: Any) -> Result:
    """Facts about the packets that were read."""
    skipped = trace.skipped
    return {
        "packets": trace.packets,
        "first_ns": trace.first_ns,
        "last_ns": trace.last_ns,
        "undecoded": trace.undecoded,
        "skipped": {why: (count, skipped.bytes[why]) for why, count in skipped.counts.items()},
        "is_damaged": trace.is_damaged,
    }


class Progress:
    """Reports the number of messages read, in a file that only this task writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._messages = 0
        self._reported_s = 0.0

    def add(self, tables: Tables) -> None:
        self._messages += sum(part.num_rows for part in tables.get("messages", ()))
        if time.monotonic() - self._reported_s > _REPORT_SECONDS:
            self.report()

    def report(self) -> None:
        self._reported_s = time.monotonic()
        made = f"{self._path}.{os.getpid()}"
        with open(made, "w") as file:
            file.write(str(self._messages))
        os.replace(made, self._path)
