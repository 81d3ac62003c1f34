"""Follower: reads new packets of a recording, derives tables, and publishes versions of a lake."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from zenlake.capture.recordings import recording_bytes
from zenlake.lake.address import parse
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import File, Files, files_by_table, row_count
from zenlake.lake.follow.all_samples import compare_all, uncompared_samples
from zenlake.lake.follow.derivation import Derivation
from zenlake.lake.follow.followed_capture import FollowedCapture
from zenlake.lake.follow.reader_client import ReaderClient, ReaderDied
from zenlake.lake.follow.recordings import first_segment, is_whole, recording_id
from zenlake.lake.follow.settings import Progress, Settings
from zenlake.lake.follow.state import FollowState, state_folder
from zenlake.lake.jobs import Result
from zenlake.lake.merge.capture_rows import capture_row
from zenlake.lake.pipeline.table_task import NO_QUERIES
from zenlake.lake.publish import Run, Store
from zenlake.lake.schema.published import READ_COUNTS
from zenlake.lake.schema.table import VERSION as SCHEMA_VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_READER_STARTS_MAX: Final = 3
"""The number of readers that may die in succession without a version between them."""

Note = Callable[[str], None]
"""Called with one line for the user."""


class Follower:
    """One recording and one lake; `step` publishes a version."""

    def __init__(
        self,
        path: str,
        store: Store,
        run: Run,
        spark: SparkSession,
        settings: Settings,
        note: Note = lambda text: None,
    ) -> None:
        self._path = path
        self._settings = settings
        self._store = store
        self._note = note
        self._address = str(parse(path))
        name = _name_of(store, path, self._address)
        folder = state_folder(run.lake, self._address, settings.state)
        self._capture = FollowedCapture(run, folder, name, recording_id(path), settings.keep_s)
        self._derivation = Derivation(spark, settings, self._capture)
        self._reader: ReaderClient | None = None
        self._deaths = 0
        self._published_packets = 0
        """If the state was lost: the number of packets to read before the next version."""
        self.is_ended = False
        """Whether the recorder closed the recording in order, and all of it was read."""
        self.is_complete = False
        """Whether the last step read all packets of the recording."""

    @contextmanager
    def opened(self) -> Iterator[None]:
        capture = self._capture
        with capture.locked():
            mark = self._store.followed(self._address)
            if mark is not None and mark["recording"] != capture.recording:
                cause = f"{self._path} is another recording than the one that the lake has"
                hint = f"drop that first: zenlake lake drop {capture.name}"
                raise LakeError(f"{cause} under this name; {hint}")
            batch = 0 if mark is None else int(mark["batch"])
            try:
                capture.state = capture.folder.load(batch, capture.recording)
            except LakeError as error:
                assert mark is not None
                self._begin_again(batch, int(mark["packets"]), error)
            capture.old.delete_left_behind()
            try:
                yield
            finally:
                self._close_reader()

    def _begin_again(self, batch: int, packets: int, error: LakeError) -> None:
        """Starts anew after the state was lost. The next batch replaces all rows, if all segments
        still exist."""
        if not is_whole(self._path):
            hint = "and the first segments are deleted: drop the capture (zenlake lake drop)"
            raise LakeError(f"{error.cause}, {hint} and follow it again", error.place)
        self._note(f"{error}: the recording is read again to packet {packets:,}")
        self._capture.folder.clear()
        self._capture.state = FollowState(batch=batch)
        self._capture.is_lost = True
        self._published_packets = packets

    @property
    def packets(self) -> int:
        return self._capture.state.packets

    def step(self) -> Progress | None:
        """Reads new packets and publishes a version; None if there are no new packets."""
        seconds: dict[str, float] = {}
        before = self._capture.state
        folder = self._capture.work / f"batch-{before.batch + 1}"
        with _timed(seconds, "read"):
            found = self._read(folder)
        if found is None:
            return None
        self.is_ended, self.is_complete = found["is_ended"], found["is_complete"]
        if found["packets"] == before.packets and before.batch:
            shutil.rmtree(folder, ignore_errors=True)
            return None
        new, end = files_by_table(found["files"]), files_by_table(found["end_files"])
        row = self._capture_row(found, new, end)
        with _timed(seconds, "derive"):
            derived = self._derivation.derive(row, new, end)
        with _timed(seconds, "publish"):
            appended = self._capture.publish(found, row, new, end, derived)
        shutil.rmtree(folder, ignore_errors=True)
        self._deaths = 0
        return self._progress(appended.version, seconds)

    def compare_all_samples(self, samples_max: int | None = None) -> Progress | None:
        """Compares all samples of the capture, not only recent ones, for `trace_id` and latencies,
        if that may change a row. For more than `samples_max` samples it only prints a note."""
        count = uncompared_samples(self._capture)
        if not count:
            return None
        if samples_max is not None and count > samples_max:
            cause = (
                f"only recent ones of {count:,} samples were compared for trace_id and latencies"
            )
            lake = self._store.given
            hint = f"zenlake pipeline --follow {self._path} --lake {lake} --until-end"
            self._note(f"{self._path}: {cause}; {hint} compares all of them")
            return None
        seconds: dict[str, float] = {}
        with _timed(seconds, "compare"):
            appended = compare_all(self._capture, self._derivation)
        return self._progress(appended.version, seconds)

    def _progress(self, version: int, seconds: dict[str, float]) -> Progress:
        state = self._capture.state
        messages, last_ns = int(state.row["messages"]), state.row["last_ns"]
        return Progress(version, state.batch, state.packets, messages, last_ns, seconds)

    # --- read --------------------------------------------------------------------------------

    def _read(self, folder: Path) -> Result | None:
        """Reads new packets; after a loss of the state, up to the packet of the last version."""
        files: list[File] = []
        while True:
            found = self._read_once(folder)
            if found is None:
                return None
            files += found["files"]
            if found["packets"] >= self._published_packets:
                return {**found, "files": files}
            if found["is_complete"]:
                cause = f"it ends at packet {found['packets']}"
                cause += f", and the lake has {self._published_packets}"
                raise LakeError(f"the recording is another one, or was cut: {cause}", self._path)

    def _read_once(self, folder: Path) -> Result | None:
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
        state = self._capture.state
        return {
            "path": self._path,
            "capture": self._capture.name,
            "packets": state.packets,
            "segment": first_segment(self._path, state.segment, self._settings.replay_bytes),
            "facts": state.facts,
        }

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _capture_row(self, found: Result, new: Files, end: Files) -> dict[str, Any]:
        facts = {"path": self._capture.name, "sha256": None, "size": recording_bytes(self._path)}
        row = capture_row(facts, [found])
        known = self._capture.state.counts
        counts = {
            name: known.get(name, 0) + row_count([*new.get(name, ()), *end.get(name, ())])
            for name in READ_COUNTS
        }
        row |= {**NO_QUERIES, **counts}
        return row | {"address": self._address, "schema_version": SCHEMA_VERSION}


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        seconds[name] = time.monotonic() - began


def _name_of(store: Store, path: str, address: str) -> str:
    """The name in tables: the path as given, or the address if that name is taken."""
    known = store.manifest().captures
    taken = known.get(path)
    return path if taken is None or taken.address == address else address
