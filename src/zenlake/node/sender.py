"""Sender: sends the queued messages of one transport, at once or gathered into batches.

A message that comes alone is sent at once, by the thread that made it. Where messages come faster
than it pays to send them one by one (send_budget.py), they gather. They are sent when a batch is
full, when the budget allows it again, when a thread is about to wait (before_waiting.py), or after
a moment by the sender's own thread. That thread also takes over when the link is full. At most one
thread sends at any time.

While messages gather, small ones are only appended to a list, without the lock and without reading
the clock (send_queue.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Final

from zenlake.links import Link, LinkError
from zenlake.node.abstract_sender import DROPPED, FULL, TAKEN, TOO_LARGE
from zenlake.node.drop_warnings import DropWarnings
from zenlake.node.node_activity import UnflushedSender
from zenlake.node.queue_budget import QueueBudget
from zenlake.node.send_budget import SendBudget
from zenlake.node.send_queue import SendQueue
from zenlake.node.settings import NodeSettings
from zenlake.node.threads import ThreadError, join_thread, start_thread
from zenlake.protocol.transport import Transport
from zenlake.wire import CloseReason
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.headers import PRIORITY_BITS, QOS_BLOCK, QOS_EXPRESS

# A single publication, so long after the last message, is sent at once. A query is not: its
# thread flushes before it waits for the replies.
_APART_S: Final = 0.0003
_UNITS_IN_A_ROW: Final = 64
# Units are joined into one call up to this size; longer ones are not worth being copied.
_JOINED_BYTES: Final = 32 * 1024
_CHECK_S: Final = 0.5
_IDLE_LOOKS: Final = 20
# Messages that are appended without the lock have priority DATA, are not express, and short: so
# many of them (MESSAGES_PER_CLOCK_READ_MAX) exceed a full queue by little.
_PRIORITY_AND_EXPRESS: Final = PRIORITY_BITS | QOS_EXPRESS
_UNLOCKED_BYTES_MAX: Final = 2048


class Sender(SendQueue):
    """The outbound half of a transport: `push` under the node's lock, then `after_unlock`."""

    __slots__ = (
        "_batching_s",
        "_budget",
        "_drop_warnings",
        "_failed",
        "_gathering_since",
        "_is_batching",
        "_is_full",
        "_is_listed",
        "_is_sending",
        "_is_watching",
        "_link",
        "_needs_watch",
        "_own_thread",
        "_sending_since",
        "_sends_all",
        "_unflushed_senders",
        "_wake",
    )

    def __init__(
        self,
        transport: Transport,
        link: Link,
        settings: NodeSettings,
        queues: QueueBudget,
        failed: Callable[[str], None],
        drop_warnings: DropWarnings,
        unflushed_senders: list[UnflushedSender],
    ) -> None:
        super().__init__(transport, settings, queues)
        self._wake = threading.Condition(self.lock)
        self._link = link
        self._failed: Callable[[str], None] | None = failed
        self._drop_warnings = drop_warnings
        self._is_batching = (
            settings.batching and settings.batching_s > 0 and not transport.agreed.low_latency
        )
        self._batching_s = settings.batching_s
        self._own_thread: threading.Thread | None = None
        self._is_sending = False  # some thread
        self._sends_all = True  # not only batches that are full
        self._is_full = False  # the link accepted only a part
        self._sending_since = 0.0
        self._gathering_since = 0.0
        self._unflushed_senders = unflushed_senders  # of the node
        self._is_listed = False  # in it
        self._is_watching = False  # the own thread
        self._needs_watch = True  # by the own thread: no other thread will flush what gathers
        self._budget = SendBudget()

    # --- after the node's lock is released, by the thread that pushed --------------------------

    def send(self, data: bytes, qos: int, reliable: bool) -> bool:
        """`push` and `after_unlock` in one, without the node's lock; hot."""
        is_appended = (
            self._takes_unlocked
            and reliable
            and qos & _PRIORITY_AND_EXPRESS == DEFAULT_PRIORITY
            and len(data) <= _UNLOCKED_BYTES_MAX
        )
        if is_appended:
            self._unlocked.append(data)
            # Read again: if it is still true, the thread that clears it absorbs the message.
            if self._takes_unlocked and len(self._unlocked) < self._budget.messages_per_clock_read:
                return True
        lock = self.lock
        lock.acquire()
        try:
            self._absorb()
            if is_appended:
                outcome = TAKEN if self._transport.has_room(DEFAULT_PRIORITY) else FULL
            else:
                outcome = self._push(data, qos, reliable)
            if outcome == TOO_LARGE:
                return False
            sends = outcome != DROPPED and self._begin_to_send(_APART_S)
            if not sends and self._is_batching and not self._is_closed:
                self._takes_unlocked = self._transport.has_room(DEFAULT_PRIORITY)
        finally:
            lock.release()
        if sends:
            self._send()
        if outcome == FULL:
            self._wait_or_fail(qos & PRIORITY_BITS, reliable and qos & QOS_BLOCK != 0)
        return True

    def after_unlock(
        self, full: int, is_blocking: bool, is_last: bool = False, will_flush: bool = False
    ) -> None:
        """Send what was pushed or, if more may come, let it gather.

        Then wait for room in the queue of priority `full`, -1 if none was filled.
        """
        if self._refused:
            text, self._refused = self._refused, ""
            self._drop_warnings.unsendable(text, self._link.dst)
        with self.lock:
            sends = self._begin_to_send(-inf if is_last else inf, will_flush)
        if sends:
            self._send()
        if full >= 0:
            self._wait_or_fail(full, is_blocking)

    def _wait_or_fail(self, priority: int, is_blocking: bool) -> None:
        if not self._wait_for_room(priority, is_blocking):
            self.fail("the link accepts no message that must not be dropped", is_unresponsive=True)

    def _begin_to_send(self, apart_s: float, will_flush: bool = False) -> bool:
        """Whether this thread sends now, at least the batches that are full; the lock is held."""
        if self._is_sending:
            return False
        now = monotonic()
        has_time = self._budget.has_time(apart_s, now) and not will_flush
        self._needs_watch = not will_flush
        if has_time or not self._is_batching:
            self._sends_all = True
            self._is_sending = True
        elif self._transport.outbound.has_full_batch:
            self._sends_all = False
            self._is_sending = True
        elif self._gathering_since == 0.0 and not self._gather(now):
            self._sends_all = True
            self._is_sending = True
        return self._is_sending

    def _gather(self, now: float) -> bool:
        """Let messages wait for more; False if no thread would send them."""
        if self._needs_watch and not self._is_watching and not self._wake_own_thread():
            return False
        self._gathering_since = now
        if not self._is_listed:
            self._is_listed = True
            self._unflushed_senders.append(self)
        return True

    def flush(self) -> None:
        with self.lock:
            self._is_listed = False  # the caller took it off the list
        if self._takes_over():
            self._send()

    # --- sending, by the one thread that set _is_sending ---------------------------------------

    def send_now(self) -> None:
        """Send keep-alives and all queued messages."""
        with self.lock:
            self._sends_all = True
            if self._is_sending or self._is_closed:
                return
            self._is_sending = True
        self._send()

    def _send(self) -> None:
        """Send all that is queued.

        The own thread goes on when the link is full, or when others queue messages as fast as this
        thread sends them.
        """
        self._sending_since = monotonic()
        try:
            for _ in range(_UNITS_IN_A_ROW):
                unit = self._rest or self._next_unit()
                if not unit:
                    return
                taken = self._link.try_send(unit)
                self._rest = unit[taken:]
                if self._rest:
                    break
            with self.lock:
                self._is_full = True
                if not self._wake_own_thread():
                    # There is no own thread: the next message or KEEP_ALIVE sends the rest.
                    self._absorb()
                    self._is_full = self._is_sending = False
        except LinkError as error:
            self._stop_sending()
            self.fail(error.cause)

    def _next_unit(self) -> bytes | None:
        with self.lock:
            self._absorb()
            now = monotonic()
            unit = self._transport.next_unit(now, self._sends_all)
            if unit is not None and self._link.is_stream:
                unit = self._with_more(unit, now)
            elif unit is None:
                self._is_sending = False
                self._budget.note_sent(self._sending_since, now)
                self._gathering_since = 0.0
                self._largest = 0
                if not self._sends_all and self._transport.total_queued_bytes() > 0:
                    self._gather(now)
            if self._charged_bytes:
                self._release_charged(self._transport.total_queued_bytes())
            if self._has_waiters:
                self._has_waiters = False
                self._room.notify_all()
            return unit

    def _with_more(self, unit: bytes, now: float) -> bytes:
        """On a stream several short units may leave in one call, which is cheaper."""
        if len(unit) >= _JOINED_BYTES or self._transport.total_queued_bytes() == 0:
            return unit
        units = [unit]
        size = len(unit)
        while size < _JOINED_BYTES:
            more = self._transport.next_unit(now, self._sends_all)
            if more is None:
                break
            units.append(more)
            size += len(more)
        return b"".join(units)

    def _stop_sending(self) -> None:
        with self.lock:
            self._is_sending = False
            self._rest = b""
            self._room.notify_all()

    def _wake_own_thread(self) -> bool:
        """Start or wake the own thread; False if it cannot be started. The lock is held."""
        if self._own_thread is None and not self._is_closed:
            thread = threading.Thread(
                target=self._run, name=f"zenlake send {self._link.dst}", daemon=True
            )
            try:
                start_thread(thread)
            except ThreadError:
                return False
            self._own_thread = thread
        self._wake.notify()
        return True

    def _run(self) -> None:
        while True:
            with self.lock:
                self._is_watching = False
                while not self._is_closed and not self._is_full and not self._gathering_since:
                    self._wake.wait()
                if self._is_closed:
                    return
                is_full = self._is_full
                self._is_watching = not is_full
            if not is_full:
                self._watch()
            elif self._link.wait_writable(_CHECK_S):
                with self.lock:
                    self._is_full = False
                self._send()

    def _watch(self) -> None:
        """Flush periodically while messages keep gathering, without being woken for each time."""
        idle = 0
        while idle < _IDLE_LOOKS and not self._is_closed and not self._is_full:
            idle = 0 if self._gathering_since else idle + 1
            with self.lock:
                if not self._is_full:
                    self._wake.wait(self._batching_s)
            if self._takes_over():
                self._send()

    def _takes_over(self) -> bool:
        """Whether this thread has to send the waiting messages, because no other does."""
        with self.lock:
            self._sends_all = True
            if self._is_sending or self._gathering_since == 0.0:
                self._gathering_since = 0.0
                return False
            self._is_sending = True
            return True

    # --- the end -------------------------------------------------------------------------------

    def fail(self, cause: str, is_unresponsive: bool = False) -> None:
        if is_unresponsive:
            with self.lock:
                self._absorb()
                self._transport.close(CloseReason.UNRESPONSIVE)
            self.send_now()
        failed = self._failed
        if failed is not None:
            failed(cause)

    def forget_owner(self) -> None:
        """Note that the link is over: later failures are not reported."""
        self._failed = None

    def send_close(self, reason: CloseReason, patience_s: float) -> None:
        """Send CLOSE after everything that is queued, as far as the link accepts it in time."""
        deadline = monotonic() + patience_s
        with self.lock:
            self._absorb()
            self._transport.close(reason)
        self.send_now()
        with self.lock:
            while self._is_sending and not self._is_closed:
                left = deadline - monotonic()
                if left <= 0:
                    return
                self._has_waiters = True
                self._room.wait(left)

    def stop(self) -> None:
        """The link is gone: wake all threads that wait here."""
        with self.lock:
            self._takes_unlocked = False
            self._is_closed = True
            self._release_charged(0)
            self._room.notify_all()
            self._wake.notify_all()
            if self._is_listed:
                with suppress(ValueError):
                    self._unflushed_senders.remove(self)

    def join(self, timeout_s: float) -> None:
        join_thread(self._own_thread, timeout_s)
