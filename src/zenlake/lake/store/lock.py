"""One writer at a time: a lock that the system takes back when its holder dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from zenlake.lake.store.errors import LakeError


class Lock:
    """Held from `take` to `release`; never waits."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    @property
    def is_held(self) -> bool:
        return self._descriptor >= 0

    def take(self) -> None:
        descriptor = self._locked()
        while not self._is_current(descriptor):
            # A run that made no lake took its lock away with it while we opened it.
            os.close(descriptor)
            descriptor = self._locked()
        self._descriptor = descriptor

    def _locked(self) -> int:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            cause = f"another run is writing (pid {holder or 'unknown'})"
            raise LakeError(cause, self._path.parent) from None
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _is_current(self, descriptor: int) -> bool:
        """Whether the file still has its name: else another run locks another file."""
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        # With a lake the file stays: taking it away would let two runs lock two files of one name.
        if self.is_held:
            os.close(self._descriptor)
            self._descriptor = -1
