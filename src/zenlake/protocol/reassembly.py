"""Reassembly: messages that arrive in fragments, within limits (wire reference §7).

A message that breaks a rule or a limit is given up; the session goes on. The limits: so many
bytes for one message, for all messages of a session and for all sessions of a process, and a
time after which pieces that nothing follows are freed.
"""

from __future__ import annotations

from math import inf
from typing import Final

from zenlake.limits import (
    FRAGMENT_IDLE_SECONDS_MAX,
    REASSEMBLY_BYTES_MAX,
    REASSEMBLY_PROCESS_BYTES_MAX,
)
from zenlake.wire._generated.transport import Fragment

CHANNELS: Final = 16
"""Of one direction: eight priorities, each reliable and best effort (wire reference §6.3)."""


class ReassemblyBudget:
    """How many bytes of fragments may wait in all sessions that share it, in each, and how long."""

    __slots__ = ("held_bytes", "idle_s", "limit_bytes", "session_bytes_max")

    def __init__(
        self,
        limit_bytes: int = REASSEMBLY_PROCESS_BYTES_MAX,
        session_bytes_max: int = REASSEMBLY_BYTES_MAX,
        idle_s: float = FRAGMENT_IDLE_SECONDS_MAX,
    ) -> None:
        self.limit_bytes = limit_bytes
        self.session_bytes_max = session_bytes_max
        self.idle_s = idle_s
        self.held_bytes = 0

    def take(self, size: int) -> bool:
        if self.held_bytes + size > self.limit_bytes:
            return False
        self.held_bytes += size
        return True

    def give(self, size: int) -> None:
        self.held_bytes -= size


class Pending:
    """A message of which more fragments are to come.

    One growing buffer, not a list of pieces: a million fragments of one byte cost a million
    bytes.
    """

    __slots__ = ("data", "next_sn", "touched_at")

    def __init__(self) -> None:
        self.data = bytearray()
        self.next_sn = 0
        self.touched_at = 0.0


class Reassembly:
    """The unfinished messages of one session, at most one for each channel.

    `free_idle` may run in another thread while `add` does: a message is taken away by
    clearing its place, and whoever holds it already goes on with what it holds.
    """

    __slots__ = (
        "_budget",
        "_is_marked",
        "_mask",
        "_message_bytes_max",
        "_pending",
        "dropped_fragments",
        "dropped_messages",
    )

    def __init__(
        self,
        mask: int,
        patch: int,
        message_bytes_max: int,
        budget: ReassemblyBudget,
    ) -> None:
        self._mask = mask
        self._is_marked = patch >= 1
        self._message_bytes_max = message_bytes_max
        self._budget = budget
        self._pending: list[Pending | None] = [None] * CHANNELS
        self.dropped_fragments = 0
        """Fragments that belong to no message we could deliver, each counted when it came."""
        self.dropped_messages = 0
        """Messages given up: too large, not in order, or without an end."""

    def add(self, channel: int, fragment: Fragment, now: float) -> bytes | None:
        """The message that this fragment completes; its number has been accepted before."""
        pending = self._pending[channel]
        if self._is_marked:
            if fragment.first:
                self._give_up(channel, pending)
                pending = None
            elif pending is None:  # the tail of something whose head we never saw
                self.dropped_fragments += 1
                return None
            if fragment.drop:
                self._give_up(channel, pending)
                return None
        if pending is None:
            return self._begin(channel, fragment, now)
        size = len(fragment.payload)
        if fragment.sn != pending.next_sn or not self._has_room(pending, size):
            self._give_up(channel, pending)
            self.dropped_fragments += 1
            return None
        self._append(channel, pending, fragment, now)
        if fragment.more:
            return None
        whole = bytes(pending.data)
        self._release(channel, pending)
        return whole

    def _begin(self, channel: int, fragment: Fragment, now: float) -> bytes | None:
        pending = Pending()
        if not self._has_room(pending, len(fragment.payload)):
            self.dropped_fragments += 1
            self.dropped_messages += 1
            return None
        if not fragment.more:  # first and last in one
            self._budget.give(len(fragment.payload))
            return fragment.payload
        self._pending[channel] = pending
        self._append(channel, pending, fragment, now)
        return None

    def _has_room(self, pending: Pending, size: int) -> bool:
        """Whether all limits allow the bytes; if so they are taken from the budget."""
        if len(pending.data) + size > self._message_bytes_max:
            return False
        if self.held_bytes() + size > self._budget.session_bytes_max:
            return False
        return self._budget.take(size)

    def _append(self, channel: int, pending: Pending, fragment: Fragment, now: float) -> None:
        pending.data += fragment.payload
        pending.next_sn = (fragment.sn + 1) & self._mask
        pending.touched_at = now
        if self._pending[channel] is not pending:  # freed meanwhile, without these bytes
            self._budget.give(len(fragment.payload))

    def _give_up(self, channel: int, pending: Pending | None) -> None:
        if pending is not None:
            self.dropped_messages += 1
            self._release(channel, pending)

    def _release(self, channel: int, pending: Pending) -> None:
        if self._pending[channel] is pending:
            self._pending[channel] = None
            self._budget.give(len(pending.data))

    def held_bytes(self) -> int:
        held = 0
        for pending in self._pending:
            if pending is not None:
                held += len(pending.data)
        return held

    def next_deadline(self) -> float:
        """When `free_idle` will have something to do."""
        deadline = inf
        for pending in self._pending:
            if pending is not None:
                deadline = min(deadline, pending.touched_at + self._budget.idle_s)
        return deadline

    def free_idle(self, now: float) -> None:
        """Give up messages of which nothing came for a while."""
        for channel in range(CHANNELS):
            pending = self._pending[channel]
            if pending is not None and now >= pending.touched_at + self._budget.idle_s:
                self._give_up(channel, pending)

    def release(self) -> None:
        """The session is over: what waits will never be whole."""
        for channel in range(CHANNELS):
            self._give_up(channel, self._pending[channel])
