"""NodeLock: the lock of routing and sessions, and the work that follows when it is released.

A thread uses them between `begin` and `end`. `end` releases the lock and then, in the calling
thread, sends the messages that were put on links and calls `after_unlock` of the sinks that got
items: nothing that may wait happens under the lock.

The lock is held for a short time, whatever a message asks for: routing stops when its steps are
used up and goes on when it next gets the lock (routing/work.py). The reader of the neighbour that
asked for the work resumes it; work that no neighbour waits for is resumed by a thread for all such
jobs. Between two steps of long work the lock stays free for as long as the step took, so that
others get at least half of the time.

Links that bring much at once share a second lock, `bulk`: one of them at a time decodes, routes
and sends. Python runs one thread at a time and lets it run for 5 ms if others want to: with ten
busy readers a message on another link would wait for all of them, several times. With `bulk` it
waits for one.

A reader keeps `bulk` until it has forwarded what it has read, for 2 ms at most, and releases it
before it waits for anything. It keeps it while it sends, for two reasons. If another reader routed
while this one is in a call to the socket, it would fill the queue of a link that takes everything,
and publications that may be dropped would be. And to pass the lock on with every batch would cost
two switches of threads for each.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf
from threading import get_ident
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final, cast

from zenlake.forks import InheritedLock
from zenlake.node.abstract_sender import AbstractSender
from zenlake.node.before_waiting import flush_senders
from zenlake.node.link_outlet import LinkOutlet
from zenlake.node.node_activity import NodeActivity
from zenlake.node.threads import ThreadError
from zenlake.node.timer import Timer
from zenlake.node.yield_gil import BUSY_S_MAX, yield_gil
from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.work import SLICE_STEPS
from zenlake.session.sink import Sink
from zenlake.wire.message import NetworkMessage

if TYPE_CHECKING:
    from zenlake.session.core import SessionCore

Links = list[tuple[AbstractSender, int, bool]] | None
"""Links that got messages under the lock, as `LinkOutlet.pop_arguments` returns them."""

MESSAGES_PER_LOCK: Final = 256


class Locked:
    """Holds the lock of a node during a `with`: calls `begin`, then `end`."""

    __slots__ = ("_begin", "_end")

    def __init__(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        self._begin = begin
        self._end = end

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *error: object) -> None:
        self._end()


class NodeLock:
    """Guards the dispatcher and the sessions, and runs their timers and jobs."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        # `begin` is never nested. The lock knows its owner, so that where Ctrl-C came between
        # `begin` and `end`, the next `end` of the same thread releases it.
        self.lock = threading.RLock()
        self.bulk = threading.Lock()
        self._waiting: set[int] = set()  # the ids of threads that wait for the lock
        self._bulk_owner = 0  # the id of the thread that holds `bulk`
        self._bulk_waiting: set[int] = set()  # the ids of threads that wait for `bulk`
        self._paused_at = 0.0  # when the owner of `bulk` last let others run
        self.dispatcher = dispatcher
        self.activity = NodeActivity()
        self._readers_in_callbacks = self.activity.readers_in_callbacks
        self._unflushed_senders = self.activity.unflushed_senders
        self.touched: list[LinkOutlet] = []
        self.has_unsent_replies = False
        self._sessions: list[SessionCore] = []
        self.timer = Timer("timer", self._next_deadline, self._handle_timeout)
        self.job_timer = Timer("routing", self._next_job, self._run_jobs)
        self._has_job_thread = False  # whether `job_timer` is started: at the first job
        self._long_work = threading.Lock()  # held by the one thread that runs jobs

    def begin(self) -> None:
        if not self.lock.acquire(False):
            thread = get_ident()
            self._waiting.add(thread)
            try:
                self.lock.acquire()
            finally:
                self._waiting.discard(thread)

    def end(self) -> None:
        """Release the lock, then do the work that was deferred under it: send, and call sinks."""
        _call_sinks(self.end_for_sinks())

    def end_without_waiting(self) -> None:
        """Release the lock as `end`, but do not wait for room on any link.

        A neighbour that reads too slowly loses its transport when its queue is full, and holds up
        no other until then.
        """
        self._after_unlock_without_waiting(self._pop_links(), self._release_sinks())

    def _after_unlock_without_waiting(self, links: Links, sinks: list[Sink] | None) -> None:
        if links is not None:
            for sender, _, _ in links:
                sender.after_unlock(-1, False)
        _call_sinks(sinks)

    def end_reply(self) -> None:
        """Release the lock as `end`, after a reply or final, which are to leave in one batch.

        If a reader of this node runs the callback, the replies to all queries that the reader has
        read leave together: it sends them after the callbacks, or the reader that takes over does.
        """
        if self._readers_in_callbacks and get_ident() in self._readers_in_callbacks:
            self.has_unsent_replies = True
            self._release()
        else:
            self.end()

    def flush_replies(self, is_last: bool) -> None:
        """Send what `end_reply` left; for `is_last` see `AbstractSender.after_unlock`."""
        if self.has_unsent_replies:
            self.begin()
            links, sinks = self._pop_links(), self._release_sinks()
            _send_to_links(links, is_last)
            _call_sinks(sinks)

    def end_for_sinks(self) -> list[Sink] | None:
        """Release the lock as `end`, but let the caller call `after_unlock` of the sinks."""
        links, sinks = self._pop_links(), self._release_sinks()
        _send_to_links(links, False)
        return sinks

    def _pop_links(self) -> Links:
        """The links that got messages; the lock is held."""
        touched = self.touched
        self.has_unsent_replies = False
        if not touched:
            return None
        links = [outlet.pop_arguments() for outlet in touched]
        touched.clear()
        return links

    def _release_sinks(self) -> list[Sink] | None:
        """Release the lock, and wake the timers if needed; returns the sinks that got items."""
        sinks: list[Sink] | None = None
        for session in self._sessions:
            taken = session.pop_touched()
            if taken:
                sinks = taken if sinks is None else sinks + taken
        is_early = self._earliest() < self.timer.armed
        has_jobs = self.dispatcher.has_jobs
        starts_jobs = has_jobs and not self._has_job_thread
        if starts_jobs:
            self._has_job_thread = True
        self._release()
        if is_early:
            self.timer.wake()
        if starts_jobs:
            self._start_job_thread()
        elif has_jobs and self.job_timer.armed == inf:
            self.job_timer.wake()
        return sinks

    def _release(self) -> None:
        lock = self.lock
        lock.release()
        while lock._is_owned():  # type: ignore[attr-defined]  # not in typeshed
            lock.release()

    def deliver(
        self,
        face: Face,
        messages: list[NetworkMessage],
        start: int,
        reliable: bool,
        now: float,
        is_last: bool,
    ) -> tuple[int, list[Sink] | None]:
        """Route messages of a link from `start` on.

        Returns the index of the first that is left, and sinks. The caller calls `after_unlock` of
        these before it delivers more, and `resume` while `face.job` is set. With `is_last` it is
        about to wait for more messages.
        """
        after, links, sinks = self._receive(face, messages, start, reliable, now)
        _send_to_links(links, is_last)
        return after, sinks

    def deliver_without_waiting(
        self, face: Face, messages: list[NetworkMessage], start: int, reliable: bool, now: float
    ) -> tuple[int, Links, list[Sink] | None]:
        """Deliver as `deliver`, in a thread that must not wait for room or for callbacks.

        Another thread has to call `after_unlock` for what it returns: full links, and sinks.
        """
        after, links, sinks = self._receive(face, messages, start, reliable, now)
        full_links: Links = None
        if links is not None:
            for link in links:
                link[0].after_unlock(-1, False, True)
            full_links = [link for link in links if link[1] >= 0] or None
        return after, full_links, sinks

    def after_unlock(self, links: Links, sinks: list[Sink] | None) -> None:
        """Do the rest of what `deliver_without_waiting` returned."""
        _send_to_links(links, False)
        _call_sinks(sinks)

    def deliver_bulk(
        self, face: Face, messages: list[NetworkMessage], start: int, reliable: bool, now: float
    ) -> tuple[int, list[Sink] | None]:
        """Deliver as `deliver` for a link that brings much at once; the reader holds `bulk`.

        The caller calls `end_bulk` before it waits for anything.
        """
        self.begin_bulk()
        after, links, sinks = self._receive(face, messages, start, reliable, now)
        if links is not None:
            for sender, _, _ in links:
                sender.after_unlock(-1, False, False, True)
            for sender, full, is_blocking in links:
                if full >= 0 and sender.must_wait(full, is_blocking):
                    self.end_bulk()
                    sender.after_unlock(full, is_blocking, False, True)
        self.pause_bulk()
        return after, sinks

    def begin_bulk(self) -> None:
        """Take `bulk`, unless this thread holds it.

        This thread does not flush before it waits: the owner of `bulk` does. A sender is used by
        one thread at a time, so the owner could not send meanwhile what it routes.
        """
        thread = get_ident()
        if self._bulk_owner == thread:
            return
        if not self.bulk.acquire(False):
            self._bulk_waiting.add(thread)
            try:
                self.bulk.acquire()
            finally:
                self._bulk_waiting.discard(thread)
        self._bulk_owner = thread

    def end_bulk(self) -> None:
        """Flush the senders and release `bulk`, if this thread holds it."""
        if self._bulk_owner == get_ident():
            if self._unflushed_senders:
                flush_senders(self._unflushed_senders)
            self.release_bulk()

    def release_bulk(self) -> None:
        """Release `bulk` without flushing: for a thread that is about to call listeners."""
        if self._bulk_owner == get_ident():
            self._bulk_owner = 0
            self.bulk.release()

    def _receive(
        self, face: Face, messages: list[NetworkMessage], start: int, reliable: bool, now: float
    ) -> tuple[int, Links, list[Sink] | None]:
        self.begin()
        try:
            stop = start + MESSAGES_PER_LOCK
            after = self.dispatcher.receive_run(
                face, messages, start, stop, reliable, now, SLICE_STEPS
            )
        finally:
            links, sinks = self._pop_links(), self._release_sinks()
        return after, links, sinks

    def pause_bulk(self) -> None:
        """Let threads run that wait for the node's lock or for the GIL; the caller owns `bulk`.

        The senders are flushed first. After a while `bulk` is passed to the next busy link, with a
        second pause: in the first one that link would run before those that have little to do.
        """
        is_over = monotonic() - self._paused_at > BUSY_S_MAX
        if self._waiting or is_over:
            if self._unflushed_senders:
                flush_senders(self._unflushed_senders)
            yield_gil()
            if is_over and self._bulk_waiting:
                self.end_bulk()
                yield_gil()
            self._paused_at = monotonic()

    def resume(self, face: Face) -> list[Sink] | None:
        """Continue the job of a face; the caller calls `after_unlock` of the sinks."""
        links, sinks = self._do_long_work(face)
        _send_to_links(links, False)
        return sinks

    def _do_long_work(self, face: Face | None) -> tuple[Links, list[Sink] | None]:
        """Continue the job of a face, or the jobs that no face waits for."""
        with self._long_work:
            began = monotonic()
            self.begin()
            try:
                if face is None:
                    self.dispatcher.run_jobs(SLICE_STEPS)
                else:
                    self.dispatcher.resume(face, SLICE_STEPS)
            finally:
                links, sinks = self._pop_links(), self._release_sinks()
            sleep(monotonic() - began)
        return links, sinks

    def _start_job_thread(self) -> None:
        try:
            self.job_timer.start()
        except ThreadError:  # the next `end` tries again
            self._has_job_thread = False

    def _next_job(self) -> float:
        return -inf if self.dispatcher.has_jobs else inf

    def _run_jobs(self, now: float) -> None:
        if self.dispatcher.has_jobs:
            links, sinks = self._do_long_work(None)
            self._after_unlock_without_waiting(links, sinks)

    def add_session(self, session: SessionCore) -> None:
        """An application in this process; between `begin` and `end`."""
        self._sessions = [*self._sessions, session]

    def wake_timer(self) -> None:
        """Wake the timer for a session. Finalizers call it too: it acquires no lock."""
        self.timer.wake()

    def leave_to_parent(self) -> None:
        """Stop in a forked child: nothing is sent, no sink is called, and `begin` raises."""
        self.lock = cast("threading.RLock", InheritedLock())
        self.touched.clear()
        self.activity.clear()
        self.has_unsent_replies = False
        self._sessions = []
        self.timer.armed = -inf  # so that `end` does not wake it

    def _earliest(self) -> float:
        """The earliest deadline of routing and sessions; the lock is held."""
        deadline = self.dispatcher.next_deadline()
        earliest = inf if deadline is None else deadline
        for session in self._sessions:
            deadline = session.next_deadline()
            if deadline is not None and deadline < earliest:
                earliest = deadline
        return earliest

    def _next_deadline(self) -> float:
        with self.lock:
            return self._earliest()

    def _handle_timeout(self, now: float) -> None:
        self.begin()
        try:
            self.dispatcher.handle_timeout(now)
            for session in self._sessions:
                session.handle_timeout(now)
        finally:
            self.end()


def _send_to_links(links: Links, is_last: bool) -> None:
    if links is not None:
        for sender, full, is_blocking in links:
            sender.after_unlock(full, is_blocking, is_last, False)


def _call_sinks(sinks: list[Sink] | None) -> None:
    if sinks is not None:
        for sink in sinks:
            sink.after_unlock()
