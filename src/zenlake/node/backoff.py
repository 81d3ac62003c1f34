"""Backoff: how long a connector waits before its next attempt. It has no clock of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zenlake.node.retry import Retry

# The shortest wait. A router that restarts is often back by then.
SOON_S: Final = 0.05
# A transport that was open for a shorter time does not count as a success.
BRIEF_S: Final = 1.0
_BRIEF_WAIT_S_MAX: Final = 10.0


class Backoff:
    """Waits that grow with failures, and start over with every transport that opened.

    Transports that end right after they opened have waits of their own, from `SOON_S` to the
    first period of `retry`: a node that accepts and closes at once is not hammered, and one
    that restarts twice in a row is not waited for any longer than one that restarts once.
    """

    __slots__ = ("_brief_s", "_period_s", "_retry")

    def __init__(self, retry: Retry) -> None:
        self._retry = retry
        self._period_s = retry.initial_s
        self._brief_s = SOON_S

    def after_failure(self, spent_s: float) -> float:
        """The wait after an attempt that took `spent_s`, which counts as waiting too.

        A node whose process is stopped accepts links but does not answer. With short waits an
        attempt, and not a wait, is in progress when the process continues.
        """
        wait_s = max(self._period_s - spent_s, min(SOON_S, self._period_s))
        self._period_s = self._retry.after(self._period_s)
        return wait_s

    def after_loss(self, open_s: float) -> float:
        """The wait after a transport that was open for `open_s`."""
        self._period_s = self._retry.initial_s
        if open_s >= BRIEF_S:
            self._brief_s = SOON_S
            return SOON_S
        wait_s = self._brief_s
        longest_s = min(max(SOON_S, self._retry.initial_s), _BRIEF_WAIT_S_MAX)
        self._brief_s = min(2 * self._brief_s, longest_s)
        return wait_s
