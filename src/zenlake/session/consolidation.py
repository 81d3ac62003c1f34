"""Which replies of a query the user gets, and when (behaviour reference §2.7).

A consolidation is asked about each reply and says: deliver now, or not. LATEST holds replies
back until the query ends. Times are compared with "no timestamp" before any timestamp; equal
counts as newer, so that without timestamps the last arrival wins.
"""

from __future__ import annotations

from zenlake.limits import HELD_REPLIES_MAX, HELD_REPLY_BYTES_MAX
from zenlake.wire import ConsolidationMode, Timestamp


def is_older(time: Timestamp | None, than: Timestamp | None) -> bool:
    if than is None:
        return False
    return time is None or time < than


class Held:
    """One reply that LATEST keeps."""

    __slots__ = ("handler_bytes", "item", "size", "time")

    def __init__(self, time: Timestamp | None, item: object, size: int, handler_bytes: int) -> None:
        self.time = time
        self.item = item
        self.size = size
        self.handler_bytes = handler_bytes
        """What it counts in the handler of the user (session/held_bytes.py)."""


class Consolidation:
    """NONE and MONOTONIC deliver at once, LATEST at the end.

    What it remembers is bounded: beyond the limits MONOTONIC forgets the key it has known
    longest, and LATEST refuses, which `refused` counts.
    """

    __slots__ = (
        "_bytes_max",
        "_delivered",
        "_held",
        "_held_bytes",
        "_replies_max",
        "mode",
        "refused",
    )

    def __init__(
        self,
        mode: ConsolidationMode,
        replies_max: int = HELD_REPLIES_MAX,
        bytes_max: int = HELD_REPLY_BYTES_MAX,
    ) -> None:
        self.mode = mode
        self._replies_max = replies_max
        self._bytes_max = bytes_max
        self.refused = 0
        self._delivered: dict[str, Timestamp | None] = {}
        self._held: dict[str, Held] = {}
        self._held_bytes = 0

    def held_count(self) -> int:
        return len(self._held)

    def passes(self, key: str, time: Timestamp | None) -> bool:
        """Whether a reply is delivered at once; not asked for LATEST."""
        if self.mode != ConsolidationMode.MONOTONIC:
            return True
        delivered = self._delivered
        if key in delivered:
            if is_older(time, delivered[key]):
                return False
        elif len(delivered) >= self._replies_max:
            del delivered[next(iter(delivered))]
        delivered[key] = time
        return True

    def wants(self, key: str, time: Timestamp | None, size: int) -> bool:
        """Whether LATEST would keep a reply of that size."""
        held = self._held.get(key)
        if held is not None:
            if is_older(time, held.time):
                return False
            growth = size - held.size
        else:
            growth = size
        others = len(self._held) - (held is not None)
        if (others and self._held_bytes + growth > self._bytes_max) or (
            held is None and len(self._held) >= self._replies_max
        ):
            self.refused += 1
            return False
        return True

    def hold(
        self, key: str, time: Timestamp | None, item: object, size: int, handler_bytes: int = 0
    ) -> None:
        """Keep a reply that `wants` agreed to, in place of the older one."""
        held = self._held.get(key)
        if held is not None:
            self._held_bytes -= held.size
        self._held_bytes += size
        self._held[key] = Held(time, item, size, handler_bytes)

    def release(self) -> list[Held]:
        """All that is held, at the end of the query."""
        held = list(self._held.values())
        self._held.clear()
        self._held_bytes = 0
        return held
