"""SendBudget: decides whether a message is sent at once or later with others in one batch.

The cost of a call to the link differs much between machines. So sending may take a fixed share of
the time, and at most a millisecond without a pause. Messages that come faster wait for others.
"""

from __future__ import annotations

from typing import Final

_SHARE: Final = 0.06
_LEFT_S_MAX: Final = 0.001
# The limit of what a call counts: on a busy machine a call may last long without costing much.
_ONE_CALL_S_MAX: Final = 0.00005
# Messages that come closer together are not worth reading the clock for each.
_CLOCK_READ_S: Final = 0.00002
MESSAGES_PER_CLOCK_READ_MAX: Final = 64


class SendBudget:
    """The time that may be spent on sending. The caller holds a lock."""

    __slots__ = ("_clock_read_at", "_left_s", "_sent_at", "messages_per_clock_read")

    def __init__(self) -> None:
        self._left_s = _LEFT_S_MAX
        self._clock_read_at = 0.0
        self._sent_at = 0.0
        self.messages_per_clock_read = 1
        """How many messages may come before the next call of `has_time`."""

    def has_time(self, apart_s: float, now: float) -> bool:
        """Whether to send now; always if nothing was sent for `apart_s`: the message is alone."""
        passed_s = now - self._clock_read_at
        self._clock_read_at = now
        if passed_s > _CLOCK_READ_S:
            self.messages_per_clock_read = max(1, self.messages_per_clock_read // 2)
        elif self.messages_per_clock_read < MESSAGES_PER_CLOCK_READ_MAX:
            self.messages_per_clock_read *= 2
        self._left_s = min(_LEFT_S_MAX, self._left_s + passed_s * _SHARE)
        return self._left_s > 0.0 or now - self._sent_at > apart_s

    def note_sent(self, began: float, now: float) -> None:
        self._sent_at = now
        self._left_s -= min(now - began, _ONE_CALL_S_MAX)
