"""`WarningLimiter`: decides whether a warning that may come very often is logged now.

It has no clock and logs nothing: the caller passes the time and uses its own logger.
"""

from __future__ import annotations

from typing import Final

WARNING_SECONDS: Final = 10.0
_KINDS_MAX: Final = 256


class WarningLimiter:
    """Admits the first warning of a kind, then one per period. Not safe for threads."""

    __slots__ = ("_next", "_suppressed")

    def __init__(self) -> None:
        self._next: dict[str, float] = {}
        self._suppressed: dict[str, int] = {}

    def admit(self, kind: str, now: float) -> str | None:
        """The text to append to a warning of this kind; None if it must not be logged now.

        The text says how many were left out since the last one.
        """
        if now < self._next.get(kind, now):
            self._suppressed[kind] = self._suppressed.get(kind, 0) + 1
            return None
        if kind not in self._next and len(self._next) >= _KINDS_MAX:
            oldest = next(iter(self._next))
            del self._next[oldest]
            self._suppressed.pop(oldest, None)
        self._next[kind] = now + WARNING_SECONDS
        count = self._suppressed.pop(kind, 0)
        return f" ({count} more since the last warning)" if count else ""
