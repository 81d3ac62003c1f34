"""From captures to a new version of a lake, step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from zenlake.lake.pipeline.capture_rows import capture_row
from zenlake.lake.pipeline.derive import derive
from zenlake.lake.pipeline.failures import told_in_one_line
from zenlake.lake.pipeline.inputs import captures_in
from zenlake.lake.pipeline.read_task import read_capture
from zenlake.lake.pipeline.survey_task import TASKS_PER_CORE, survey_capture
from zenlake.lake.pipeline.tasks import Result, parallelism, run_tasks
from zenlake.lake.schema import TABLES
from zenlake.lake.store import CaptureFiles, LakeError, Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zenlake.lake.store import Run

Derived = dict[str, dict[str, list[Path]]]
"""Files by capture and table."""
Tell = Callable[[str, Path, int], None]
"""Told at the beginning of each step: its name, where tasks tell of progress, bytes to read."""


@dataclass
class Outcome:
    """What became of each capture that was given."""

    version: int = 0
    read: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Why, by path: these are not in the lake, or as they were before."""
    damaged: list[str] = field(default_factory=list)
    """Read as far as possible."""
    messages: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """By step."""


class _Pipeline:
    def __init__(self, spark: SparkSession, run: Run, tell: Tell) -> None:
        self._spark = spark
        self._run = run
        self._tell = tell
        self._staging = run.staging
        self.outcome = Outcome()

    def _step(self, name: str, size: int = 0) -> Path:
        """Folders are absolute: workers have working directories of their own."""
        now = time.monotonic()
        self.outcome.seconds[name] = now
        place = (self._staging / name).resolve()
        place.mkdir()
        self._tell(name, place, size)
        return place

    def _end_step(self, name: str) -> None:
        self.outcome.seconds[name] = time.monotonic() - self.outcome.seconds[name]

    def survey(self, paths: list[str]) -> list[Result]:
        """What is to be read: neither unreadable nor there already."""
        place = self._step("survey")
        tasks = TASKS_PER_CORE * parallelism(self._spark)
        jobs = [
            {"path": path, "survey": str(place / f"{number}.npz"), "tasks": tasks}
            for number, path in enumerate(paths)
        ]
        results = run_tasks(self._spark, survey_capture, jobs)
        found = []
        for job, result in zip(jobs, results, strict=True):
            if "error" in result:
                self.outcome.failed[result["path"]] = result["error"]
            else:
                found.append({**result, "survey": job["survey"]})
        self._end_step("survey")
        return found

    def read(self, captures: list[Result], only: Collection[str] | None) -> dict[str, list[Result]]:
        """The results of all splits, by capture; none of one that failed."""
        place = self._step("read", sum(one["size"] for one in captures))
        jobs = []
        for number, capture in enumerate(captures):
            splits = capture["splits"]
            for split in range(splits) if splits else (None,):
                progress = place / f"progress-{number}-{split or 0}"
                places = {"folder": str(place / "tables"), "progress": str(progress)}
                jobs.append({**capture, "split": split, **places, "only": only and [*only]})
        found: dict[str, list[Result]] = {one["path"]: [] for one in captures}
        for result in run_tasks(self._spark, read_capture, jobs):
            if "failure" in result:
                raise LakeError(result["failure"])
            if "error" in result:
                self.outcome.failed[result["path"]] = result["error"]
                found.pop(result["path"], None)
            elif result["path"] in found:
                found[result["path"]].append(result)
        self._end_step("read")
        return found

    def captures_table(self, captures: list[Result], results: dict[str, list[Result]]) -> Path:
        """One row for each; a file of its own each, and one with all for the steps."""
        place = self._step("captures")
        rows = []
        for number, capture in enumerate(captures):
            row = capture_row(capture, results[capture["path"]])
            if row["error"]:
                self.outcome.damaged.append(capture["path"])
            rows.append(row)
            _write(TABLES["captures"].arrow, [row], place / f"{number}.parquet")
        everything = place / "all.parquet"
        _write(TABLES["captures"].arrow, rows, everything)
        self._end_step("captures")
        return everything

    def derive(
        self, captures: list[Result], results: dict[str, list[Result]], captures_file: Path
    ) -> Derived:
        place = self._step("derive")
        tasks = [
            {file["table"]: [file["path"]] for file in part["files"]}
            for parts in results.values()
            for part in parts
        ]
        paths = [one["path"] for one in captures]
        found = derive(self._spark, tasks, paths, captures_file, place)
        self._end_step("derive")
        return found

    def publish(
        self,
        captures: list[Result],
        results: dict[str, list[Result]],
        derived: Derived,
        captures_file: Path,
    ) -> None:
        place = self._step("publish")
        empty = {}
        for name, table in TABLES.items():
            empty[name] = place / f"{name}.parquet"
            pq.write_table(table.arrow.empty_table(), empty[name])
        add = {}
        for number, capture in enumerate(captures):
            path = capture["path"]
            files = dict(derived[path])
            files["captures"] = [captures_file.with_name(f"{number}.parquet")]
            for part in results[path]:
                for file in part["files"]:
                    if file["table"] in TABLES and file["table"] not in derived[path]:
                        files.setdefault(file["table"], []).append(Path(file["path"]))
            rows = {name: sum(_row_count(one) for one in found) for name, found in files.items()}
            row = pq.read_table(files["captures"][0]).to_pylist()[0]
            info = {name: row[name] for name in ("packets", "first_ns", "last_ns", "read_ns")}
            info["queries"] = _queries(files.get("queries", []))
            add[path] = CaptureFiles(capture["sha256"], capture["size"], files, rows, info)
            self.outcome.messages += rows.get("messages", 0)
            self.outcome.read.append(path)
        self.outcome.version = self._run.publish(add, empty_files=empty)
        self._end_step("publish")


def run(
    paths: list[str],
    lake: str | Path,
    spark: SparkSession,
    tell: Tell = lambda name, place, size: None,
    only: Collection[str] | None = None,
) -> Outcome:
    """Read captures into a lake. What is there already, unchanged, is left as it is.

    `only` some tables of those that reading gives are made, for who needs no others; in these,
    `samples.trace_id` does not reach over hops.
    """
    captures = captures_in(paths)
    store = Store(lake)
    with store.begin() as started, told_in_one_line():
        pipeline = _Pipeline(spark, started, tell)
        outcome = pipeline.outcome
        before = store.manifest()
        surveyed = pipeline.survey(captures)
        chosen = [one for one in surveyed if not before.has(one["path"], one["sha256"])]
        outcome.unchanged = [one["path"] for one in surveyed if one not in chosen]
        outcome.version = before.version
        if not chosen:
            return outcome
        results = pipeline.read(chosen, only)
        chosen = [one for one in chosen if one["path"] in results]
        if not chosen:
            return outcome
        captures_file = pipeline.captures_table(chosen, results)
        derived: Derived = {one["path"]: {} for one in chosen}
        if only is None:
            derived = pipeline.derive(chosen, results, captures_file)
        pipeline.publish(chosen, results, derived, captures_file)
        return outcome


def _row_count(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)


def _queries(files: list[Path]) -> int:
    """How many were asked, of which `queries` has a row for each hop."""
    found = 0
    for file in files:
        rows = pq.read_table(file, columns=["seq", "trace_id"])
        is_first = pc.equal(rows["trace_id"], rows["seq"])
        found += int(pc.sum(pc.fill_null(is_first, True), min_count=0).as_py())
    return found


def _write(schema: pa.Schema, rows: list[dict[str, Any]], path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
