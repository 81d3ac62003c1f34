"""OldFiles: deletes files of a followed capture that newer versions of the lake have replaced.

Readers of an older version need them for a while. A lake with a follower has a new version every
few seconds, so these files cannot be kept as long as those of other runs.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress

from zenlake.lake.address import Address
from zenlake.lake.publish.delta_table import Table
from zenlake.lake.publish.publisher import is_pending
from zenlake.lake.schema import TABLES
from zenlake.lake.stored_files import modified_s, names_in, remove_file


class OldFiles:
    """Files that were removed from the tables of a lake, and are deleted later."""

    def __init__(self, lake: Address, keep_s: float) -> None:
        self._lake = lake
        self._keep_s = keep_s
        self._waiting: deque[tuple[float, Address]] = deque()

    def add(self, table: str, names: Iterable[str]) -> None:
        expires_s = time.monotonic() + self._keep_s
        for name in names:
            self._waiting.append((expires_s, self._lake / table / name))

    def delete_expired(self) -> None:
        now_s = time.monotonic()
        while self._waiting and self._waiting[0][0] <= now_s:
            _, place = self._waiting.popleft()
            with suppress(OSError):  # `zenlake lake vacuum` has deleted it already
                remove_file(place)

    def delete_left_behind(self) -> None:
        """Deletes pending files that a killed follower has left."""
        oldest_s = time.time() - self._keep_s
        for table in TABLES:
            names = [name for name in names_in(self._lake / table) if is_pending(name)]
            if not names:
                continue
            opened = Table.open(self._lake / table)
            active = set() if opened is None else set(opened.files())
            for name in names:
                place = self._lake / table / name
                with suppress(OSError):
                    if name not in active and modified_s(place) < oldest_s:
                        remove_file(place)
