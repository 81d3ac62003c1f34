"""SendQueue: the messages of one transport that wait to be sent, and the wait for room.

Small messages may be appended to a list without the lock (`Sender.send`). The next thread that
takes the lock moves them into batches before it does anything else (`_absorb`).

A thread that fills a queue waits for room. For messages that may be dropped the wait is short, and
if there is no room then, later ones are dropped at once until there is. For messages that must not
be dropped it is longer, and without room then the transport is closed (wire reference §6.6).
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import Final

from zenlake.limits import UNSENT_BYTES_MAX
from zenlake.node.abstract_sender import DROPPED, FULL, TAKEN, TOO_LARGE, AbstractSender
from zenlake.node.before_waiting import before_waiting
from zenlake.node.queue_budget import QueueBudget
from zenlake.node.settings import NodeSettings
from zenlake.protocol.transport import Transport
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.headers import PRIORITY_BITS, QOS_BLOCK, QOS_BLOCK_FIRST, QOS_EXPRESS
from zenlake.wire.push_run import Portion

_BLOCKING: Final = QOS_BLOCK | QOS_BLOCK_FIRST
# Longer messages are charged to the budget of all queues: the limits of a queue are batches.
_LARGE_BYTES: Final = 65_535
_FRAME_HEADER_BYTES: Final = 16  # or less, and the length before it
_PRIORITIES: Final = 8


class SendQueue(AbstractSender):
    """`push` and its variants are called under the node's lock, the others without it."""

    __slots__ = (
        "_block_first",
        "_charged_bytes",
        "_close_s",
        "_congested",
        "_drop_s",
        "_has_waiters",
        "_is_closed",
        "_is_overfull",
        "_largest",
        "_message_bytes_max",
        "_queues",
        "_refused",
        "_rest",
        "_room",
        "_takes_unlocked",
        "_transport",
        "_unlocked",
        "dropped",
        "lock",
    )

    def __init__(self, transport: Transport, settings: NodeSettings, queues: QueueBudget) -> None:
        self.lock = threading.Lock()
        self._room = threading.Condition(self.lock)
        self._has_waiters = False  # for room
        self._transport = transport
        self._message_bytes_max = transport.message_bytes_max
        self._queues = queues
        self._charged_bytes = 0  # to the budget of all queues
        self._drop_s = settings.wait_before_drop_s
        self._close_s = settings.wait_before_close_s
        self._refused = ""  # why a message was refused, until a warning of it is logged
        self._unlocked: list[bytes] = []  # appended without the lock, not yet in a batch
        self._takes_unlocked = False  # whether messages may be appended without the lock
        self._rest = b""  # of a unit that the link took a part of
        self._is_closed = False
        self._is_overfull = False
        # By priority: a wait for room has failed; a message of congestion control "block first"
        # has exceeded the limit. Either holds until there is room again.
        self._congested = [False] * _PRIORITIES
        self._block_first = [False] * _PRIORITIES
        self._largest = 0  # message that was kept although the queue was full
        self.dropped = 0

    # --- pushing, under the node's lock --------------------------------------------------------

    def push(self, data: bytes, qos: int, reliable: bool) -> int:
        with self.lock:
            self._absorb()
            return self._push(data, qos, reliable)

    def portion_bytes_max(self) -> int:
        agreed = self._transport.agreed
        if agreed.low_latency:
            return 0
        return max(1, agreed.batch_size - _FRAME_HEADER_BYTES)

    def room_bytes(self, qos: int, reliable: bool) -> int:
        return self._transport.outbound.room_bytes(qos & PRIORITY_BITS, reliable)

    def drops_run(self, count: int, qos: int, reliable: bool) -> bool:
        with self.lock:
            self._absorb()
            if self._is_closed:
                return True
            if self._transport.has_room(qos & PRIORITY_BITS) or (reliable and qos & _BLOCKING != 0):
                return False
            self.dropped += count
            return True

    def push_portion(self, portion: Portion, qos: int, reliable: bool, continues: bool) -> int:
        more = portion.count - 1
        with self.lock:
            self._absorb()
            dropped = self.dropped
            outcome = self._push(portion.data, qos, reliable, continues)
            if outcome != DROPPED:
                self._transport.outbound.note_more(more)
            elif self.dropped != dropped:
                self.dropped += more
            return outcome

    def refuse(self, key: str, size: int) -> str:
        limit = self._message_bytes_max
        self._transport.outbound.dropped_messages += 1
        self._refused = (
            f"a message on `{key}` of {size} bytes cannot be sent: a low-latency link carries "
            f"at most {limit} bytes (transport/unicast/lowlatency)"
        )
        return self._refused

    # --- under the lock of the queue -----------------------------------------------------------

    def _absorb(self) -> None:
        """Move the messages that were appended without the lock into batches; called first."""
        self._takes_unlocked = False
        if self._unlocked:
            # The list is never replaced: a thread may be about to append to it.
            appended = self._unlocked[:]
            del self._unlocked[: len(appended)]
            for data in appended:
                self._transport.push(data, DEFAULT_PRIORITY, True, False)

    def _push(self, data: bytes, qos: int, reliable: bool, continues: bool = False) -> int:
        priority = qos & PRIORITY_BITS
        transport = self._transport
        if self._is_closed:
            return DROPPED
        if len(data) > self._message_bytes_max:
            return TOO_LARGE
        if not transport.has_room(priority):
            may_exceed = self._may_exceed(priority, qos, reliable, continues)
            if not (may_exceed and self._charge(len(data))):
                self.dropped += 1
                return DROPPED
            self._largest = max(self._largest, len(data))
        elif len(data) > _LARGE_BYTES and not self._charge(len(data)):
            self.dropped += 1
            return DROPPED
        elif self._congested[priority] or self._block_first[priority]:
            self._congested[priority] = self._block_first[priority] = False
        has_room = transport.push(data, priority, reliable, qos & QOS_EXPRESS != 0)
        return TAKEN if has_room else FULL

    def _may_exceed(self, priority: int, qos: int, reliable: bool, continues: bool) -> bool:
        """Whether a message is kept although its queue is full."""
        is_blocking = reliable and qos & QOS_BLOCK != 0
        if continues and not is_blocking:
            return self._transport.total_queued_bytes() <= UNSENT_BYTES_MAX
        if not reliable or qos & _BLOCKING == 0:
            return False
        if is_blocking:
            # Each thread that fills the queue waits, so only many threads at once get here.
            excess = self._transport.total_queued_bytes() - self._largest
            self._is_overfull = self._is_overfull or excess > UNSENT_BYTES_MAX
            return not self._is_overfull
        if self._block_first[priority]:
            return False
        self._block_first[priority] = True
        return True

    def _charge(self, size: int) -> bool:
        """Reserve bytes of the budget of all queues, for bytes beyond the limits of this queue."""
        if self._queues.reserve(size):
            self._charged_bytes += size
            return True
        self._refused = (
            f"a message of {size} bytes is dropped: {self._queues.held_bytes} bytes wait for slow"
            f" links, limits/transport/unsent_process_bytes is {self._queues.limit_bytes}"
        )
        return False

    def _release_charged(self, queued_bytes: int) -> None:
        """Release the reservation beyond the queued bytes: a queue may never become empty."""
        if self._charged_bytes > queued_bytes:
            self._queues.release(self._charged_bytes - queued_bytes)
            self._charged_bytes = queued_bytes

    def _unsent_bytes(self) -> int:
        return self._transport.total_queued_bytes() + len(self._rest)

    # --- waiting for room, without any lock ----------------------------------------------------

    def must_wait(self, full: int, is_blocking: bool) -> bool:
        with self.lock:
            is_given_up = self._congested[full] or self._block_first[full]
            return not self._transport.has_room(full) and (is_blocking or not is_given_up)

    def _wait_for_room(self, priority: int, is_blocking: bool) -> bool:
        """Wait for room; False if there is none in time for a message that must not be dropped."""
        if not is_blocking and (self._congested[priority] or self._block_first[priority]):
            return True
        patience_s = self._close_s if is_blocking else self._drop_s
        deadline = None if patience_s is None else monotonic() + patience_s
        before_waiting()
        with self.lock:
            unsent = self._unsent_bytes()
            while not self._transport.has_room(priority) and not self._is_overfull:
                now_unsent = self._unsent_bytes()
                if is_blocking and now_unsent < unsent and patience_s is not None:
                    # A large message takes long: the deadline is for a link that accepts nothing.
                    unsent = now_unsent
                    deadline = monotonic() + patience_s
                left = None if deadline is None else deadline - monotonic()
                if self._is_closed or (left is not None and left <= 0):
                    break
                self._has_waiters = True
                self._room.wait(left)
            has_room = self._is_closed or self._transport.has_room(priority)
            self._congested[priority] = not has_room
        return has_room or not is_blocking
