"""TokenBucket: a limit for the rate of bytes or messages, with bursts up to a capacity."""

from __future__ import annotations


class TokenBucket:
    """A bucket that starts full. `capacity` is the most that can accumulate."""

    __slots__ = ("_capacity", "_per_second", "_saved", "_since")

    def __init__(self, capacity: float, per_second: float, now: float) -> None:
        self._capacity = capacity
        self._per_second = per_second
        self._saved = capacity
        self._since = now

    def spend(self, amount: float, now: float) -> bool:
        """Whether there is enough; nothing is spent if not."""
        income = max(0.0, now - self._since) * self._per_second
        self._saved = min(self._capacity, self._saved + income)
        self._since = now
        if amount > self._saved:
            return False
        self._saved -= amount
        return True
