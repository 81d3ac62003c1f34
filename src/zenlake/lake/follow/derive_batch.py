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
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from zenlake.lake.address import parse
from zenlake.lake.derive.derive_task import derive_captures
from zenlake.lake.errors import LakeError
from zenlake.lake.follow.settling import SETTLED_TABLES, count_events, settle
from zenlake.lake.jobs import Job, Result
from zenlake.lake.parquet.joining import joined_files
from zenlake.lake.parquet.row_removal import divide_by_capture
from zenlake.lake.parquet.trace_ids import with_copies
from zenlake.lake.pipeline.delivery import scratch_folder
from zenlake.lake.pipeline.table_task import query_counts
from zenlake.lake.schema import TABLES
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


def follow_task(job: Job) -> Result:
    """Runs one task. A failure of a step or a disk is returned as one line, and ends the run."""
    if not os.path.isdir(job["staging"]):
        cause = f"a worker of Spark has no folder {job['staging']}"
        return {"failure": f"{cause}: all workers need it under the same path"}
    try:
        return _WORK[job["kind"]](job)
    except LakeError as error:
        return {"failure": str(error)}
    except OSError as error:
        return {"failure": f"{error.strerror or error}: {job['staging']}"}


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
        files = _derived(job, folder, events, DERIVED)["files"]
        settled: list[dict[str, Any]] = []
        settle_events = job["settle_events"]
        if count_events(kept) > settle_events:
            done = settle({**job, "sessions": events["sessions"]}, folder, kept, _by_table(files))
            others = [file for file in files if file["table"] not in SETTLED_TABLES]
            settled, files = done.files, done.pending + others
            for name, paths in done.events.items():
                joined[name] = paths[0] if paths else None
            # Rows are settled again when there are many more events.
            settle_events = count_events(done.events) * 3 // 2
        return {
            "files": files,
            "counts": _query_counts(job, files),
            "joined": joined,
            "settled": settled,
            "settled_counts": _query_counts(job, settled),
            "settle_events": settle_events,
        }


def _query_counts(job: Job, files: list[dict[str, Any]]) -> dict[str, int]:
    paths = [str(file["path"]) for file in files if file["table"] == "queries"]
    return query_counts(paths).get(job["row"]["capture"], {"queries": 0, "hops": 0})


def _by_table(files: list[dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in files:
        found.setdefault(file["table"], []).append(str(file["path"]))
    return found


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
        result = _derived(job, folder, _paths_of(files + job["end_files"]), _OF_PUBLICATIONS)
        copies = result["copies"]
        return {
            "samples": [_linked(one, folder) for one in with_copies(files, copies)],
            "end_samples": with_copies(job["end_files"], copies),
            "latencies": [one for one in result["files"] if one["table"] == "latencies"],
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
        files = {"samples": [str(one["path"]) for one in (*own.values(), *window)]}
        result = _derived(job, folder, files, _OF_PUBLICATIONS)
        copies = result["copies"]
        replaced = {}
        for name, file in own.items():
            path = str(file["path"])
            if path in copies:
                copy = joined_files([Path(copies[path])], "samples", folder)._asdict()
                replaced[name] = [copy, *others.get(name, ())]
        return {
            "replaced": replaced,
            "window": [_linked(one, folder) for one in with_copies(window, copies)],
            "latencies": [one for one in result["files"] if one["table"] == "latencies"],
        }


def _paths_of(files: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {"samples": [str(file["path"]) for file in files]}


def _linked(file: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A second link to the file: one is moved to the lake, and the state keeps the other."""
    target = folder / f"{uuid4().hex}.parquet"
    os.link(file["path"], target)
    return {**file, "path": str(target)}


def _join(job: Job) -> Result:
    with scratch_folder(job) as folder:
        paths = [fetch(parse(path), folder / "fetched") for path in job["paths"]]
        written = joined_files(paths, job["table"], folder)
        return {"table": job["table"], "file": written._asdict()}


def _derived(
    job: Job, folder: Path, files: dict[str, list[str]], tables: tuple[str, ...]
) -> dict[str, Any]:
    captures_file = folder / "captures.parquet"
    pq.write_table(pa.Table.from_pylist([job["row"]], TABLES["captures"].arrow), captures_file)
    result = derive_captures(
        {
            "tasks": [files],
            "captures_file": str(captures_file),
            "folder": str(folder),
            "threads": job.get("threads", 1),
            "memory_bytes": job["memory_bytes"],
            "tables": list(tables),
        }
    )
    if "failure" in result:
        raise LakeError(result["failure"])
    return result


_WORK: Final[dict[str, Callable[[Job], Result]]] = {
    "derive": _derive,
    "publications": _publications,
    "all_publications": _all_publications,
    "join": _join,
}
