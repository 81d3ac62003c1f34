"""Derivation: the tasks that derive tables from a batch, and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import File, Files, files_by_table, paths_of, row_count
from zenlake.lake.follow.derive_batch import follow_task
from zenlake.lake.follow.followed_capture import FollowedCapture
from zenlake.lake.follow.settings import Settings
from zenlake.lake.jobs import Job, Result
from zenlake.lake.pipeline.failures import one_line_spark_errors
from zenlake.lake.pipeline.tasks import run_tasks
from zenlake.lake.schema.staged import STAGED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOINED_FILES: Final = 16
"""As soon as a table has so many small files, they are joined to one."""
_SESSIONS: Final = "sessions"
_SAMPLES: Final = "samples"


@dataclass
class Derived:
    """The results of the tasks of a batch."""

    is_window_full: bool = False
    """Whether the window is full: its samples are not compared with later ones."""
    settled: Files = field(default_factory=dict)
    settled_counts: dict[str, int] = field(default_factory=dict)
    settle_events: int = 0
    joined_events: dict[str, str | None] = field(default_factory=dict)
    end_samples: list[File] = field(default_factory=list)
    raw_samples: File | None = None
    files: Files = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    samples: list[File] = field(default_factory=list)
    latencies: list[File] = field(default_factory=list)
    joined: Files = field(default_factory=dict)

    def add(self, kind: str, result: Result) -> None:
        if kind == "derive":
            self.files, self.counts = files_by_table(result["files"]), result["counts"]
            self.joined_events = result["joined"]
            self.settled = files_by_table(result["settled"])
            self.settled_counts = result["settled_counts"]
            self.settle_events = result["settle_events"]
        elif kind == "publications":
            self.samples, self.latencies = result["samples"], result["latencies"]
            self.raw_samples = result["raw"]
            self.end_samples += result["end_samples"]
        else:
            self.joined[result["table"]] = [result["file"]]


class Derivation:
    """Runs tasks for one followed capture."""

    def __init__(self, spark: SparkSession, settings: Settings, capture: FollowedCapture) -> None:
        self.spark = spark
        self._settings = settings
        self._capture = capture

    def derive(self, row: dict[str, Any], new: Files, end: Files) -> Derived:
        """Runs the tasks of a batch. `row` is the row of `captures`, `new` are the batch's files,
        `end` the files of rows for a capture that ends here."""
        jobs = [self._derive_job(row, new, end)]
        state = self._capture.state
        window, end_samples = self.window(new), end.get(_SAMPLES, [])
        count = row_count(window + end_samples)
        derived = Derived(is_window_full=count > self._settings.window_samples)
        if derived.is_window_full:
            # The rows of the window become final, but not these.
            derived.end_samples, end_samples = end_samples, []
        if window or end_samples:
            jobs.append(self.job("publications", row, files=window, end_files=end_samples))
        for table, names in state.small.items():
            if len(names) >= JOINED_FILES:
                places = [str(self._capture.in_lake(table, name)) for name, _ in names]
                jobs.append(self.job("join", row, table=table, paths=places))
        for job, result in zip(jobs, self.run(jobs), strict=True):
            derived.add(job["kind"], result)
        return derived

    def _derive_job(self, row: dict[str, Any], new: Files, end: Files) -> Job:
        state = self._capture.state
        events = self._capture.folder.paths(state.events)
        end_events = {}
        for table in (*STAGED, _SESSIONS):
            events.setdefault(table, []).extend(paths_of(new.get(table, ())))
            end_events[table] = paths_of(end.get(table, ()))
        return self.job(
            "derive",
            row,
            events=events,
            end_events=end_events,
            settle_events=max(self._settings.settle_events, state.settle_events),
            settle_ns=int(self._settings.settle_s * 1e9),
            events_max=self._settings.pending_events,
        )

    def window(self, new: Files) -> list[File]:
        """Files of recent samples, as the reader wrote them."""
        folder = self._capture.folder.path
        kept = [{**one, "path": str(folder / one["path"])} for one in self._capture.state.samples]
        return kept + new.get(_SAMPLES, [])

    def job(self, kind: str, row: dict[str, Any], **arguments: Any) -> Job:
        return {
            "kind": kind,
            "staging": str(self._capture.work),
            "memory_bytes": self._settings.memory_bytes,
            "row": row,
            **arguments,
        }

    def run(self, jobs: list[Job]) -> list[Result]:
        with one_line_spark_errors():
            results = run_tasks(self.spark, follow_task, jobs)
        for result in results:
            if "failure" in result:
                raise LakeError(result["failure"])
        return results
