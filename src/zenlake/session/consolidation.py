"""`Consolidation`: what an open query remembers of its replies to consolidate them.

The rules are in `zenlake.semantics.consolidation`.
"""

from __future__ import annotations

from zenlake.limits import HELD_REPLIES_MAX, HELD_REPLY_BYTES_MAX
from zenlake.semantics.consolidation import is_older
from zenlake.wire import ConsolidationMode, Timestamp


class HeldReply:
    """A reply that LATEST holds until the query ends."""

    __slots__ = ("handler_bytes", "item", "size", "time")

    def __init__(self, time: Timestamp | None, item: object, size: int, handler_bytes: int) -> None:
        self.time = time
        self.item = item
        self.size = size
        self.handler_bytes = handler_bytes
        """The bytes of the reply as the handler of the application counts them."""


class Consolidation:
    """Bounded memory: MONOTONIC forgets the oldest key, LATEST refuses replies and counts them."""

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
        self._held: dict[str, HeldReply] = {}
        self._held_bytes = 0

    def held_count(self) -> int:
        return len(self._held)

    def passes(self, key: str, time: Timestamp | None) -> bool:
        """Whether NONE or MONOTONIC delivers a reply."""
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

    def may_hold(self, key: str, time: Timestamp | None, size: int) -> bool:
        """Whether LATEST may hold a reply of that size."""
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
        """Hold a reply that `may_hold` accepted, instead of the older one on its key."""
        held = self._held.get(key)
        if held is not None:
            self._held_bytes -= held.size
        self._held_bytes += size
        self._held[key] = HeldReply(time, item, size, handler_bytes)

    def release(self) -> list[HeldReply]:
        """Return all held replies, and forget them."""
        held = list(self._held.values())
        self._held.clear()
        self._held_bytes = 0
        return held
