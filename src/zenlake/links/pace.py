"""Pace: limits how fast datagrams are sent.

A sender of datagrams does not notice that the receiver is too slow. A datagram that does not fit
into the receiver's buffer is lost, and with it the large message it is a part of.
"""

from __future__ import annotations

import time
from typing import Final

from zenlake.limits import UDP_BURST_BYTES_MAX, UDP_BYTES_PER_SECOND_MAX

_MARGIN_S: Final = 20e-6


class Pace:
    """A credit of bytes that grows with time, up to a burst."""

    __slots__ = ("_at", "_burst_bytes", "_bytes_per_second", "_credit_bytes")

    def __init__(
        self,
        bytes_per_second: int = UDP_BYTES_PER_SECOND_MAX,
        burst_bytes: int = UDP_BURST_BYTES_MAX,
    ) -> None:
        self._bytes_per_second = bytes_per_second
        self._burst_bytes = burst_bytes
        self._credit_bytes = float(burst_bytes)
        self._at = 0.0

    def spend(self, size_bytes: int, now: float) -> bool:
        """Whether so many bytes may be sent; the last datagram of a burst may exceed the credit."""
        grown = self._credit_bytes + (now - self._at) * self._bytes_per_second
        self._credit_bytes = min(grown, self._burst_bytes)
        self._at = now
        if self._credit_bytes <= 0:
            return False
        self._credit_bytes -= size_bytes
        return True

    def wait(self, timeout_s: float) -> bool:
        """Wait until more may be sent; False if that is not within the time."""
        pause_s = -self._credit_bytes / self._bytes_per_second - (time.monotonic() - self._at)
        if pause_s > 0:
            time.sleep(min(pause_s + _MARGIN_S, timeout_s))
        return pause_s < timeout_s
