"""Reassembly: messages that arrive in fragments, within limits (wire reference §7).

A message that breaks a rule or a limit is dropped; the session continues. There are limits for the
bytes of one message, of all messages of a session and of all sessions of the process, and a time
after which an incomplete message is freed. Memory is allocated for bytes that were received, never
for bytes that are only announced.

A large message must fit, but many small incomplete ones must not take as much memory. So only the
first bytes of a message count against the limits of the session and the process. Its other bytes
count against a limit for large messages.
"""

from __future__ import annotations

from io import BytesIO
from math import inf
from typing import Final

from zenlake.limits import (
    FRAGMENT_IDLE_SECONDS_MAX,
    REASSEMBLY_BYTES_MAX,
    REASSEMBLY_LARGE_BYTES_MAX,
    REASSEMBLY_MESSAGE_BYTES_MAX,
    REASSEMBLY_PROCESS_BYTES_MAX,
)
from zenlake.protocol.dropped_message import HEAD_BYTES, DroppedMessage
from zenlake.wire import Fragment
from zenlake.wire.sequence import next_sn

CHANNELS: Final = 16
"""Channels of one direction: eight priorities, each reliable and best effort (§6.3)."""

MESSAGE_KEY: Final = "transport/link/rx/max_message_size"
SESSION_KEY: Final = "limits/transport/reassembly_bytes"
PROCESS_KEY: Final = "limits/transport/reassembly_process_bytes"
LARGE_KEY: Final = "limits/transport/reassembly_large_bytes"


class HeldBytes:
    """Bytes of incomplete messages: the first bytes of each message, and the others."""

    __slots__ = ("first", "large")

    def __init__(self) -> None:
        self.first = 0
        self.large = 0

    def clear(self) -> None:
        """Called in a forked child, which has no incomplete messages."""
        self.first = self.large = 0


def first_part(size: int) -> int:
    """How many bytes of a message of this size count as its first ones."""
    return min(size, REASSEMBLY_MESSAGE_BYTES_MAX)


class ReassemblyBudget:
    """Limits for incomplete messages: bytes of all sessions that share it and of each, and time.

    Budgets of several nodes may share one `held`, and so limit the whole process.
    """

    __slots__ = ("_held", "idle_s", "large_bytes_max", "limit_bytes", "session_bytes_max")

    def __init__(
        self,
        limit_bytes: int = REASSEMBLY_PROCESS_BYTES_MAX,
        session_bytes_max: int = REASSEMBLY_BYTES_MAX,
        idle_s: float = FRAGMENT_IDLE_SECONDS_MAX,
        large_bytes_max: int = REASSEMBLY_LARGE_BYTES_MAX,
        held: HeldBytes | None = None,
    ) -> None:
        self.limit_bytes = limit_bytes
        self.session_bytes_max = session_bytes_max
        self.idle_s = idle_s
        self.large_bytes_max = large_bytes_max
        self._held = HeldBytes() if held is None else held

    @property
    def held_bytes(self) -> int:
        return self._held.first + self._held.large

    def charge(self, before: int, after: int) -> str:
        """Charge the growth of a message; the key of the limit that forbids it, or ""."""
        held = self._held
        first = first_part(after) - first_part(before)
        large = after - before - first
        if first and held.first + first > self.limit_bytes:
            return PROCESS_KEY
        if large and held.large + large > self.large_bytes_max:
            return LARGE_KEY
        held.first += first
        held.large += large
        return ""

    def refund(self, before: int, after: int) -> None:
        """Undo `charge`."""
        first = first_part(after) - first_part(before)
        self._held.first -= first
        self._held.large -= after - before - first


class IncompleteMessage:
    """An incomplete message.

    It is one growing buffer, not a list of pieces: a million fragments of one byte cost a million
    bytes. It is a `BytesIO`, which returns its content as `bytes` without a copy: copying a large
    message would hold up all threads. Further fragments of a message that exceeded a limit are
    only counted.
    """

    __slots__ = ("data", "dropped", "next_sn", "size", "touched_at")

    def __init__(self) -> None:
        self.data = BytesIO()
        self.size = 0
        self.dropped: DroppedMessage | None = None
        self.next_sn = 0
        self.touched_at = 0.0


class Reassembly:
    """The incomplete messages of one session, at most one for each channel.

    `free_idle` may run in another thread at the same time as `add`: it removes a message from its
    slot, and `add` continues with the reference that it has.
    """

    __slots__ = (
        "_budget",
        "_is_marked",
        "_mask",
        "_message_bytes_max",
        "_pending",
        "dropped_fragments",
        "dropped_messages",
        "report",
    )

    def __init__(
        self, mask: int, patch: int, message_bytes_max: int, budget: ReassemblyBudget
    ) -> None:
        self._mask = mask
        self._is_marked = patch >= 1
        self._message_bytes_max = message_bytes_max
        self._budget = budget
        self._pending: list[IncompleteMessage | None] = [None] * CHANNELS
        self.dropped_fragments = 0
        """Fragments of messages that could not be delivered, each counted when it was received."""
        self.dropped_messages = 0
        """Messages that were dropped: too large, out of order, or incomplete."""
        self.report: DroppedMessage | None = None
        """The last message that exceeded a limit and has ended; cleared by the code that warns."""

    def add(self, channel: int, fragment: Fragment, now: float) -> bytes | None:
        """The message that this fragment completes; its number has been accepted before."""
        pending = self._pending[channel]
        if self._is_marked:
            if fragment.first:
                self._drop(channel, pending)
                pending = None
            elif pending is None:  # its first fragment was not received
                self.dropped_fragments += 1
                return None
            if fragment.drop:
                self._drop(channel, pending)
                return None
        if pending is None:
            pending = IncompleteMessage()
            self._pending[channel] = pending
        elif fragment.sn != pending.next_sn:
            self._drop(channel, pending)
            self.dropped_fragments += 1
            return None
        self._append(channel, pending, fragment, now)
        if fragment.more:
            return None
        if pending.dropped is not None:
            pending.dropped.is_whole = True
            self._release(channel, pending)
            return None
        self._release(channel, pending)
        return pending.data.getvalue()

    def _append(
        self, channel: int, pending: IncompleteMessage, fragment: Fragment, now: float
    ) -> None:
        size = len(fragment.payload)
        pending.next_sn = next_sn(fragment.sn, self._mask)
        pending.touched_at = now
        if pending.dropped is None:
            limit_key = self._charge(pending, size)
            if limit_key:
                self._exceed(channel, pending, limit_key)
        if pending.dropped is not None:
            pending.dropped.size += size
            self.dropped_fragments += 1
            return
        before = pending.size
        pending.data.write(fragment.payload)
        pending.size += size
        if self._pending[channel] is not pending:  # `free_idle` freed the message meanwhile
            self._budget.refund(before, before + size)

    def _charge(self, pending: IncompleteMessage, size: int) -> str:
        """Charge the bytes of a fragment; the key of the limit that forbids it, or ""."""
        before = pending.size
        after = before + size
        if after > self._message_bytes_max:
            return MESSAGE_KEY
        first = first_part(after) - first_part(before)
        if first and self._first_bytes() + first > self._budget.session_bytes_max:
            return SESSION_KEY
        return self._budget.charge(before, after)

    def _exceed(self, channel: int, pending: IncompleteMessage, limit_key: str) -> None:
        """Free the bytes of a message; its further fragments are skipped."""
        budget = self._budget
        limit = self._message_bytes_max
        if limit_key == SESSION_KEY:
            limit = budget.session_bytes_max
        elif limit_key == PROCESS_KEY:
            limit = budget.limit_bytes
        elif limit_key == LARGE_KEY:
            limit = REASSEMBLY_MESSAGE_BYTES_MAX + budget.large_bytes_max
        pending.data.seek(0)
        dropped = DroppedMessage(pending.data.read(HEAD_BYTES), limit_key, limit)
        dropped.size = pending.size
        if self._pending[channel] is pending:
            budget.refund(0, pending.size)
        pending.data = BytesIO()
        pending.size = 0
        pending.dropped = dropped
        self.dropped_messages += 1

    def _drop(self, channel: int, pending: IncompleteMessage | None) -> None:
        if pending is not None:
            if pending.dropped is None:
                self.dropped_messages += 1
            self._release(channel, pending)

    def _release(self, channel: int, pending: IncompleteMessage) -> None:
        if self._pending[channel] is pending:
            self._pending[channel] = None
            self._budget.refund(0, pending.size)
            if pending.dropped is not None:
                self.report = pending.dropped

    def _first_bytes(self) -> int:
        held = 0
        for pending in self._pending:
            if pending is not None:
                held += first_part(pending.size)
        return held

    def held_bytes(self) -> int:
        held = 0
        for pending in self._pending:
            if pending is not None:
                held += pending.size
        return held

    def next_deadline(self) -> float:
        """When `free_idle` will have something to do."""
        deadline = inf
        for pending in self._pending:
            if pending is not None:
                deadline = min(deadline, pending.touched_at + self._budget.idle_s)
        return deadline

    def free_idle(self, now: float) -> None:
        """Drop messages without a new fragment for `idle_s`."""
        for channel in range(CHANNELS):
            pending = self._pending[channel]
            if pending is not None and now >= pending.touched_at + self._budget.idle_s:
                self._drop(channel, pending)

    def release(self) -> None:
        """Drop all incomplete messages, because the session is over."""
        for channel in range(CHANNELS):
            self._drop(channel, self._pending[channel])
