"""The task that makes tables: some small captures, or one split of a large one.

Captures that a task reads as a whole are also put together by it: a session is never divided, and
neither is a small capture. Splits of a large one leave staged tables behind, which `derive_capture`
puts together when all of them are read.

Files are written on the disk of the worker and then delivered to the lake (`deliver`).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zenlake.errors import ZenlakeError
from zenlake.lake.derive.crossing import crossing_builds
from zenlake.lake.derive.derive_task import derive_captures
from zenlake.lake.derive.duck.build import DECLARATIONS_OF_SPLIT, KINDS, OF_SPLIT
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.merge.delivery import deliver, fetched, scratch_folder
from zenlake.lake.merge.read_task import (
    OBJECTS_BETWEEN_COLLECTIONS,
    Progress,
    facts_of,
    split_of,
)
from zenlake.lake.merge.retracing import retraced
from zenlake.lake.merge.shared_files import SharedFiles
from zenlake.lake.merge.split import Tables, read_split
from zenlake.lake.pipeline.tasks import Job, Result
from zenlake.lake.plan.survey_captures import as_given, opened_capture
from zenlake.lake.publish.errors import LakeError
from zenlake.lake.schema import TABLES

COUNTED: Final = ("messages", "sessions", "samples")
"""Tables whose rows `captures` counts."""
NO_QUERIES: Final = {"queries": 0, "hops": 0}
_QUERIES: Final = "queries"


def make_tables(job: Job) -> Result:
    """`captures` to read, each with `path`, `capture`, `split` and what its survey found.

    `lake` and `staging` are addresses, `run` begins the names of files, `progress` is a file for
    figures or None, `only` names tables (None: all), `memory_bytes` bounds each step.
    Gives `captures` (facts, counts, or an error, for each) and `files` for the lake.
    """
    return _with_failures(_make_tables, job)


def derive_capture(job: Job) -> Result:
    """One capture whose splits are all read: `row` of `captures`, `tasks` with the files of each.

    `scope` and `tables` say what is made. Gives `files`, `counts` of queries, which files of splits
    it `replaces`, and with the scope `across` which `crossing` tables splits could not make alone.
    """
    return _with_failures(_derive_capture, job)


def _with_failures(work: Callable[[Job], Result], job: Job) -> Result:
    """A failure is of the step or the disk, not of a capture: the run ends, in one line."""
    try:
        return work(job)
    except _Failure as failure:
        return {"failure": str(failure)}
    except LakeError as error:
        return {"failure": str(error)}
    except OSError as error:
        return {"failure": f"{error.strerror or error}: {job['staging']}"}


def _make_tables(job: Job) -> Result:
    # Rows are many and hold no cycles: looking for some among them takes a fifth of the time.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 1_000)
    with scratch_folder(job) as folder:
        written = SharedFiles(folder)
        results = [_read(one, job, written, folder) for one in job["captures"]]
        files = written.close()
        good = [one for one in results if "error" not in one]
        if job["only"] is not None or not good:
            return {"captures": results, "files": deliver(job, files)}
        rows = [capture_row(one, [one]) for one in good]
        is_split = any(one["split"] is not None for one in good)
        derived = _derived(_of_split(job, good[0]) if is_split else job, folder, [files], rows)
        counts = derived.pop("counts")
        for one in good:
            one["counts"] |= counts.get(one["capture"], NO_QUERIES)
        if not is_split:
            files = [one for one in files if one["table"] in TABLES]
        files = retraced(files, derived["retraced"]) + derived["files"]
        return {"captures": results, "files": deliver(job, files)}


def _of_split(job: Job, capture: Job) -> Job:
    """What a split is expected to decide alone; otherwise it is done once all splits are read."""
    builds = OF_SPLIT if capture["is_closed"] else (DECLARATIONS_OF_SPLIT,)
    tables = sorted(frozenset[str]().union(*(build.gives for build in builds)))
    return {**job, "scope": "split", "tables": tables}


def _derive_capture(job: Job) -> Result:
    with scratch_folder(job) as folder:
        tasks = [fetched(files, folder) for files in job["tasks"]]
        crossing: frozenset[str] = frozenset()
        if job["scope"] == "across":
            splits = [_by_table(files) for files in tasks]
            builds = crossing_builds(splits, folder, job["memory_bytes"])
            crossing = crossing.union(*(build.gives for build in builds))
        wanted = [name for name in job["tables"] if name not in crossing]
        derived = _derived({**job, "tables": wanted}, folder, tasks, [job["row"]])
        read = [file for files in tasks for file in files if file["path"] in derived["retraced"]]
        places = {
            here["path"]: file["path"]
            for files, own in zip(job["tasks"], tasks, strict=True)
            for file, here in zip(files, own, strict=True)
        }
        return {
            "path": job["path"],
            "files": deliver(job, retraced(read, derived["retraced"]) + derived["files"]),
            "counts": derived["counts"].get(job["row"]["capture"], NO_QUERIES),
            "replaces": [places[file["path"]] for file in read],
            "crossing": sorted(crossing),
        }


def _read(capture: Job, job: Job, written: SharedFiles, folder: Path) -> Result:
    """What was found; rows are in `written` unless there was an error."""
    found: Result = {**capture}
    counts = dict.fromkeys(COUNTED, 0)
    progress = None if capture["progress"] is None else Progress(Path(capture["progress"]))

    def write(tables: Tables) -> None:
        if progress is not None:
            progress.add(tables)
        for name in COUNTED:
            counts[name] += sum(part.num_rows for part in tables.get(name, ()))
        rows.write(tables)

    with written.of_capture() as rows:
        opened = opened_capture(capture, folder)
        try:
            trace = read_split(split_of({**opened, "only": job["only"]}), write)
        except ZenlakeError as error:
            rows.discard()
            return {**found, "error": as_given(str(error), opened["path"], capture["path"])}
    if progress is not None:
        progress.tell()
    return {**found, "trace": facts_of(trace), "counts": counts}


def _derived(
    job: Job, folder: Path, tasks: list[Any], rows: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    captures_file = folder / "captures.parquet"
    pq.write_table(pa.Table.from_pylist(rows, TABLES["captures"].arrow), captures_file)
    by_table = [_by_table(files) for files in tasks]
    result = derive_captures(
        {
            "tasks": by_table,
            "captures_file": str(captures_file),
            "folder": str(folder),
            "threads": job.get("threads", 1),
            "memory_bytes": job["memory_bytes"],
            "tables": job.get("tables", [*TABLES]),
            "scope": job.get("scope", "captures"),
        }
    )
    if "failure" in result:
        raise _Failure(result["failure"])
    files = result["files"]
    paths = [file["path"] for file in files if file["table"] == _QUERIES]
    return {**result, "counts": _query_counts(paths)}


def _by_table(files: list[dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in files:
        if file["table"] in KINDS:
            found.setdefault(file["table"], []).append(file["path"])
    return found


def _query_counts(files: list[str]) -> dict[str, dict[str, int]]:
    """By capture: queries that were asked, and rows, one for each hop."""
    found: dict[str, dict[str, int]] = {}
    for path in files:
        rows = pq.read_table(path, columns=["capture", "seq", "trace_id"])
        is_first = pc.fill_null(pc.equal(rows["trace_id"], rows["seq"]), True)
        counted = pa.table(
            {"capture": rows["capture"].cast(pa.string()), "first": is_first.cast(pa.int64())}
        )
        for one in (
            counted.group_by("capture")
            .aggregate([("first", "sum"), ("first", "count")])
            .to_pylist()
        ):
            known = found.setdefault(one["capture"], {"queries": 0, "hops": 0})
            known["queries"] += one["first_sum"]
            known["hops"] += one["first_count"]
    return found


class _Failure(Exception):
    """Of the step, not of a capture: the run fails."""
