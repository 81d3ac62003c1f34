"""The task that makes the tables of some small captures, or of one split of a large capture.

A task that reads whole captures also makes their derived tables. The splits of a large capture
write staged tables; when all splits are read, `derive_capture` makes the remaining tables.

Files are written to the disk of the worker and then delivered to the lake (`deliver`).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zenlake.errors import ZenlakeError
from zenlake.lake.derive.crossing import crossing_tables
from zenlake.lake.derive.derive_task import derive_captures
from zenlake.lake.derive.duck.build import DECLARATIONS_OF_SPLIT, KINDS, OF_SPLIT
from zenlake.lake.derive.publications import PROOFS, PUBLISHED
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import File, Paths, paths_by_table
from zenlake.lake.jobs import Job, Result
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.merge.read_task import (
    OBJECTS_BETWEEN_COLLECTIONS,
    Progress,
    facts_of,
    split_of,
)
from zenlake.lake.merge.shared_files import SharedFiles
from zenlake.lake.merge.split import Tables, read_split
from zenlake.lake.parquet.trace_ids import with_copies
from zenlake.lake.pipeline.delivery import deliver, fetched, scratch_folder
from zenlake.lake.pipeline.survey_captures import opened_capture
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.published import READ_COUNTS

NO_QUERIES: Final = {"queries": 0, "hops": 0}
THREADS_MAX: Final = 4
"""Threads of a task that derives tables; each thread needs memory."""
_QUERIES: Final = "queries"


def failures_as_results(work: Callable[[Job], Result]) -> Callable[[Job], Result]:
    """A failure of a step or a disk becomes a result of one line: it ends the run."""

    @wraps(work)
    def run(job: Job) -> Result:
        try:
            return work(job)
        except LakeError as error:
            return {"failure": str(error)}
        except OSError as error:
            return {"failure": f"{error.strerror or error}: {job['staging']}"}
        except duckdb.Error as error:
            return {"failure": f"{' '.join(str(error).split())}: {job['staging']}"}

    return run


@failures_as_results
def make_tables(job: Job) -> Result:
    """Reads `captures`, each with `path`, `capture`, `split` and the result of its survey.

    `lake` and `staging` are addresses, `run` is a prefix of file names, `progress` is a file for
    progress or None, `only` has names of tables (None: all), `memory_bytes` limits each step.
    Returns `captures` (each with facts and counts, or an error) and `files` for the lake.
    """
    # There are many rows and no reference cycles: searching for them would take 20% of the time.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 1_000)
    with scratch_folder(job) as folder:
        written = SharedFiles(folder)
        results = [_read(one, job, written, folder) for one in job["captures"]]
        files = written.close()
        good = [one for one in results if "error" not in one]
        if job["only"] is not None or not good:
            return {"captures": results, "files": deliver(job, files)}
        rows = [capture_row(one, [one]) for one in good]
        # Arrow keeps freed memory; return it, because deriving needs as much again.
        pa.default_memory_pool().release_unused()
        is_split = any(one["split"] is not None for one in good)
        wanted = _of_split(job, good[0]) if is_split else job
        derived = derive(wanted, folder, [_by_table(files)], rows)
        counts = query_counts(derived["files"])
        for one in good:
            one["counts"] |= counts.get(one["capture"], NO_QUERIES)
        if not is_split:
            files = [one for one in files if one["table"] in TABLES]
        files = with_copies(files, derived["copies"]) + derived["files"]
        return {"captures": results, "files": deliver(job, files)}


def _of_split(job: Job, capture: Job) -> Job:
    """The tables that one split can probably make; the others wait for all splits."""
    tables = DECLARATIONS_OF_SPLIT.makes
    if capture["is_closed"]:
        tables = tables.union(PUBLISHED, PROOFS, *(build.makes for build in OF_SPLIT))
    return {**job, "scope": "split", "tables": sorted(tables)}


@failures_as_results
def derive_capture(job: Job) -> Result:
    """Derives tables of one capture whose splits are all read.

    `row` is its row of `captures`, `tasks` the files of each split, `scope` and `tables` select
    the tables. Returns `files`, `counts` of queries, the files of splits that it `replaces`, and,
    if `finds_crossing`, the `crossing` tables, which need the events of several splits.
    """
    with scratch_folder(job) as folder:
        tasks = [fetched(files, folder) for files in job["tasks"]]
        splits = [_by_table(files) for files in tasks]
        crossing: frozenset[str] = frozenset()
        if job["finds_crossing"]:
            found = crossing_tables(splits, folder, job["memory_bytes"], job.get("threads", 1))
            crossing = crossing.union(*(one.makes for one in found))
        wanted = [name for name in job["tables"] if name not in crossing]
        derived = derive({**job, "tables": wanted}, folder, splits, [job["row"]])
        read = [file for files in tasks for file in files if file["path"] in derived["copies"]]
        places = {
            here["path"]: file["path"]
            for files, own in zip(job["tasks"], tasks, strict=True)
            for file, here in zip(files, own, strict=True)
        }
        return {
            "path": job["path"],
            "files": deliver(job, with_copies(read, derived["copies"]) + derived["files"]),
            "counts": query_counts(derived["files"]).get(job["row"]["capture"], NO_QUERIES),
            "replaces": [places[file["path"]] for file in read],
            "crossing": sorted(crossing),
        }


def _read(capture: Job, job: Job, written: SharedFiles, folder: Path) -> Result:
    """Reads one capture into `written`; returns its facts and counts, or an error."""
    found: Result = {**capture}
    counts = dict.fromkeys(READ_COUNTS, 0)
    progress = None if capture["progress"] is None else Progress(Path(capture["progress"]))

    def write(tables: Tables) -> None:
        if progress is not None:
            progress.add(tables)
        for name in READ_COUNTS:
            counts[name] += sum(part.num_rows for part in tables.get(name, ()))
        rows.write(tables)

    with written.add_capture() as rows:
        opened = opened_capture(capture, folder)
        try:
            trace = read_split(split_of({**opened, "only": job["only"]}), write)
        except ZenlakeError as error:
            rows.discard()
            # A capture in a store was read from a copy.
            return {**found, "error": str(error).replace(opened["path"], capture["path"])}
    if progress is not None:
        progress.report()
    return {**found, "trace": facts_of(trace), "counts": counts}


def derive(job: Job, folder: Path, tasks: list[Paths], rows: Sequence[Mapping[str, Any]]) -> Result:
    """Derives the `tables` of the job (all without it); `rows` are those of `captures`."""
    captures_file = folder / "captures.parquet"
    pq.write_table(pa.Table.from_pylist(rows, TABLES["captures"].arrow), captures_file)
    result = derive_captures(
        {
            "tasks": tasks,
            "captures_file": str(captures_file),
            "folder": str(folder),
            "threads": job.get("threads", 1),
            "memory_bytes": job["memory_bytes"],
            "tables": job.get("tables", [*TABLES]),
            "scope": job.get("scope", "captures"),
        }
    )
    if "failure" in result:
        raise LakeError(result["failure"])
    return result


def _by_table(files: list[File]) -> Paths:
    return paths_by_table(file for file in files if file["table"] in KINDS)


def query_counts(files: list[File]) -> dict[str, dict[str, int]]:
    """The numbers of queries and of their rows (one for each hop), by capture."""
    found: dict[str, dict[str, int]] = {}
    for file in files:
        if file["table"] != _QUERIES:
            continue
        rows = pq.read_table(file["path"], columns=["capture", "seq", "trace_id"])
        is_first = pc.fill_null(pc.equal(rows["trace_id"], rows["seq"]), True)
        counted = pa.table(
            {"capture": rows["capture"].cast(pa.string()), "first": is_first.cast(pa.int64())}
        )
        for one in (
            counted.group_by("capture")
            .aggregate([("first", "sum"), ("first", "count")])
            .to_pylist()
        ):
            known = found.setdefault(one["capture"], {**NO_QUERIES})
            known["queries"] += one["first_sum"]
            known["hops"] += one["first_count"]
    return found
