"""Follower: reads on in a recording, derives tables on Spark, and publishes a version."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from zenlake.lake.address import parse
from zenlake.lake.errors import LakeError
from zenlake.lake.follow.derive_batch import follow_task
from zenlake.lake.follow.growing_reader import ROWS_MAX
from zenlake.lake.follow.old_files import KEEP_SECONDS, OldFiles
from zenlake.lake.follow.reader_client import ReaderClient, ReaderDied
from zenlake.lake.follow.recordings import first_segment, recording_id, size_of
from zenlake.lake.follow.state import FollowState, StateFolder
from zenlake.lake.jobs import Job, Result
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.pipeline.failures import one_line_spark_errors
from zenlake.lake.pipeline.tasks import run_tasks
from zenlake.lake.publish import Run, Store
from zenlake.lake.publish.appender import Appended, Batch
from zenlake.lake.publish.delta_table import Table
from zenlake.lake.publish.publisher import SMALL_BYTES, is_pending
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.published import READ_COUNTS
from zenlake.lake.schema.staged import STAGED
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION
from zenlake.limits import (
    DERIVE_BYTES_MAX,
    FOLLOW_COMPARED_SAMPLES_MAX,
    FOLLOW_PENDING_EVENTS_MAX,
    FOLLOW_REPLAY_BYTES_MAX,
    FOLLOW_WINDOW_SAMPLES_MAX,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY_SECONDS: Final = 3.0
SETTLE_SECONDS: Final = 60.0
SETTLE_EVENTS: Final = 50_000
"""Fewer events are derived again faster than they are settled."""
JOINED_FILES: Final = 16
"""So many small files of a table are joined to one."""
STOP_SECONDS_MAX: Final = 60.0
"""When it is stopped, a follower reads what was recorded until then, but not for longer than this.
The next one goes on there."""
_LOOK_SECONDS: Final = 0.1
_READER_STARTS_MAX: Final = 3
"""Readers that may die one after the other, without a version in between."""
_SESSIONS: Final = "sessions"
_SAMPLES: Final = "samples"
_LATENCIES: Final = "latencies"

Files = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Settings:
    every_s: float = EVERY_SECONDS
    keep_s: float = KEEP_SECONDS
    """Files of older versions are deleted after this time."""
    memory_bytes: int = DERIVE_BYTES_MAX
    rows_max: int = ROWS_MAX
    replay_bytes: int = FOLLOW_REPLAY_BYTES_MAX
    """Bytes of the recording that are read again at the start."""
    settle_s: float = SETTLE_SECONDS
    """Rows are settled so long after their end."""
    settle_events: int = SETTLE_EVENTS
    """With more events, rows are settled."""
    pending_events: int = FOLLOW_PENDING_EVENTS_MAX
    """With more events that cannot be settled, the oldest are given up."""
    window_samples: int = FOLLOW_WINDOW_SAMPLES_MAX
    """Recent samples that are compared with each other in every version."""
    compared_samples: int = FOLLOW_COMPARED_SAMPLES_MAX
    """Samples of a capture that are compared with each other at the end."""
    until_end: bool = False
    """Whether to stop when the recording was closed in order."""


@dataclass
class Progress:
    """After a version was published."""

    version: int
    batch: int
    packets: int
    messages: int
    last_ns: int | None
    seconds: dict[str, float] = field(default_factory=dict)


class Follower:
    """One recording and one lake; `step` publishes a version."""

    def __init__(
        self, path: str, store: Store, run: Run, spark: SparkSession, settings: Settings
    ) -> None:
        self._path = path
        self._spark = spark
        self._run = run
        self._settings = settings
        self._address = str(parse(path))
        self._recording = recording_id(path)
        self._capture = _name_of(store, path, self._address)
        self._folder = StateFolder(run.lake, self._address)
        self._staging = Path(run.staging.path)
        self._reader: ReaderClient | None = None
        self._deaths = 0
        self.is_ended = False
        """Whether the recording was closed in order, and all of it was read."""
        self.is_complete = False
        """Whether the last step read everything that there was."""
        self._store = store
        self._state = FollowState()
        self._old = OldFiles(run.lake, settings.keep_s)

    @contextmanager
    def opened(self) -> Iterator[None]:
        with self._folder.locked():
            mark = self._store.followed(self._address)
            if mark is not None and mark["recording"] != self._recording:
                cause = f"{self._path} is another recording than the one that the lake has"
                hint = f"drop that first: zenlake lake drop {self._capture}"
                raise LakeError(f"{cause} under this name; {hint}")
            self._state = self._folder.load(0 if mark is None else int(mark["batch"]))
            self._old.delete_left_behind()
            try:
                yield
            finally:
                self._close_reader()

    @property
    def packets(self) -> int:
        return self._state.packets

    def step(self) -> Progress | None:
        """Reads on and publishes; None if there is nothing new."""
        seconds: dict[str, float] = {}
        before = self._state
        folder = self._staging / f"batch-{before.batch + 1}"
        with _timed(seconds, "read"):
            found = self._read(folder)
        if found is None:
            return None
        self.is_ended, self.is_complete = found["is_ended"], found["is_complete"]
        if found["packets"] == before.packets and before.batch:
            shutil.rmtree(folder, ignore_errors=True)
            return None
        new, end = _by_table(found["files"]), _by_table(found["end_files"])
        row = self._capture_row(found, new, end)
        with _timed(seconds, "derive"):
            derived = self._derive(row, new, end)
        with _timed(seconds, "publish"):
            version = self._publish(found, row, new, end, derived)
        shutil.rmtree(folder, ignore_errors=True)
        self._deaths = 0
        return Progress(
            version,
            self._state.batch,
            self._state.packets,
            int(row["messages"]),
            row["last_ns"],
            seconds,
        )

    # --- read --------------------------------------------------------------------------------

    def _read(self, folder: Path) -> Result | None:
        try:
            if self._reader is None:
                self._reader = ReaderClient(self._start())
            return self._reader.step(folder, self._settings.rows_max)
        except ReaderDied as died:
            self._close_reader()
            shutil.rmtree(folder, ignore_errors=True)
            self._deaths += 1
            if self._deaths >= _READER_STARTS_MAX:
                cause = f"the reader died {self._deaths} times ({died})"
                raise LakeError(f"{self._path} cannot be read: {cause}") from None
            return None

    def _start(self) -> dict[str, Any]:
        bytes_max = self._settings.replay_bytes
        return {
            "path": self._path,
            "capture": self._capture,
            "packets": self._state.packets,
            "segment": first_segment(self._path, self._state.segment, bytes_max),
            "facts": self._state.facts,
        }

    def kill_reader(self) -> None:
        """For tests: the next step notices that the reader is gone."""
        if self._reader is not None:
            os.kill(self._reader.pid, signal.SIGKILL)

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _capture_row(self, found: Result, new: Files, end: Files) -> dict[str, Any]:
        facts = {"path": self._capture, "sha256": None, "size": size_of(self._path)}
        row = capture_row(facts, [found])
        counts = {
            name: self._state.counts.get(name, 0) + _rows(new, name) + _rows(end, name)
            for name in READ_COUNTS
        }
        row |= {"queries": 0, "hops": 0, **counts}
        return row | {"address": self._address, "schema_version": SCHEMA_VERSION}

    # --- derive ------------------------------------------------------------------------------

    def _derive(self, row: dict[str, Any], new: Files, end: Files) -> _Derived:
        jobs = [self._derive_job(row, new, end)]
        window, end_samples = self._window(new), end.get(_SAMPLES, [])
        count = _rows({_SAMPLES: window + end_samples}, _SAMPLES)
        derived = _Derived(is_window_full=count > self._settings.window_samples)
        if derived.is_window_full:
            # The rows of the window become final, and these do not.
            derived.end_samples, end_samples = end_samples, []
        if window or end_samples:
            jobs.append(self._job("publications", row, files=window, end_files=end_samples))
        for table, names in self._state.small.items():
            if len(names) >= JOINED_FILES:
                paths = [str(self._in_lake(table, name)) for name, _ in names]
                jobs.append(self._job("join", row, table=table, paths=paths))
        for job, result in zip(jobs, self._run_tasks(jobs), strict=True):
            if job["kind"] == "derive":
                derived.files, derived.counts = _by_table(result["files"]), result["counts"]
                derived.joined_events = result["joined"]
                derived.settled = _by_table(result["settled"])
                derived.settled_counts = result["settled_counts"]
                derived.settle_events = result["settle_events"]
            elif job["kind"] == "publications":
                derived.samples, derived.latencies = result["samples"], result["latencies"]
                derived.raw_samples = result["raw"]
                derived.end_samples += result["end_samples"]
            else:
                derived.joined[result["table"]] = [result["file"]]
        return derived

    def _derive_job(self, row: dict[str, Any], new: Files, end: Files) -> Job:
        events = self._folder.paths(self._state.events)
        end_events = {}
        for table in (*STAGED, _SESSIONS):
            events.setdefault(table, []).extend(_paths(new, table))
            end_events[table] = _paths(end, table)
        return self._job(
            "derive",
            row,
            events=events,
            end_events=end_events,
            settle_events=max(self._settings.settle_events, self._state.settle_events),
            settle_ns=int(self._settings.settle_s * 1e9),
            events_max=self._settings.pending_events,
        )

    def _window(self, new: Files) -> list[dict[str, Any]]:
        """Files of recent samples, as the reader wrote them."""
        kept = [
            {**one, "path": str(self._folder.path / one["path"])} for one in self._state.samples
        ]
        return kept + new.get(_SAMPLES, [])

    def _job(self, kind: str, row: dict[str, Any], **arguments: Any) -> Job:
        return {
            "kind": kind,
            "staging": str(self._run.staging),
            "memory_bytes": self._settings.memory_bytes,
            "row": row,
            **arguments,
        }

    def _run_tasks(self, jobs: list[Job]) -> list[Result]:
        with one_line_spark_errors():
            results = run_tasks(self._spark, follow_task, jobs)
        for result in results:
            if "failure" in result:
                raise LakeError(result["failure"])
        return results

    def _in_lake(self, table: str, name: str) -> Path:
        return Path((self._run.lake / table / name).path)

    # --- publish -----------------------------------------------------------------------------

    def _publish(
        self,
        found: Result,
        row: dict[str, Any],
        new: Files,
        end: Files,
        derived: _Derived,
    ) -> int:
        before = self._state
        state = FollowState(
            batch=before.batch + 1,
            packets=found["packets"],
            segment=found["segment"],
            facts=found["trace"],
            row={**row, **_sums(before.queries, derived.settled_counts, derived.counts)},
            queries=_sums(before.queries, derived.settled_counts),
            settle_events=derived.settle_events,
            events=self._kept_events(new, derived.joined_events),
            counts={name: before.counts.get(name, 0) + _rows(new, name) for name in READ_COUNTS},
            small=before.small,
        )
        files = _together(
            {table: listed for table, listed in new.items() if table in TABLES}, derived.settled
        )
        at_end = {table: listed for table, listed in end.items() if table in TABLES}
        pending = _together({**at_end, _SAMPLES: derived.end_samples}, derived.files)
        state.end_samples = len(derived.end_samples)
        publications = {_SAMPLES: derived.samples, _LATENCIES: derived.latencies}
        files.pop(_SAMPLES, None)
        if derived.is_window_full:
            files |= publications
        else:
            pending = _together(pending, publications)
            state.samples = self._kept_samples(new, derived.raw_samples)
        state.digests = {table: _digest(listed) for table, listed in pending.items() if listed}
        same = {
            table for table, digest in state.digests.items() if before.digests.get(table) == digest
        }
        state.pending = {table: before.pending[table] for table in same}
        return self._append(
            state,
            Batch(
                row=state.row,
                mark=self._mark(state),
                files=files,
                pending={table: listed for table, listed in pending.items() if table not in same},
                removed={
                    table: names for table, names in before.pending.items() if table not in same
                },
                joined={table: [one for one, _ in before.small[table]] for table in derived.joined},
                joined_files=derived.joined,
            ),
        )

    def _mark(self, state: FollowState) -> dict[str, Any]:
        return {"batch": state.batch, "packets": state.packets, "recording": self._recording}

    def _append(self, state: FollowState, batch: Batch) -> int:
        before = self._state

        def save(appended: Appended) -> None:
            """The state is complete before the batch is visible."""
            self._folder.save(_with_names(state, appended))

        appended = self._run.append(replace(batch, before_commit=save))
        self._state = _with_names(state, appended)
        self._folder.forget(before, self._state)
        for table, names in batch.removed.items():
            self._old.add(table, names)
        for table in appended.joined:
            self._old.add(table, batch.joined[table])
        self._old.delete_expired()
        return appended.version

    def _kept_events(self, new: Files, joined: dict[str, str | None]) -> dict[str, list[str]]:
        """Names of files of events, in the folder of the state."""
        kept: dict[str, list[str]] = {}
        for table in (*STAGED, _SESSIONS):
            if table in joined:
                path = joined[table]
                kept[table] = [] if path is None else [self._folder.move_in(table, path)]
                continue
            # Files of sessions go to the lake, too.
            put = self._folder.link_in if table == _SESSIONS else self._folder.move_in
            names = [put(table, path) for path in _paths(new, table)]
            kept[table] = [*self._state.events.get(table, ()), *names]
        return kept

    def _kept_samples(self, new: Files, raw: dict[str, Any] | None) -> list[dict[str, Any]]:
        if raw is not None:
            return [{**raw, "path": self._folder.move_in(_SAMPLES, raw["path"])}]
        added = [
            {**file, "path": self._folder.move_in(_SAMPLES, str(file["path"]))}
            for file in new.get(_SAMPLES, ())
        ]
        return [*self._state.samples, *added]

    # --- all publications --------------------------------------------------------------------

    def compare_all_samples(self) -> int | None:
        """Compares all samples of the capture, and not only recent ones, for `trace_id` and
        latencies; the number of the new version, if that changes any row."""
        before = self._state
        count = before.counts.get(_SAMPLES, 0)
        is_done = before.is_compared or _rows({_SAMPLES: before.samples}, _SAMPLES) == count
        if not before.batch or is_done or count > self._settings.compared_samples:
            return None
        known = before.pending.get(_SAMPLES, [])
        at_end, recent = known[: before.end_samples], known[before.end_samples :]
        names = [*self._files_of_samples(), *at_end]
        paths = {str(self._in_lake(_SAMPLES, name)): name for name in names}
        files, window = [{"path": path} for path in paths], self._window({})
        job = self._job("all_publications", before.row, files=files, window=window)
        [result] = self._run_tasks([job])
        replaced = {paths[path] for path in result["replaced"]}
        changed = dict(zip(sorted(result["replaced"]), result["samples"], strict=False))
        # Rows that the end of the capture adds stay pending.
        end_files = [one for path, one in changed.items() if paths[path] in at_end]
        at_end = [name for name in at_end if name not in replaced]
        state = replace(
            before,
            batch=before.batch + 1,
            samples=[],
            is_compared=True,
            pending=_without({**before.pending, _SAMPLES: at_end}, _LATENCIES),
            digests=_without(before.digests, _LATENCIES, _SAMPLES),
        )
        state.small = {
            **before.small,
            _SAMPLES: [one for one in before.small.get(_SAMPLES, ()) if one[0] not in replaced],
            _LATENCIES: [],
        }
        batch = Batch(
            row=before.row,
            mark=self._mark(state),
            files={
                _SAMPLES: [one for one in result["samples"] if one not in end_files],
                _LATENCIES: result["latencies"],
            },
            pending={_SAMPLES: end_files},
            removed={_SAMPLES: [*replaced, *recent]},
            cleared=frozenset({_LATENCIES}),
        )
        return self._append(state, batch)

    def _files_of_samples(self) -> list[str]:
        """Names of the files with final samples of the capture.

        A file may have rows of other captures too, which then need all of their own files.
        """
        table = Table.open(self._run.lake / _SAMPLES)
        files = [] if table is None else table.active_files()
        own = [one for one in files if one.first_capture == one.last_capture == self._capture]
        others = [one for one in files if one not in own]
        may_hold = [
            one
            for one in others
            if one.first_capture is None
            or one.last_capture is None
            or one.first_capture <= self._capture <= one.last_capture
        ]
        chosen = files if may_hold else own
        return [one.name for one in chosen if not is_pending(one.name)]


@dataclass
class _Derived:
    """What the tasks of a batch made."""

    is_window_full: bool = False
    """Whether recent samples are not compared with later ones any more."""
    settled: Files = field(default_factory=dict)
    settled_counts: dict[str, int] = field(default_factory=dict)
    settle_events: int = 0
    joined_events: dict[str, str | None] = field(default_factory=dict)
    end_samples: list[dict[str, Any]] = field(default_factory=list)
    raw_samples: dict[str, Any] | None = None
    files: Files = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)
    latencies: list[dict[str, Any]] = field(default_factory=list)
    joined: Files = field(default_factory=dict)


class Stop:
    """A request to stop. A signal handler may make it: no lock is needed."""

    def __init__(self) -> None:
        self.is_requested = False

    def request(self) -> None:
        self.is_requested = True

    def wait(self, seconds: float) -> None:
        """Returns early if a stop is requested."""
        until = time.monotonic() + seconds
        while not self.is_requested and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK_SECONDS))


def follow(
    paths: Sequence[str],
    lake: str | os.PathLike[str],
    spark: SparkSession,
    stop: Stop,
    settings: Settings | None = None,
    on_version: Callable[[str, Progress], None] = lambda path, progress: None,
) -> int:
    """Follows recordings until `stop` is set, and then reads what they have by then.

    Returns the number of the last version.
    """
    settings = settings or Settings()
    store = Store(lake)
    if not store.address.is_local:
        raise LakeError("only a lake in a folder can be followed into", lake)
    with store.begin() as run, ExitStack() as opened:
        followers = {path: Follower(path, store, run, spark, settings) for path in paths}
        for follower in followers.values():
            opened.enter_context(follower.opened())
        deadline: float | None = None
        while followers:
            began = time.monotonic()
            if stop.is_requested and deadline is None:
                deadline = began + STOP_SECONDS_MAX
            for path, follower in [*followers.items()]:
                progress = follower.step()
                if progress is not None:
                    on_version(path, progress)
                is_late = deadline is not None and time.monotonic() > deadline
                if is_late or _is_done(follower, deadline, settings):
                    follower.compare_all_samples()
                    del followers[path]
            if all(one.is_complete for one in followers.values()) and deadline is None:
                stop.wait(max(0.0, settings.every_s - (time.monotonic() - began)))
    return store.version() or 0


def _is_done(follower: Follower, deadline: float | None, settings: Settings) -> bool:
    if not follower.is_complete:
        return False
    return deadline is not None or (settings.until_end and follower.is_ended)


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        seconds[name] = time.monotonic() - began


def _with_names(state: FollowState, appended: Appended) -> FollowState:
    """The state with the names that files got in the lake."""
    pending = {table: [*names] for table, names in appended.pending.items() if names}
    small: dict[str, list[tuple[str, int]]] = {}
    for table in TABLES:
        known = [] if table in appended.joined else state.small.get(table, [])
        added = [one for one in appended.names.get(table, ()) if one[1] < SMALL_BYTES]
        if known or added:
            small[table] = [*known, *added]
    kept = {
        table: [*state.pending.get(table, ()), *pending.get(table, ())]
        for table in {**state.pending, **pending}
    }
    return replace(state, pending={table: one for table, one in kept.items() if one}, small=small)


def _name_of(store: Store, path: str, address: str) -> str:
    """The name in tables: the path as given, or the address if that name is taken."""
    known = store.manifest().captures
    taken = known.get(path)
    return path if taken is None or taken.address == address else address


def _by_table(files: list[dict[str, Any]]) -> Files:
    found: Files = {}
    for file in files:
        found.setdefault(file["table"], []).append(file)
    return found


def _together(one: Files, other: Files) -> Files:
    return {table: [*one.get(table, ()), *other.get(table, ())] for table in {**one, **other}}


def _rows(files: Files, table: str) -> int:
    return sum(int(file["rows"]) for file in files.get(table, ()))


def _sums(*counts: dict[str, int]) -> dict[str, int]:
    return {name: sum(one.get(name, 0) for one in counts) for name in ("queries", "hops")}


def _paths(files: Files, table: str) -> list[str]:
    return [str(file["path"]) for file in files.get(table, ())]


def _without(found: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in names}


def _digest(files: list[dict[str, Any]]) -> str:
    found = hashlib.sha256()
    for file in files:
        with open(file["path"], "rb") as content:
            found.update(content.read())
    return found.hexdigest()
