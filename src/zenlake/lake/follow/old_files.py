"""OldFiles: deletes files of a followed capture that newer versions of the lake have replaced.

Readers of an older version need them for a while. A lake that is followed has a new version every
few seconds, so they cannot be kept as long as those of other runs.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from zenlake.lake.address import Address
from zenlake.lake.publish.delta_table import Table
from zenlake.lake.publish.publisher import is_pending
from zenlake.lake.schema import TABLES

KEEP_SECONDS: Final = 3_600.0


class OldFiles:
    """Files that were removed from the tables of a lake, and are deleted later."""

    def __init__(self, lake: Address, keep_s: float) -> None:
        self._lake = lake
        self._keep_s = keep_s
        self._waiting: deque[tuple[float, Path]] = deque()

    def add(self, table: str, names: Iterable[str]) -> None:
        expires_s = time.monotonic() + self._keep_s
        for name in names:
            self._waiting.append((expires_s, self._folder(table) / name))

    def delete_expired(self) -> None:
        now_s = time.monotonic()
        while self._waiting and self._waiting[0][0] <= now_s:
            _, path = self._waiting.popleft()
            with suppress(OSError):  # `zenlake lake vacuum` was faster
                path.unlink()

    def delete_left_behind(self) -> None:
        """Pending files that a follower that was killed has not deleted."""
        oldest_s = time.time() - self._keep_s
        for table in TABLES:
            folder = self._folder(table)
            if not folder.is_dir():
                continue
            names = [name for name in os.listdir(folder) if is_pending(name)]
            if not names:
                continue
            opened = Table.open(self._lake / table)
            active = set() if opened is None else set(opened.files())
            for name in names:
                with suppress(OSError):
                    if name not in active and os.stat(folder / name).st_mtime < oldest_s:
                        (folder / name).unlink()

    def _folder(self, table: str) -> Path:
        return Path((self._lake / table).path)
