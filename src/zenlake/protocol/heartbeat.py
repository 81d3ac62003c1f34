"""Heartbeat: the lease of the peer, and our own keep-alives (wire reference §5.7).

A peer may announce any lease from 0 to 2^64 - 1 ms. A lease that is so short that checking it would
use up the processor is lengthened, and one that is so long that a dead peer would stay for ever is
shortened.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import LEASE_SECONDS_MAX

LEASE_SECONDS_MIN: Final = 0.1
KEEP_ALIVE_SECONDS_MIN: Final = 0.005


class Heartbeat:
    """The two timers of a link. Without traffic in between, each is due once per period."""

    __slots__ = ("_is_fixed", "_keep_alive_at", "_keep_alive_s", "lease_s")

    def __init__(
        self, own_lease_ms: int, peer_lease_ms: int, keep_alive: int, is_fixed: bool, now: float
    ) -> None:
        """`is_fixed`: keep-alives are sent even if there is other traffic (wire reference §9)."""
        self.lease_s = max(LEASE_SECONDS_MIN, seconds(peer_lease_ms))
        self._keep_alive_s = max(KEEP_ALIVE_SECONDS_MIN, seconds(own_lease_ms) / keep_alive)
        self._keep_alive_at = now + self._keep_alive_s
        self._is_fixed = is_fixed

    def note_sent(self, now: float) -> None:
        if not self._is_fixed:
            self._keep_alive_at = now + self._keep_alive_s

    def is_expired(self, received_at: float, now: float) -> bool:
        return now >= received_at + self.lease_s

    def is_keep_alive_due(self, now: float) -> bool:
        """Whether KEEP_ALIVE is due; if so, the next one is due a period later."""
        if now < self._keep_alive_at:
            return False
        self._keep_alive_at = now + self._keep_alive_s
        return True

    def next_deadline(self, received_at: float) -> float:
        return min(self._keep_alive_at, received_at + self.lease_s)


def seconds(lease_ms: int) -> float:
    return min(lease_ms, LEASE_SECONDS_MAX * 1000) / 1000
