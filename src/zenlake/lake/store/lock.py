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

    def take(self) -> None:
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
        self._descriptor = descriptor

    def release(self) -> None:
        # The file stays: taking it away would let two runs lock two files of one name.
        os.close(self._descriptor)
        self._descriptor = -1
