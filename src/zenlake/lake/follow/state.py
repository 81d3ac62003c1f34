"""The state of a follower between two batches, in a folder on this machine.

    <batch>.json    the state after this batch
    *.parquet       events from which later batches derive tables again
    lock            held while a process follows this capture
    work/           files of tasks, if the lake is in a store

The publication of a batch names its number. The state of that batch is complete before the
publication, and the one before it is removed afterwards; files of no published batch are removed
when a follower starts.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from zenlake.lake.address import Address
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import Paths
from zenlake.lake.publish.run import FOLLOWED

_LOCK: Final = "lock"
_WORK: Final = "work"
_NO_LINKS: Final = {errno.EXDEV, errno.EPERM, errno.ENOTSUP}


@dataclass
class FollowState:
    """The state after a batch; batch 0 is the state before the first one."""

    recording: str = ""
    """The id of the recording; empty in states of earlier releases."""
    batch: int = 0
    packets: int = 0
    """The number of the last packet that was read."""
    segment: int = 0
    """The segment that contains that packet."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Facts of the trace about the packets that were read."""
    row: dict[str, Any] = field(default_factory=dict)
    """The row of `captures`."""
    events: dict[str, list[str]] = field(default_factory=dict)
    """Names of files in the folder of the state, by table: staged events, and ended sessions."""
    pending: dict[str, list[str]] = field(default_factory=dict)
    """Names of files in the lake that the next batch replaces, by table."""
    digests: dict[str, str] = field(default_factory=dict)
    """Digests of the content of these files, by table."""
    small: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """Names and sizes of small files in the lake, by table, which are joined when they are many."""
    counts: dict[str, int] = field(default_factory=dict)
    """The number of rows that the reader has written, without those for the capture's end."""
    queries: dict[str, int] = field(default_factory=dict)
    """Counts of queries that are settled."""
    settle_events: int = 0
    """The number of events above which rows are settled again."""
    samples: list[dict[str, Any]] = field(default_factory=list)
    """Files of recent samples in the folder of the state; they are compared with later samples."""
    end_samples: int = 0
    """How many pending files of `samples`, from the first, have rows for the capture's end."""
    is_compared: bool = False
    """Whether all samples of the capture were compared after the last packet."""

    def names(self) -> set[str]:
        """All files in the folder of the state."""
        events = {name for listed in self.events.values() for name in listed}
        return events | {str(one["path"]) for one in self.samples}


def state_folder(lake: Address, recording: str, given: str | None) -> StateFolder:
    """The folder of one recording in one lake; both are addresses.

    It is in the lake, or, for a lake in a store, in the `given` folder or beside the recording.
    """
    if lake.is_local:
        if given is not None:
            cause = "the folder of the state is for a lake in a store: this lake has its own"
            raise LakeError(f"{cause} ({FOLLOWED})", lake)
        return StateFolder(Path((lake / FOLLOWED / _hashed(recording)).path), recording)
    place = Path(given) if given is not None else Path(f"{recording}.followed")
    # Several recordings and several lakes may share the folder.
    return StateFolder(place / _hashed(f"{lake} {recording}"), recording)


class StateFolder:
    """The folder of one followed capture."""

    def __init__(self, path: Path, address: str) -> None:
        self.path = path
        self.work = path / _WORK
        """The folder for files of tasks."""
        self._address = address

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the state; an error if another process follows the same capture into this lake."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LakeError.from_os(error, self.path) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise LakeError(f"another process follows {self._address} into this lake") from None
        finally:
            os.close(file)

    def load(self, batch: int, recording: str) -> FollowState:
        """The state of a published batch; removes everything else from the folder."""
        state = FollowState() if not batch else self._read(batch, recording)
        self._remove_all_but({*state.names(), f"{batch}.json", _LOCK})
        return state

    def clear(self) -> None:
        self._remove_all_but({_LOCK})

    def _read(self, batch: int, recording: str) -> FollowState:
        path = self.path / f"{batch}.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text())
            small = {table: [(a, b) for a, b in names] for table, names in found["small"].items()}
            state = FollowState(**{**found, "small": small})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise LakeError("the state of the last version is missing or damaged", path) from None
        if state.recording not in ("", recording):
            raise LakeError("the state is that of another recording", path)
        for name in state.names():
            if not (self.path / name).is_file():
                raise LakeError("a file of the state is missing", self.path / name)
        return state

    def save(self, state: FollowState) -> None:
        """Writes the state of a batch that is about to be published."""
        path = self.path / f"{state.batch}.json"
        made = path.with_suffix(".tmp")
        with open(made, "w") as file:
            json.dump(asdict(state), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)

    def forget(self, state: FollowState, newer: FollowState) -> None:
        """Removes the state of an older batch, when the newer one is published."""
        for name in (*(state.names() - newer.names()), f"{state.batch}.json"):
            (self.path / name).unlink(missing_ok=True)

    def move_in(self, table: str, path: str) -> str:
        """Moves a file of events into the folder; returns its name there."""
        name = f"{table}-{uuid4().hex}.parquet"
        shutil.move(path, self.path / name)
        return name

    def link_in(self, table: str, path: str) -> str:
        """Adds a file that also goes to the lake, as a link or copy; returns its name."""
        name = f"{table}-{uuid4().hex}.parquet"
        try:
            os.link(path, self.path / name)
        except OSError as error:
            # The folder of the state may be on another disk, or on one without links.
            if error.errno not in _NO_LINKS:
                raise
            shutil.copyfile(path, self.path / name)
        return name

    def paths(self, events: Paths) -> Paths:
        return {table: [str(self.path / name) for name in names] for table, names in events.items()}

    def _remove_all_but(self, names: Iterable[str]) -> None:
        kept = {*names}
        for name in os.listdir(self.path):
            if name == _WORK:
                shutil.rmtree(self.work, ignore_errors=True)
            elif name not in kept:
                (self.path / name).unlink(missing_ok=True)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
