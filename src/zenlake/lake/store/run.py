"""One change of a lake, from the lock to the new version."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from zenlake import unfinished
from zenlake.lake.store.errors import LakeError
from zenlake.lake.store.files import flush
from zenlake.lake.store.layout import Layout
from zenlake.lake.store.lock import Lock
from zenlake.lake.store.manifest import Manifest
from zenlake.lake.store.plan import CaptureFiles, Plan

_FULL: Final = {errno.ENOSPC, errno.EDQUOT}


class Run:
    """Made by `Store.begin`; `staging` is a folder for whatever the run writes."""

    def __init__(self, layout: Layout, manifest: Callable[[], Manifest], staging: Path) -> None:
        self.staging = staging
        self._layout = layout
        self._manifest = manifest

    def publish(
        self,
        add: Mapping[str, CaptureFiles] | None = None,
        remove: AbstractSet[str] = frozenset(),
        empty_files: Mapping[str, Path] | None = None,
    ) -> int:
        """Makes the next version and shows it to readers, all tables at once; its number.

        Captures of the current version stay, except those in `remove` and those that `add`
        replaces. `empty_files` names the tables, each by a file that has its schema and no
        rows; tables of the current version need not be named again. Where nothing changes, no
        version is made. Whatever fails or is killed on the way leaves the current version.
        """
        target = self._layout.root
        number = 0
        try:
            plan = Plan(self._layout, self._manifest(), add or {}, remove, empty_files or {})
            if plan.changes_nothing:
                return plan.manifest.version - 1
            number = plan.manifest.version
            target = self._layout.version(number)
            self._layout.link_tables(plan.manifest.tables)
            plan.build(target)
            self._layout.flip(number, self.staging)
            flush(self._layout.root)
        except BaseException as error:
            if number and self._layout.current_version() != number:
                shutil.rmtree(target, ignore_errors=True)
            if isinstance(error, OSError):
                raise LakeError.from_os(error, target) from error
            raise
        self._layout.sweep(number)
        return number


@contextmanager
def running(layout: Layout, manifest: Callable[[], Manifest]) -> Iterator[Run]:
    """A run that holds the lock and has a folder of its own."""
    lock = Lock(layout.lock)
    is_new = not layout.root.exists()

    def tidy_up() -> None:
        if lock.is_held:
            _remove_unfinished(layout)
        if is_new:
            with suppress(OSError):  # it holds a lake, or what others put there
                layout.root.rmdir()

    cleanup = unfinished.register(tidy_up)
    try:
        _take(lock, layout)
        yield Run(layout, manifest, _new_staging(layout, manifest().version))
    except OSError as error:
        # Whatever the caller was writing: a full disk is told in one line.
        if error.errno in _FULL:
            raise LakeError.from_os(error, layout.root) from error
        raise
    finally:
        tidy_up()
        lock.release()
        unfinished.forget(cleanup)


def _take(lock: Lock, layout: Layout) -> None:
    try:
        layout.root.mkdir(parents=True, exist_ok=True)
        lock.take()
    except OSError as error:
        raise LakeError.from_os(error, layout.root) from error


def _new_staging(layout: Layout, current: int) -> Path:
    """Removes what killed runs left (we hold the lock: they are dead), and makes a staging."""
    shutil.rmtree(layout.staging, ignore_errors=True)
    layout.sweep(current)
    staging = layout.staging / f"{os.getpid()}-{time.time_ns()}"
    try:
        staging.mkdir(parents=True)
        layout.versions.mkdir(exist_ok=True)
    except OSError as error:
        raise LakeError.from_os(error, layout.root) from error
    return staging


def _remove_unfinished(layout: Layout) -> None:
    """At any moment of a run that holds the lock: what readers see stays, all else goes."""
    shutil.rmtree(layout.staging, ignore_errors=True)
    try:
        current = layout.current_version()
    except LakeError:
        return  # damaged: nobody can tell what belongs to it
    if current is not None:
        layout.sweep(current)
        return
    shutil.rmtree(layout.versions, ignore_errors=True)
    with suppress(OSError):
        layout.unlink_tables()
        # The last, because another run may take it at once.
        layout.lock.unlink()
