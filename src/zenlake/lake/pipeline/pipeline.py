"""The steps of a run: survey, read, derive, publish."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from zenlake import exit_cleanups
from zenlake.lake.address import parse
from zenlake.lake.derive.crossing import PROOFS
from zenlake.lake.derive.derivation import Derivation
from zenlake.lake.derive.duck.build import (
    ACROSS_SPLITS,
    EXPLAINED_QUERIES,
    QUERIES,
    TOPOLOGY,
)
from zenlake.lake.derive.publications import PUBLICATIONS
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import File, Files
from zenlake.lake.jobs import Job, Result
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.pipeline.failures import one_line_spark_errors
from zenlake.lake.pipeline.survey_captures import survey_captures
from zenlake.lake.pipeline.table_task import NO_QUERIES, THREADS_MAX, derive_capture, make_tables
from zenlake.lake.pipeline.tasks import parallelism, run_tasks
from zenlake.lake.plan.capture_names import size_of
from zenlake.lake.plan.grouping import grouped
from zenlake.lake.plan.inputs import captures_in
from zenlake.lake.plan.survey_task import TASKS_PER_CORE
from zenlake.lake.publish import Manifest, Store
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION
from zenlake.limits import DERIVE_BYTES_MAX

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zenlake.lake.publish import Run

OnStep = Callable[[str, Path, int], None]
"""Called when a step begins, with its name, the folder of progress files and bytes to read."""
_SAMPLES: Final = "samples"
_QUERIES: Final = "queries"
CROSSING: Final[tuple[Derivation, ...]] = (QUERIES, PUBLICATIONS)
"""Tables that may need the events of several splits."""


@dataclass
class Outcome:
    """The result of a run, by capture."""

    version: int = 0
    read: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Reasons by path; the lake lacks these captures or has their old rows."""
    damaged: list[str] = field(default_factory=list)
    """Damaged captures, which were read as far as possible."""
    names: list[str] = field(default_factory=list)
    """The values of column `capture` for captures that were read or are unchanged."""
    messages: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """Duration of each step."""


class _Pipeline:
    def __init__(
        self, spark: SparkSession, run: Run, folder: Path, on_step: OnStep, memory_bytes: int
    ) -> None:
        self._spark = spark
        self._run = run
        self._folder = folder
        """A folder on the driver's disk, for progress files."""
        self._on_step = on_step
        self._memory_bytes = memory_bytes
        self._cores = parallelism(spark)
        self.outcome = Outcome()

    @contextmanager
    def _step(self, name: str, size: int = 0) -> Iterator[Path]:
        """A step, with its folder: an absolute path, because workers run elsewhere."""
        began = time.monotonic()
        place = (self._folder / name).resolve()
        place.mkdir()
        self._on_step(name, place, size)
        yield place
        self.outcome.seconds[name] = time.monotonic() - began

    def survey(self, paths: list[str], before: Manifest) -> list[Result]:
        """Surveys all captures; returns those that are readable and not unchanged in the lake."""
        jobs = [
            {
                "path": path,
                "address": str(parse(path)),
                "number": number,
                "tasks": TASKS_PER_CORE * self._cores,
            }
            for number, path in enumerate(paths)
        ]
        found = []
        with self._step("survey"):
            groups = run_tasks(self._spark, survey_captures, self._shared(jobs))
        results = [result for group in groups for result in group["captures"]]
        for result in sorted(results, key=lambda one: int(one["number"])):
            if "error" in result:
                self.outcome.failed[result["path"]] = result["error"]
            elif before.has(result["address"], result["sha256"]):
                self.outcome.unchanged.append(result["path"])
                self.outcome.names.append(before.name_at(result["address"]))
            else:
                found.append(result)
        return _with_names(found, before)

    def _shared(self, jobs: list[Job]) -> list[Job]:
        """Groups small captures: starting a task takes longer than hashing a small capture."""
        groups = grouped(jobs, self._cores, lambda job: size_of(job["path"]))
        return [{"captures": group, "staging": str(self._run.staging)} for group in groups]

    def read(self, captures: list[Result], only: Collection[str] | None) -> list[Result]:
        """The results of all tasks."""
        splits: list[Job] = []
        small: list[Job] = []
        with self._step("read", sum(one["size"] for one in captures)) as place:
            for number, capture in enumerate(captures):
                for split in range(capture["splits"]) or (None,):
                    progress = str(place / f"progress-{number}-{split or 0}")
                    one = {**capture, "split": split, "progress": progress}
                    (small if split is None else splits).append(one)
            groups = [[one] for one in splits]
            groups += grouped(small, self._cores, lambda one: one["size"])
            common = {**self._common(), "only": only and [*only]}
            jobs = [{**common, "captures": group} for group in groups]
            results = run_tasks(self._spark, make_tables, jobs)
        return [_checked(result) for result in results]

    def derive(
        self, captures: dict[str, list[Result]], files: dict[str, Any]
    ) -> dict[str, _SpanningFiles]:
        """The tables that span the splits of a capture, by its path."""
        found = {path: _SpanningFiles() for path in captures}
        jobs: list[Job] = []
        for path, parts in captures.items():
            is_closed = parts[0]["is_closed"]
            row = capture_row({**parts[0], "path": parts[0]["capture"]}, parts)
            job = {**self._common(), "path": path, "row": row}
            # Each build is a task, so that builds run in parallel.
            builds = ACROSS_SPLITS if is_closed else (TOPOLOGY,)
            jobs += [_spanning_job(job, files[path], "across", [one]) for one in builds]
            if not is_closed:
                jobs += [_spanning_job(job, files[path], "captures", [one]) for one in CROSSING]
        with self._step("derive"):
            # Builds that splits could not make alone run again over all splits.
            while jobs:
                threads = max(1, min(THREADS_MAX, self._cores // len(jobs)))
                given = [{**job, "threads": threads} for job in jobs]
                results = map(_checked, run_tasks(self._spark, derive_capture, given))
                again: list[Job] = []
                for job, result in zip(jobs, results, strict=True):
                    found[result["path"]].add(job, result)
                    again += [
                        _spanning_job(job, files[result["path"]], "captures", [one])
                        for one in CROSSING
                        if not one.makes.isdisjoint(result["crossing"])
                    ]
                jobs = again
        return found

    def _common(self) -> Job:
        return {
            "lake": str(self._run.lake),
            "staging": str(self._run.staging),
            "run": self._run.name,
            "memory_bytes": self._memory_bytes,
        }

    def publish(self, tables: _Tables) -> None:
        with self._step("publish"):
            self.outcome.version = self._run.publish(tables.rows, tables.files)


class _SpanningFiles:
    """The files of tables that span the splits of a capture."""

    def __init__(self) -> None:
        self.files: list[File] = []
        self.counts = dict(NO_QUERIES)
        self.replaced: set[str] = set()
        """Tables whose files from splits are not used, and paths of single files that are not."""

    def add(self, job: Job, result: Result) -> None:
        self.files += result["files"]
        for name, count in result["counts"].items():
            self.counts[name] += count
        if job["scope"] == "captures":
            self.replaced |= set(job["tables"]) - {_SAMPLES}
        self.replaced |= set(result["replaces"])


def _spanning_job(
    job: Job, tasks: list[list[File]], scope: str, builds: Collection[Derivation]
) -> Job:
    """A job that runs some builds, with the files that they read."""
    reads = frozenset[str]().union(*(build.reads for build in builds))
    finds_crossing = EXPLAINED_QUERIES in builds
    if finds_crossing:
        reads |= PROOFS
    chosen = [[file for file in files if file["table"] in reads] for files in tasks]
    tables = sorted(frozenset[str]().union(*(build.makes for build in builds)))
    found = {"tasks": chosen, "scope": scope, "tables": tables, "finds_crossing": finds_crossing}
    return {**job, **found}


class _Tables:
    """The results of all tasks: rows of `captures`, and files by table."""

    def __init__(self, results: list[Result], outcome: Outcome) -> None:
        self.rows: list[dict[str, Any]] = []
        self.files: Files = {}
        self.split: dict[str, list[Result]] = {}
        """Results of captures that were read in splits, by path."""
        self.staged: dict[str, list[list[File]]] = {}
        """Files of these captures, a list for each task."""
        self._outcome = outcome
        whole: list[Result] = []
        for result in results:
            for one in result["captures"]:
                if "error" in one:
                    outcome.failed[one["path"]] = one["error"]
        for result in results:
            self._sort(result, whole)
        for one in whole:
            self.add_row(one, [one], one["counts"])

    def _sort(self, result: Result, whole: list[Result]) -> None:
        is_split = any(one["split"] is not None for one in result["captures"])
        for one in result["captures"]:
            if one["path"] in self._outcome.failed:
                continue
            if is_split:
                self.split.setdefault(one["path"], []).append(one)
                self.staged.setdefault(one["path"], []).append(result["files"])
            else:
                whole.append(one)
        if not is_split:
            self.add_files(result["files"])

    def add_files(self, files: list[File]) -> None:
        for file in files:
            if file["table"] in TABLES:
                self.files.setdefault(file["table"], []).append(file)

    def add_row(self, capture: Result, parts: list[Result], counts: dict[str, int]) -> None:
        row = capture_row({**capture, "path": capture["capture"]}, parts)
        row |= {**NO_QUERIES, **counts}
        row |= {"address": capture["address"], "schema_version": SCHEMA_VERSION}
        self.rows.append(row)
        outcome = self._outcome
        outcome.messages += counts["messages"]
        outcome.read.append(capture["path"])
        outcome.names.append(capture["capture"])
        if row["error"]:
            outcome.damaged.append(capture["path"])

    def add_split(self, across: dict[str, _SpanningFiles]) -> None:
        """Adds captures that were read in splits, with the files that span these."""
        for path, parts in self.split.items():
            found = across.get(path, _SpanningFiles())
            counts = {
                name: sum(part["counts"][name] for part in parts) for name in parts[0]["counts"]
            }
            if _QUERIES in found.replaced:
                counts |= NO_QUERIES
            for name, count in found.counts.items():
                counts[name] = counts.get(name, 0) + count
            for files in self.staged[path]:
                self.add_files(
                    [one for one in files if found.replaced.isdisjoint((one["table"], one["path"]))]
                )
            self.add_files(found.files)
            self.add_row(parts[0], parts, counts)


def run(
    paths: list[str],
    lake: str | os.PathLike[str],
    spark: SparkSession,
    on_step: OnStep = lambda name, place, size: None,
    only: Collection[str] | None = None,
    memory_bytes: int = DERIVE_BYTES_MAX,
) -> Outcome:
    """Reads captures into a lake; unchanged captures that it has already are skipped.

    `only` restricts the run to some tables that need no derive step; `samples.trace_id` then does
    not connect hops. `memory_bytes` limits each step that derives tables, which spills to disk.
    """
    captures = _each_once(captures_in(paths))
    store = Store(lake)
    with (
        store.begin() as started,
        exit_cleanups.temporary_folder() as folder,
        one_line_spark_errors(),
    ):
        pipeline = _Pipeline(spark, started, folder, on_step, memory_bytes)
        outcome = pipeline.outcome
        before = store.manifest()
        outcome.version = before.version
        chosen = pipeline.survey(captures, before)
        if not chosen:
            return outcome
        tables = _Tables(pipeline.read(chosen, only), outcome)
        across = {}
        if tables.split and only is None:
            across = pipeline.derive(tables.split, tables.staged)
        tables.add_split(across)
        outcome.read.sort(key=captures.index)
        if tables.rows:
            pipeline.publish(tables)
        return outcome


def _each_once(paths: list[str]) -> list[str]:
    """The first path of each address."""
    found: dict[str, str] = {}
    for path in paths:
        found.setdefault(str(parse(path)), path)
    return [*found.values()]


def _with_names(captures: list[Result], before: Manifest) -> list[Result]:
    """Adds the value of column `capture`: the path as given, or the address if that is taken."""
    taken = {one.path: one.address for one in before.captures.values()}
    named = []
    for one in captures:
        is_free = taken.setdefault(one["path"], one["address"]) == one["address"]
        named.append({**one, "capture": one["path"] if is_free else one["address"]})
    return named


def _checked(result: Result) -> Result:
    if "failure" in result:
        raise LakeError(result["failure"])
    return result
