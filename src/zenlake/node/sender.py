"""Sender: gets the messages of one transport onto its link, at once or gathered.

A message that comes alone leaves at once, sent by the thread that made it. Where messages come
faster than it pays to send them one by one (send_budget.py), they gather, and leave when a batch
is full, when it pays again, when a thread of ours is about to wait (gathering.py), or after a
moment, by a thread of the sender's own. That thread also takes over when the link is full. At
most one thread sends at any time.

While messages gather, small ones are only appended to a list, without the lock or a look at the
clock; whoever next takes the lock puts them into batches before anything else.

A queue that is full makes the thread that filled it wait: a moment for messages that may be
dropped, and if that did not help, later ones are dropped at once until there is room again;
longer for messages that must not be, and then the transport is closed (wire reference §6.6).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Final

from zenlake.limits import UNSENT_BYTES_MAX
from zenlake.links import Link, LinkError
from zenlake.node.abstract_sender import DROPPED, FULL, TAKEN, TOO_LARGE, AbstractSender
from zenlake.node.before_waiting import before_waiting
from zenlake.node.drop_warnings import DropWarnings
from zenlake.node.node_activity import UnflushedSender
from zenlake.node.queue_budget import QueueBudget
from zenlake.node.send_budget import SendBudget
from zenlake.node.settings import NodeSettings
from zenlake.node.threads import ThreadError, join_thread, start_thread
from zenlake.protocol.transport import Transport
from zenlake.wire import CloseReason
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.push_run import Portion

# A publication that comes so long after the last message is none of many; whoever asks is about
# to wait and sends then.
_APART_S: Final = 0.0003
_UNITS_IN_A_ROW: Final = 64
# Longer messages are charged to the budget of all queues: the limits of a queue are batches.
_LARGE_BYTES: Final = 65_535
# Units are joined into one call up to this size; longer ones are not worth being copied.
_JOINED_BYTES: Final = 32 * 1024
_FRAME_HEADER_BYTES: Final = 16  # or less, and the length before it
_CHECK_S: Final = 0.5
_IDLE_LOOKS: Final = 20
_PRIORITIES: Final = 8
_BLOCK: Final = 0x08
_BLOCK_OR_FIRST: Final = 0x28
_EXPRESS: Final = 0x10
# Messages that are appended without the lock have priority DATA, are not express, and short: so
# many of them (MESSAGES_UNLOOKED_MAX) exceed a full queue by little.
_PRIORITY_AND_EXPRESS: Final = 0x17
_UNLOCKED_BYTES_MAX: Final = 2048


class Sender(AbstractSender):
    """The outbound half of a transport: `push` under the node's lock, then `after_unlock`."""

    __slots__ = (
        "_batching_s",
        "_block_first",
        "_budget",
        "_charged_bytes",
        "_close_s",
        "_congested",
        "_drop_s",
        "_drop_warnings",
        "_failed",
        "_gathering_since",
        "_has_waiters",
        "_is_batching",
        "_is_closed",
        "_is_full",
        "_is_listed",
        "_is_overfull",
        "_is_sending",
        "_is_watching",
        "_largest",
        "_link",
        "_message_bytes_max",
        "_needs_watch",
        "_own_thread",
        "_queues",
        "_refused",
        "_rest",
        "_room",
        "_sending_since",
        "_sends_all",
        "_takes_unlocked",
        "_transport",
        "_unflushed_senders",
        "_unlocked",
        "_wake",
        "dropped",
        "lock",
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
        self.lock = threading.Lock()
        self._room = threading.Condition(self.lock)
        self._wake = threading.Condition(self.lock)
        self._transport = transport
        self._link = link
        self._failed: Callable[[str], None] | None = failed
        self._message_bytes_max = transport.message_bytes_max
        self._drop_warnings = drop_warnings
        self._refused = ""  # why a message was refused, until a warning of it is logged
        self._queues = queues
        self._charged_bytes = 0  # to the budget of all queues
        self._drop_s = settings.wait_before_drop_s
        self._close_s = settings.wait_before_close_s
        self._is_batching = (
            settings.batching and settings.batching_s > 0 and not transport.agreed.low_latency
        )
        self._batching_s = settings.batching_s
        self._own_thread: threading.Thread | None = None
        self._rest = b""  # of a unit that the link took a part of
        self._is_sending = False
        self._sends_all = True  # not only batches that are full
        self._is_full = False  # the link took less than it was given
        self._is_closed = False
        self._is_overfull = False
        self._sending_since = 0.0
        self._gathering_since = 0.0
        self._unflushed_senders = unflushed_senders  # of the node
        self._is_listed = False  # in it
        self._is_watching = False  # the own thread
        self._needs_watch = True  # of the own thread: nobody comes back to send what gathers
        self._budget = SendBudget()
        self._unlocked: list[bytes] = []  # appended without the lock, not yet in a batch
        self._takes_unlocked = False  # the list does
        self._congested = [False] * _PRIORITIES
        self._block_first = [False] * _PRIORITIES
        self._has_waiters = False
        self._largest = 0
        self.dropped = 0

    # --- pushing, under the node's lock --------------------------------------------------------

    def push(self, data: bytes, qos: int, reliable: bool) -> int:
        """An encoded message with its QoS byte; see `AbstractSender.push`."""
        with self.lock:
            self._absorb()
            return self._push(data, qos, reliable)

    def portion_bytes_max(self) -> int:
        agreed = self._transport.agreed
        if agreed.low_latency:
            return 0
        return max(1, agreed.batch_size - _FRAME_HEADER_BYTES)

    def room_bytes(self, qos: int, reliable: bool) -> int:
        return self._transport.outbound.room_bytes(qos & 7, reliable)

    def drops_run(self, count: int, qos: int, reliable: bool) -> bool:
        with self.lock:
            self._absorb()
            if self._is_closed:
                return True
            if self._transport.has_room(qos & 7) or (reliable and qos & _BLOCK_OR_FIRST != 0):
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

    def _push(self, data: bytes, qos: int, reliable: bool, continues: bool = False) -> int:
        priority = qos & 7
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
        has_room = transport.push(data, priority, reliable, qos & _EXPRESS != 0)
        return TAKEN if has_room else FULL

    def _charge(self, size: int) -> bool:
        """Whether all queues together may hold so much more than their own limits bound."""
        if self._queues.take(size):
            self._charged_bytes += size
            return True
        self._refused = (
            f"a message of {size} bytes is dropped: {self._queues.held_bytes} bytes wait for slow"
            f" links, limits/transport/unsent_process_bytes is {self._queues.limit_bytes}"
        )
        return False

    def _release_charged(self, queued_bytes: int) -> None:
        """No more than so much waits: a queue that is never empty must not be charged for ever."""
        if self._charged_bytes > queued_bytes:
            self._queues.give(self._charged_bytes - queued_bytes)
            self._charged_bytes = queued_bytes

    def _may_exceed(self, priority: int, qos: int, reliable: bool, continues: bool) -> bool:
        """Whether a message is kept although its queue is full."""
        is_blocking = reliable and qos & _BLOCK != 0
        if continues and not is_blocking:
            return self._transport.total_queued_bytes() <= UNSENT_BYTES_MAX
        if not reliable or qos & _BLOCK_OR_FIRST == 0:
            return False
        if is_blocking:
            # All who fill it wait, so it takes many threads at once to come here.
            excess = self._transport.total_queued_bytes() - self._largest
            self._is_overfull = self._is_overfull or excess > UNSENT_BYTES_MAX
            return not self._is_overfull
        if self._block_first[priority]:
            return False
        self._block_first[priority] = True
        return True

    def refuse(self, key: str, size: int) -> str:
        limit = self._message_bytes_max
        self._transport.outbound.dropped_messages += 1
        self._refused = (
            f"a message on `{key}` of {size} bytes cannot be sent: a low-latency link carries "
            f"at most {limit} bytes (transport/unicast/lowlatency)"
        )
        return self._refused

    # --- settling, by the thread that pushed, without any lock ---------------------------------

    def send(self, data: bytes, qos: int, reliable: bool) -> bool:
        """Push and settle in one, without the node's lock; hot."""
        is_appended = (
            self._takes_unlocked
            and reliable
            and qos & _PRIORITY_AND_EXPRESS == DEFAULT_PRIORITY
            and len(data) <= _UNLOCKED_BYTES_MAX
        )
        if is_appended:
            self._unlocked.append(data)
            # Asked again: if it is still so, whoever changes it will find the message.
            if self._takes_unlocked and len(self._unlocked) < self._budget.messages_unlooked:
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
            self._wait_for_room(qos & 7, reliable and qos & _BLOCK != 0)
        return True

    def _absorb(self) -> None:
        """Under the lock, before anything else: what was appended without it goes into batches."""
        self._takes_unlocked = False
        if self._unlocked:
            # Never another list: a thread may be about to append to this one.
            appended = self._unlocked[:]
            del self._unlocked[: len(appended)]
            for data in appended:
                self._transport.push(data, DEFAULT_PRIORITY, True, False)

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
            self._wait_for_room(full, is_blocking)

    def must_wait(self, full: int, is_blocking: bool) -> bool:
        with self.lock:
            is_given_up = self._congested[full] or self._block_first[full]
            return not self._transport.has_room(full) and (is_blocking or not is_given_up)

    def _begin_to_send(self, apart_s: float, will_flush: bool = False) -> bool:
        """Under the lock. Batches that are full go at once, and leave what gathers behind them."""
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
        """Let messages wait for more; False if there is no thread that would send them."""
        if self._needs_watch and not self._is_watching and not self._rouse():
            return False
        self._gathering_since = now
        if not self._is_listed:
            self._is_listed = True
            self._unflushed_senders.append(self)
        return True

    def _wait_for_room(self, priority: int, is_blocking: bool) -> None:
        if not is_blocking and (self._congested[priority] or self._block_first[priority]):
            return
        patience_s = self._close_s if is_blocking else self._drop_s
        deadline = None if patience_s is None else monotonic() + patience_s
        before_waiting()
        with self.lock:
            unsent = self._unsent_bytes()
            while not self._transport.has_room(priority) and not self._is_overfull:
                now_unsent = self._unsent_bytes()
                if is_blocking and now_unsent < unsent and patience_s is not None:
                    # A large message takes its time: patience is for a link that takes nothing.
                    unsent = now_unsent
                    deadline = monotonic() + patience_s
                left = None if deadline is None else deadline - monotonic()
                if self._is_closed or (left is not None and left <= 0):
                    break
                self._has_waiters = True
                self._room.wait(left)
            has_room = self._is_closed or self._transport.has_room(priority)
            self._congested[priority] = not has_room
        if is_blocking and not has_room:
            self.fail("it does not take what must not be dropped", is_unresponsive=True)

    def _unsent_bytes(self) -> int:
        return self._transport.total_queued_bytes() + len(self._rest)

    def flush(self) -> None:
        with self.lock:
            self._is_listed = False  # it was taken off the list for this
        if self._takes_over():
            self._send()

    # --- sending, by the one thread that set _is_sending ---------------------------------------

    def send_now(self) -> None:
        """Keep-alives and the like."""
        with self.lock:
            self._sends_all = True
            if self._is_sending or self._is_closed:
                return
            self._is_sending = True
        self._send()

    def _send(self) -> None:
        """Everything that waits, until the link is full; then the own thread goes on.

        It also does when others bring messages as fast as this thread sends them.
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
                if not self._rouse():
                    # Without the own thread, the next message or KEEP_ALIVE goes on.
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

    def _rouse(self) -> bool:
        """Under the lock: the own thread has something to do; False if there can be none."""
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
        """While messages gather again and again, without being woken for each time."""
        idle = 0
        while idle < _IDLE_LOOKS and not self._is_closed and not self._is_full:
            idle = 0 if self._gathering_since else idle + 1
            with self.lock:
                if not self._is_full:
                    self._wake.wait(self._batching_s)
            if self._takes_over():
                self._send()

    def _takes_over(self) -> bool:
        """Whether what gathers was not sent meanwhile, and is not being sent."""
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
        """Whoever is told of failures: the link is over."""
        self._failed = None

    def send_close(self, reason: CloseReason, patience_s: float) -> None:
        """CLOSE after everything that waits, as far as the link takes it in time."""
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
        """The link is gone: wake everybody who waits here."""
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
