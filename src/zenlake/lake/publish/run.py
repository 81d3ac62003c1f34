"""Run: one change of a lake, from the folder for its files to the publication."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from zenlake import exit_cleanups
from zenlake.lake.address import Address
from zenlake.lake.errors import LakeError
from zenlake.lake.file_lists import Files
from zenlake.lake.publish.publication_log import host_name, process_start
from zenlake.lake.stored_files import modified_s, names_in, remove_folder

if TYPE_CHECKING:
    from zenlake.lake.publish.appender import Appended, Batch
    from zenlake.lake.publish.publisher import Publisher

STAGING: Final = "_staging"
FOLLOWED: Final = "_followed"
"""The folder with the state of followers between batches."""
_FULL: Final = {errno.ENOSPC, errno.EDQUOT}
_STALE_SECONDS: Final = 2 * 86_400
"""Folders of runs on other hosts are removed after this time."""


class Run:
    """One change of a lake; created by `Store.begin`."""

    def __init__(self, lake: Address, name: str) -> None:
        self.lake = lake
        self.name = name
        """A unique name, with which the names of files and transactions begin."""
        self.staging = lake / STAGING / name
        """The folder for unpublished files."""

    def publish(
        self,
        captures: Sequence[Mapping[str, Any]] = (),
        files: Files | None = None,
        remove: AbstractSet[str] = frozenset(),
    ) -> int:
        """Publishes the next version, all tables at once; returns its number.

        `captures` are rows of that table, for captures that are added or replaced. `files` are the
        files of the other tables: `path` (in `staging`, or in its table's folder already), `rows`,
        `size` and `stats`. Captures in `remove` are removed. Without a change there is no new
        version. After a failure, or if the process is killed, the current version stays.
        """
        return self._publisher().publish(captures, files or {}, frozenset(remove))

    def append(self, batch: Batch) -> Appended:
        """Adds a batch of rows to a capture that grows, in one publication."""
        from zenlake.lake.publish.appender import Appender

        # If this run dies while it publishes, the next one finds its files by its name.
        name = f"{self.name}-{batch.mark['batch']}"
        return Appender(self.lake, name, self.staging).append(batch)

    def compact(self) -> int:
        """Joins small files; returns the number of the new version."""
        return self._publisher().compact()

    def vacuum(self, hours: int) -> dict[str, int]:
        """Deletes files that no version of the last `hours` needs; returns counts by table."""
        return self._publisher().vacuum(hours)

    def _publisher(self) -> Publisher:
        from zenlake.lake.publish.publisher import Publisher

        return Publisher(self.lake, self.name, self.staging)


@contextmanager
def running(lake: Address) -> Iterator[Run]:
    """A run and its folder, which is removed at the end."""
    pid = os.getpid()
    name = f"{host_name()}-{pid}-{process_start(pid)}-{uuid4().hex[:12]}"
    run = Run(lake, name)
    is_new = lake.is_local and not os.path.exists(lake.path)

    def tidy_up() -> None:
        remove_folder(run.staging)
        if lake.is_local:
            with suppress(OSError):  # not empty: other runs use it
                os.rmdir((lake / STAGING).path)
            if is_new:
                with suppress(OSError):  # not empty: it contains a lake
                    os.rmdir(lake.path)

    cleanup = exit_cleanups.register(tidy_up)
    try:
        if lake.is_local:
            _make_folder(run.staging)
        _remove_left_behind(lake)
        yield run
    except OSError as error:
        # A full disk becomes an error of the lake, whatever file the caller was writing.
        if error.errno in _FULL:
            raise LakeError.from_os(error, lake) from error
        raise
    finally:
        tidy_up()
        exit_cleanups.forget(cleanup)


def _make_folder(folder: Address) -> None:
    try:
        Path(folder.path).mkdir(parents=True)
    except OSError as error:
        raise LakeError.from_os(error, folder) from error


def _remove_left_behind(lake: Address) -> None:
    """Removes the folders of dead runs of this host, and old folders of other hosts."""
    for name in names_in(lake / STAGING):
        host, pid, start = _parts(name)
        place = lake / STAGING / name
        if host == host_name():
            is_dead = not start or process_start(pid) != start
        else:
            is_dead = _is_stale(place)
        if is_dead:
            remove_folder(place)


def _parts(name: str) -> tuple[str, int, str]:
    words = name.rsplit("-", 3)
    if len(words) < 4 or not words[1].isdecimal():
        return "", 0, ""
    return words[0], int(words[1]), words[2]


def _is_stale(place: Address) -> bool:
    try:
        return time.time() - modified_s(place) > _STALE_SECONDS
    except OSError:
        return False  # its run has removed it meanwhile
