"""Tasks of Spark for one batch of a followed capture, each named by `kind` of its job.

derive         all tables that are derived from events
publications   `trace_id` and latencies of new samples
all_publications   `trace_id` and latencies of all samples of a capture
join           small files of a table to one larger file
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final
from uuid import uuid4

from zenlake.lake.address import parse
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import File, paths_by_table, paths_of
from zenlake.lake.follow.settling import SETTLED_TABLES, count_events, settle
from zenlake.lake.jobs import Job, Result
from zenlake.lake.parquet.joining import joined_files
from zenlake.lake.parquet.row_removal import divide_by_capture
from zenlake.lake.parquet.trace_ids import with_copies
from zenlake.lake.pipeline.delivery import scratch_folder
from zenlake.lake.pipeline.table_task import (
    NO_QUERIES,
    derive,
    failures_as_results,
    query_counts,
)
from zenlake.lake.schema.written import WRITTEN
from zenlake.lake.stored_files import fetch

DERIVED: Final = (
    "queries",
    "replies",
    "declarations",
    "interests",
    "nodes",
    "adjacencies",
    "ros_entities",
)
JOINED_EVENTS: Final = 16
"""If a table has so many files of events, they are joined to one."""
_OF_PUBLICATIONS: Final = ("samples", "latencies")


@failures_as_results
def follow_task(job: Job) -> Result:
    """Runs one task."""
    if not os.path.isdir(job["staging"]):
        cause = f"a worker of Spark has no folder {job['staging']}"
        raise LakeError(f"{cause}: all workers need it under the same path")
    return _WORK[job["kind"]](job)


def _derive(job: Job) -> Result:
    """Derives tables. `events` are files of final events by table, `end_events` those for a capture
    that ends here, `row` is the row of `captures`. With more than `settle_events` events, rows are
    settled.

    Returns files, files of settled rows, counts of queries, and in `joined`, by table, a file that
    replaces the files of events, or None if no event is left."""
    with scratch_folder(job) as folder:
        events = {name: [*paths] for name, paths in job["events"].items()}
        joined: dict[str, str | None] = {}
        for name, paths in events.items():
            if len(paths) >= JOINED_EVENTS:
                listed = [Path(path) for path in paths]
                written = joined_files(listed, name, folder / "events", WRITTEN)
                joined[name], events[name] = written.path, [written.path]
        kept = {name: [*paths] for name, paths in events.items()}
        for name, paths in job["end_events"].items():
            events.setdefault(name, []).extend(paths)
        row = job["row"]
        files = derive({**job, "tables": DERIVED}, folder, [events], [row])["files"]
        settled: list[File] = []
        settle_events = job["settle_events"]
        if count_events(kept) > settle_events:
            sessions = events["sessions"]
            done = settle({**job, "sessions": sessions}, folder, kept, paths_by_table(files))
            others = [file for file in files if file["table"] not in SETTLED_TABLES]
            settled, files = done.files, done.pending + others
            for name, paths in done.events.items():
                joined[name] = paths[0] if paths else None
            # Rows are settled again when there are many more events.
            settle_events = count_events(done.events) * 3 // 2
        return {
            "files": files,
            "counts": query_counts(files).get(row["capture"], NO_QUERIES),
            "joined": joined,
            "settled": settled,
            "settled_counts": query_counts(settled).get(row["capture"], NO_QUERIES),
            "settle_events": settle_events,
        }


def _publications(job: Job) -> Result:
    """Compares recent samples. `files` are their files as the reader wrote them, where each sample
    is its own trace; `end_files` are samples of a capture that ends here.

    Returns files for the lake and, if `files` are many, one file that replaces them.
    """
    with scratch_folder(job) as folder:
        files = job["files"]
        raw = None
        if len(files) >= JOINED_EVENTS:
            paths = [Path(file["path"]) for file in files]
            raw = joined_files(paths, "samples", folder / "raw", WRITTEN)._asdict()
            files = [raw]
        compared = _compare(job, folder, paths_of(files + job["end_files"]))
        return {
            "samples": [_linked(one, folder) for one in with_copies(files, compared["copies"])],
            "end_samples": with_copies(job["end_files"], compared["copies"]),
            "latencies": compared["latencies"],
            "raw": raw,
        }


def _all_publications(job: Job) -> Result:
    """Compares all samples. `files` are all files of `samples` in the lake with rows of the
    capture, `window` the files of recent samples as the reader wrote them.

    Returns in `replaced`, by name, new files for each file that changes, and files for the window.
    """
    with scratch_folder(job) as folder:
        window, own, others = job["window"], {}, {}
        for number, file in enumerate(job["files"]):
            place = fetch(parse(file["path"]), folder / "fetched")
            if file["is_shared"]:
                parts = divide_by_capture(
                    place, "samples", job["row"]["capture"], folder / str(number)
                )
                if parts is None:
                    continue
                own[file["name"]], others[file["name"]] = parts
            else:
                own[file["name"]] = {"path": str(place)}
        compared = _compare(job, folder, paths_of((*own.values(), *window)))
        copies = compared["copies"]
        replaced = {}
        for name, file in own.items():
            path = str(file["path"])
            if path in copies:
                copy = joined_files([Path(copies[path])], "samples", folder)._asdict()
                replaced[name] = [copy, *others.get(name, ())]
        return {
            "replaced": replaced,
            "window": [_linked(one, folder) for one in with_copies(window, copies)],
            "latencies": compared["latencies"],
        }


def _compare(job: Job, folder: Path, samples: list[str]) -> Result:
    """Compares samples: `copies` of their files with `trace_id`, and files of `latencies`."""
    wanted = {**job, "tables": _OF_PUBLICATIONS}
    result = derive(wanted, folder, [{"samples": samples}], [job["row"]])
    latencies = [one for one in result["files"] if one["table"] == "latencies"]
    return {"copies": result["copies"], "latencies": latencies}


def _linked(file: File, folder: Path) -> File:
    """A second link to the file: one is moved to the lake, and the state keeps the other."""
    target = folder / f"{uuid4().hex}.parquet"
    os.link(file["path"], target)
    return {**file, "path": str(target)}


def _join(job: Job) -> Result:
    with scratch_folder(job) as folder:
        paths = [fetch(parse(path), folder / "fetched") for path in job["paths"]]
        written = joined_files(paths, job["table"], folder)
        return {"table": job["table"], "file": written._asdict()}


_WORK: Final[dict[str, Callable[[Job], Result]]] = {
    "derive": _derive,
    "publications": _publications,
    "all_publications": _all_publications,
    "join": _join,
}
