"""What a follower keeps between two batches, in the lake beside the tables.

    _followed/<capture>/<batch>.json    the state after this batch
    _followed/<capture>/*.parquet       events from which tables are derived again
    _followed/<capture>/lock            held while a process follows this capture

The publication of a batch names its number. The state of that batch is complete before the
publication, and the one before it is removed afterwards; files of no published batch are removed
when a follower starts.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from zenlake.lake.address import Address
from zenlake.lake.errors import LakeError
from zenlake.lake.publish.run import FOLLOWED

Paths = dict[str, list[str]]
"""Paths by table."""


@dataclass
class FollowState:
    """After a batch; number 0 is the state before the first one."""

    batch: int = 0
    packets: int = 0
    """The number of the last packet that was read."""
    segment: int = 0
    """The segment in which that packet is."""
    facts: dict[str, Any] = field(default_factory=dict)
    """About the packets that were read, as a trace has them."""
    row: dict[str, Any] = field(default_factory=dict)
    """The row of `captures`."""
    events: dict[str, list[str]] = field(default_factory=dict)
    """Names of files in the folder of the state, by table: staged events, and ended sessions."""
    pending: dict[str, list[str]] = field(default_factory=dict)
    """Names of files in the lake that the next batch replaces, by table."""
    digests: dict[str, str] = field(default_factory=dict)
    """Of the content of these files, by table."""
    small: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """Names and sizes of small files in the lake, by table; they are joined when there are many."""
    counts: dict[str, int] = field(default_factory=dict)
    """Rows that the reader has written, but those at the end of the capture."""
    queries: dict[str, int] = field(default_factory=dict)
    """Counts of queries that are settled."""
    settle_events: int = 0
    """With more events than these, rows are settled again."""
    samples: list[dict[str, Any]] = field(default_factory=list)
    """Files of recent samples in the folder of the state, which are compared with later ones."""
    end_samples: int = 0
    """The first so many pending files of `samples` are rows at the end of the capture."""
    is_compared: bool = False
    """Whether all samples of the capture were compared after the last packet."""

    def names(self) -> set[str]:
        """All files in the folder of the state."""
        events = {name for listed in self.events.values() for name in listed}
        return events | {str(one["path"]) for one in self.samples}


class StateFolder:
    """The folder of one followed capture."""

    def __init__(self, lake: Address, address: str) -> None:
        name = hashlib.sha256(address.encode()).hexdigest()[:24]
        self.path = Path((lake / FOLLOWED / name).path)
        self._address = address

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Error if another process follows the same capture into this lake."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LakeError.from_os(error, self.path) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise LakeError(f"another process follows {self._address} into this lake") from None
        finally:
            os.close(file)

    def load(self, batch: int) -> FollowState:
        """The state of a published batch; everything else in the folder is removed."""
        state = FollowState() if not batch else self._read(batch)
        self._remove_all_but({*state.names(), f"{batch}.json", "lock"})
        return state

    def _read(self, batch: int) -> FollowState:
        path = self.path / f"{batch}.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text())
            small = {table: [(a, b) for a, b in names] for table, names in found["small"].items()}
            state = FollowState(**{**found, "small": small})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            cause = "the state of the last batch is missing or damaged"
            hint = "drop the capture (zenlake lake drop) and follow it again"
            raise LakeError(f"{cause}: {hint}", path) from None
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
        """Moves a file of events into the folder; its name there."""
        name = f"{table}-{uuid4().hex}.parquet"
        os.replace(path, self.path / name)
        return name

    def link_in(self, table: str, path: str) -> str:
        """The same for a file that also goes to the lake."""
        name = f"{table}-{uuid4().hex}.parquet"
        os.link(path, self.path / name)
        return name

    def paths(self, events: dict[str, list[str]]) -> Paths:
        return {table: [str(self.path / name) for name in names] for table, names in events.items()}

    def _remove_all_but(self, names: Iterable[str]) -> None:
        kept = {*names}
        for name in os.listdir(self.path):
            if name not in kept:
                (self.path / name).unlink(missing_ok=True)
