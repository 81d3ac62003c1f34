"""`NodeLock`: one thread at a time uses routing and sessions, and cleans up after itself.

Whoever has work for them does it between `begin` and `end`. `end` releases the lock and then,
in the calling thread, sends what was put on links and settles the sinks that got something:
nothing that may wait happens under the lock.

A turn is short, whatever a message asks for: routing stops when its steps are used up and goes
on in another turn (routing/work.py). The reader of the neighbour that asked does so, or, where
nobody waits for the result, a thread for all such jobs. Between two turns of long work the lock
stays free for as long as the turn took, so that others get at least half of the time.

Links that bring much at once share a second lock, `bulk`: one of them at a time decodes, routes
and sends. Python runs one thread at a time and lets it run for 5 ms if others want to: with ten
busy readers a message on another link waits for all of them, several times. With `bulk` it waits
for one.

A reader keeps `bulk` until it has forwarded what it has read, for 2 ms at most, and releases it
before it waits for anything. Sending is part of it for two reasons. If another reader routed while
this one is in a call to the socket, it would fill the queue of a link that takes everything, and
publications that may be dropped would be. And to pass the lock on with every batch means two
switches of threads for each.
"""

from __future__ import annotations

import threading
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
from zenlake.routing.work import TURN_STEPS
from zenlake.session.sink import Sink
from zenlake.wire.message import NetworkMessage

if TYPE_CHECKING:
    from zenlake.session.core import SessionCore

Links = list[tuple[AbstractSender, int, bool]] | None
"""Links that got something in a turn, as `LinkOutlet.take` gives them."""

MESSAGES_PER_LOCK: Final = 256


class NodeLock:
    """What the turn is about: the dispatcher, the sessions, and when they next need one."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        # Turns are never nested. It knows its owner so that a turn which Ctrl-C ended between
        # `begin` and `end` is ended by the next one of the same thread.
        self.lock = threading.RLock()
        self.bulk = threading.Lock()
        self._waiting: set[int] = set()  # threads that wait for the lock
        self._bulk_owner = 0  # the thread that holds `bulk`
        self._bulk_waiting: set[int] = set()  # threads that wait for it
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
        self._has_job_thread = False  # until there is a job
        self._long_work = threading.Lock()  # held by the one thread that does some

    def begin(self) -> None:
        if not self.lock.acquire(False):
            thread = get_ident()
            self._waiting.add(thread)
            try:
                self.lock.acquire()
            finally:
                self._waiting.discard(thread)

    def end(self) -> None:
        """Release the lock, then send and settle what was touched under it."""
        _call_sinks(self.end_for_sinks())

    def end_without_waiting(self) -> None:
        """The same without waiting for any link.

        A neighbour that reads too slowly what it is told loses its transport when its queue is
        full, and holds nobody up until then.
        """
        self._after_unlock_without_waiting(self._take_links(), self._release_sinks())

    def _after_unlock_without_waiting(self, links: Links, sinks: list[Sink] | None) -> None:
        if links is not None:
            for outward, _, _ in links:
                outward.after_unlock(-1, False)
        _call_sinks(sinks)

    def end_reply(self) -> None:
        """The same after a reply or its final, which leave together.

        Where a reader runs the callback, those of all queries that it has brought: it settles
        when it is back, or whoever takes its place does.
        """
        if self._readers_in_callbacks and get_ident() in self._readers_in_callbacks:
            self.has_unsent_replies = True
            self._release()
        else:
            self.end()

    def flush_replies(self, is_last: bool) -> None:
        """What `end_reply` left; for `is_last` see `AbstractSender.settle`."""
        if self.has_unsent_replies:
            self.begin()
            links = self._take_links()
            sinks = self._release_sinks()
            _send_to_links(links, is_last)
            _call_sinks(sinks)

    def end_for_sinks(self) -> list[Sink] | None:
        """The same, but sinks are for the caller to settle."""
        links = self._take_links()
        sinks = self._release_sinks()
        _send_to_links(links, False)
        return sinks

    def _take_links(self) -> Links:
        """Under the lock: the links that got something."""
        touched = self.touched
        self.has_unsent_replies = False
        if not touched:
            return None
        links = [outlet.take() for outlet in touched]
        touched.clear()
        return links

    def _release_sinks(self) -> list[Sink] | None:
        """Release the lock, and wake the timers if need be; the sinks that got something."""
        sinks: list[Sink] | None = None
        for session in self._sessions:
            taken = session.take_touched()
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
        while lock._is_owned():  # type: ignore[attr-defined]
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
        """Messages of a link from `start` on: the first that is left, and the sinks to settle.

        The caller settles them before it delivers more, and calls `resume` while `face.job` is
        set. With `is_last` it is about to wait for more.
        """
        after, links, sinks = self._receive(face, messages, start, reliable, now)
        _send_to_links(links, is_last)
        return after, sinks

    def deliver_without_waiting(
        self, face: Face, messages: list[NetworkMessage], start: int, reliable: bool, now: float
    ) -> tuple[int, Links, list[Sink] | None]:
        """The same by a thread that must wait for nobody, and is about to wait for more.

        What it gives back has to be settled by another: links that are full, and sinks.
        """
        after, links, sinks = self._receive(face, messages, start, reliable, now)
        full_links: Links = None
        if links is not None:
            for link in links:
                link[0].after_unlock(-1, False, True)
            full_links = [link for link in links if link[1] >= 0] or None
        return after, full_links, sinks

    def after_unlock(self, links: Links, sinks: list[Sink] | None) -> None:
        """What `deliver_without_waiting` gave back."""
        _send_to_links(links, False)
        _call_sinks(sinks)

    def deliver_bulk(
        self, face: Face, messages: list[NetworkMessage], start: int, reliable: bool, now: float
    ) -> tuple[int, list[Sink] | None]:
        """The same for a link that brings much at once; whoever waits for the lock is next.

        The caller calls `end_bulk` before it waits for anything.
        """
        self.begin_bulk()
        after, links, sinks = self._receive(face, messages, start, reliable, now)
        if links is not None:
            for outward, _, _ in links:
                outward.after_unlock(-1, False, False, True)
            for outward, full, is_blocking in links:
                if full >= 0 and outward.must_wait(full, is_blocking):
                    self.end_bulk()
                    outward.after_unlock(full, is_blocking, False, True)
        self.pause_bulk()
        return after, sinks

    def begin_bulk(self) -> None:
        """Take `bulk`, unless this thread holds it.

        The owner sends what this thread has gathered: if this one did while the owner routes, the
        owner could not send what it brings.
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
        """Release `bulk` if this thread holds it; what links have gathered leaves before."""
        if self._bulk_owner == get_ident():
            if self._unflushed_senders:
                flush_senders(self._unflushed_senders)
            self.release_bulk()

    def release_bulk(self) -> None:
        """The same without sending: for a thread that is about to call listeners."""
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
                face, messages, start, stop, reliable, now, TURN_STEPS
            )
        finally:
            links = self._take_links()
            sinks = self._release_sinks()
        return after, links, sinks

    def pause_bulk(self) -> None:
        """By the owner of `bulk`: whoever waits for the node's lock is next.

        Others may not even have come as far as waiting for ours: they wait for Python's own.
        What links have gathered meanwhile leaves first. After a while the next busy link has its
        turn, but not in the same pause: it would go on before those that have little to do.
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
        """One more turn for the last message of a face; the caller settles the sinks."""
        links, sinks = self._do_long_work(face)
        _send_to_links(links, False)
        return sinks

    def _do_long_work(self, face: Face | None) -> tuple[Links, list[Sink] | None]:
        """A turn for the job of a face, or for the jobs that no face waits for."""
        with self._long_work:
            began = monotonic()
            self.begin()
            try:
                if face is None:
                    self.dispatcher.run_jobs(TURN_STEPS)
                else:
                    self.dispatcher.resume(face, TURN_STEPS)
            finally:
                links = self._take_links()
                sinks = self._release_sinks()
            sleep(monotonic() - began)
        return links, sinks

    def _start_job_thread(self) -> None:
        try:
            self.job_timer.start()
        except ThreadError:  # the next turn tries again
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

    def remove_session(self, session: SessionCore) -> None:
        self._sessions = [one for one in self._sessions if one is not session]

    def wake_timer(self) -> None:
        """A session has something to do at once. By finalizers too: takes no lock."""
        self.timer.wake()

    def leave_to_parent(self) -> None:
        """In a forked child: nothing is sent or settled any more, and `begin` raises."""
        self.lock = cast("threading.RLock", InheritedLock())
        self.touched.clear()
        self.activity.clear()
        self.has_unsent_replies = False
        self._sessions = []
        self.timer.armed = -inf  # so that `end` does not wake it

    def _earliest(self) -> float:
        """Of routing and sessions; under the lock."""
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


def _send_to_links(links: Links, is_last: bool, will_flush: bool = False) -> None:
    if links is not None:
        for outward, full, is_blocking in links:
            outward.after_unlock(full, is_blocking, is_last, will_flush)


def _call_sinks(sinks: list[Sink] | None) -> None:
    if sinks is not None:
        for sink in sinks:
            sink.after_unlock()
