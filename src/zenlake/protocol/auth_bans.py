"""AuthBans: addresses that guess passwords are refused for a while (limits: H14).

The listener calls `is_banned` before a handshake and `note_failure` after an AuthenticationError.
"""

from __future__ import annotations

from collections import OrderedDict

from zenlake.limits import (
    AUTHENTICATION_BAN_SECONDS_MAX,
    AUTHENTICATION_FAILURES_MAX,
    AUTHENTICATION_SOURCES_MAX,
)


class AuthBans:
    """Failures by source address; the address that failed longest ago is forgotten first."""

    __slots__ = ("_failures", "refused")

    def __init__(self) -> None:
        self._failures: OrderedDict[str, list[float]] = OrderedDict()
        self.refused = 0

    def note_failure(self, source: str, now: float) -> None:
        recent = [*self._recent(source, now), now][-AUTHENTICATION_FAILURES_MAX:]
        self._failures[source] = recent
        self._failures.move_to_end(source)
        if len(self._failures) > AUTHENTICATION_SOURCES_MAX:
            self._failures.popitem(last=False)

    def is_banned(self, source: str, now: float) -> bool:
        """Whether the address had too many failures within the duration of a ban."""
        if len(self._recent(source, now)) < AUTHENTICATION_FAILURES_MAX:
            return False
        self.refused += 1
        return True

    def _recent(self, source: str, now: float) -> list[float]:
        oldest = now - AUTHENTICATION_BAN_SECONDS_MAX
        return [moment for moment in self._failures.get(source, ()) if moment > oldest]
