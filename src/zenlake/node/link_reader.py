"""LinkReader: the inbound half of a transport, from the link to routing and to callbacks.

Its thread reads the link and hands messages to routing, under the node's lock. The messages that
routing forwards are sent after the lock is released.

A link that was silent for a while is left to a thread that waits for all such links
(idle_links.py).

A reader also runs callbacks. If one takes long, another reader takes over (reader_handover.py),
beginning with the messages that this one has read and not handed on (receive_queue.py); this thread
only finishes the callback.
"""

from __future__ import annotations

import threading
import time
from math import inf
from typing import TYPE_CHECKING, Final

from zenlake.links import LinkError, LinkTimeout
from zenlake.node.before_waiting import flush_all_nodes, flush_senders
from zenlake.node.idle_links import IDLE_LINKS, IS_SUPPORTED, PATIENCE_S
from zenlake.node.node_lock import MESSAGES_PER_LOCK, Links
from zenlake.node.reader_handover import READER_HANDOVER
from zenlake.node.receive_queue import ReceiveQueue
from zenlake.node.threads import ThreadError, join_thread, start_thread
from zenlake.protocol.errors import TransportError
from zenlake.routing.face import Face
from zenlake.session.sink import Sink

if TYPE_CHECKING:
    from zenlake.node.link_runner import LinkRunner

# A reader that was busy this long may have a keep-alive of the peer still unread.
_BUSY_S: Final = 0.2
# This many bytes, read at once, are decoded and routed by one reader at a time (node_lock.py).
_BULK_BYTES: Final = 16 * 1024
# Up to this many bytes of an idle link are decoded at once: most of them are KEEP_ALIVE.
_SHORT_BYTES: Final = 1024


class LinkReader(ReceiveQueue):
    """The thread that reads a link and hands on its messages."""

    def __init__(self, runner: LinkRunner, early: bytes) -> None:
        super().__init__(runner.transport)
        self._runner = runner
        self.link = runner.link
        self.node_lock = runner.node_lock
        self._readers_in_callbacks = self.node_lock.activity.readers_in_callbacks
        self._unflushed_senders = self.node_lock.activity.unflushed_senders
        self.face: Face | None = None
        self._early = early  # bytes that arrived with the last batch of the handshake
        self._is_bulk = False  # whether many bytes were read at once
        self._left_links: Links = None  # full links: the thread for idle links must not wait
        self._left_sinks: list[Sink] | None = None
        self._patience_s = inf  # how long a reader waits for messages
        self._busy_at = runner.opened_at  # when the last message came
        self._reading_since = inf  # since when it waits for bytes; inf while it works
        self.callback_since = 0.0
        self._has_called = False  # whether callbacks ran, which may have sent on any node
        self._callback_sink: Sink | None = None
        self._callback_lock = threading.Lock()
        self._callback_thread = 0
        self._handovers = 0  # how often another reader took over
        self._reader = self._new_reader()

    def _new_reader(self) -> threading.Thread:
        name = f"zenlake read {self.link.dst}"
        return threading.Thread(target=self._run, name=name, daemon=True)

    def start(self, face: Face) -> None:
        """Start to read for a face; ThreadError if there is no thread for it."""
        self.face = face
        self._set_patience()
        start_thread(self._reader)

    def is_working(self) -> bool:
        """Whether the reader has something to do before it reads the next bytes."""
        return self._reading_since == inf

    def drop(self, cause: str) -> None:
        """The link is over."""
        self._runner.drop(cause)

    def leave_to_parent(self) -> None:
        """Stop, if this thread reads the link of a parent process."""
        self._handovers += 1

    def is_alive(self) -> bool:
        return self._reader.is_alive()

    def is_current(self) -> bool:
        """Whether the calling thread is the one that reads."""
        return self._reader is threading.current_thread()

    def join(self, timeout_s: float) -> None:
        join_thread(self._reader, timeout_s)

    def _set_patience(self) -> None:
        if IS_SUPPORTED:
            self._patience_s = IDLE_LINKS.update_patience()
            self.link.set_patience(self._patience_s)

    # --- reading -------------------------------------------------------------------------------

    def _run(self) -> None:
        cause: str | None = "reading failed"
        with self._callback_lock:
            pass  # the reader that hands over has set the state
        self.node_lock.flush_replies(False)
        try:
            self._finish_left()
            cause = self._read(self._handovers)
        except (LinkError, TransportError) as error:
            cause = error.cause
        finally:
            self.node_lock.end_bulk()
            flush_all_nodes()
            if cause is not None:
                self._runner.drop(cause)

    def _read(self, handovers: int) -> str | None:
        """Read until the link is over; returns the cause, None if another reader took over."""
        transport = self.transport
        if self._early:
            data, self._early = self._early, b""
            self._decode_part(data, time.monotonic())
        while not self._runner.is_over:
            began = time.monotonic()
            if not self._hand_on(handovers, began):
                return None
            if transport.inbound.has_more:
                self._decode_part(b"", began)
                continue
            if self._failure is not None:
                raise self._pop_failure()
            if transport.peer_closed is not None:
                return f"the peer closed ({transport.peer_closed})"
            now = time.monotonic()
            if now - began > _BUSY_S:
                transport.inbound.received_at = now
            if self._is_bulk:
                self.node_lock.end_bulk()
            if self._has_called:
                self._has_called = False
                flush_all_nodes()
            elif self._unflushed_senders:
                flush_senders(self._unflushed_senders)
            self._reading_since = now
            if IDLE_LINKS.is_crowded and self._patience_s >= PATIENCE_S:
                self._set_patience()
            if now - self._busy_at > self._patience_s and self._leave_idle():
                return None  # only keep-alives come
            try:
                data = self.link.receive()
            except LinkTimeout:
                self._busy_at = -inf
                continue
            self._reading_since = inf
            if not data:
                return self._runner.cause or "the link ended"
            self._decode_part(data, time.monotonic())
            data = b""  # freed while the link is silent
        return self._runner.cause

    def _leave_idle(self) -> bool:
        """Leave the link to the thread for idle links, which calls `wake`; False if it cannot."""
        descriptor = self.link.begin_idle()
        if descriptor < 0:
            return False
        if not IDLE_LINKS.add(descriptor, self):
            self.link.end_idle()
            return False
        return True

    def wake(self) -> None:
        """Handle keep-alives and the end of the link; called by the thread for idle links.

        Anything else is left to a reader, unless there are too many of these.
        """
        self.link.end_idle()
        self._reading_since = inf
        now = time.monotonic()
        cause = ""
        try:
            data = self.link.receive(0.0)
            if not data:
                cause = "the link ended"
            elif len(data) >= (_BULK_BYTES if IDLE_LINKS.is_crowded else _SHORT_BYTES):
                self._early = data
            else:
                self._decode_part(data, now)
                if self._deliveries and IDLE_LINKS.is_crowded:
                    self._route_without_waiting(now)
        except LinkTimeout:
            pass
        except LinkError as error:
            cause = error.cause
        if cause and not self._runner.node.events.has_listeners:
            self._runner.drop(cause)
        elif cause or self._has_work():
            self._failure = self._failure or (TransportError(cause) if cause else None)
            self._start_reader()
        else:
            self._reading_since = now
            if not self._leave_idle():
                self._start_reader()

    def _route_without_waiting(self, now: float) -> None:
        """Route as far as that needs no wait; a reader does the rest."""
        face = self.face
        assert face is not None
        deliveries = self._deliveries
        while deliveries and not self._runner.is_over and not self._is_reader_needed():
            first = deliveries[0]
            while len(deliveries) > 1 and deliveries[1].reliable == first.reliable:
                first.messages.extend(deliveries[1].messages)
                del deliveries[1]
            after, self._left_links, self._left_sinks = self.node_lock.deliver_without_waiting(
                face, first.messages, self._handed_on, first.reliable, now
            )
            self._note_handed_on(first, after)

    def _finish_left(self) -> None:
        """Finish the work that the thread for idle links left to a reader."""
        links, self._left_links = self._left_links, None
        sinks, self._left_sinks = self._left_sinks, None
        if links is not None or sinks is not None:
            self.node_lock.after_unlock(links, sinks)

    def _has_work(self) -> bool:
        transport = self.transport
        return (
            bool(self._early or self._deliveries or self._runner.is_over)
            or self._is_reader_needed()
            or self._failure is not None
            or transport.inbound.has_more
            or transport.peer_closed is not None
        )

    def _is_reader_needed(self) -> bool:
        """Whether routing has left work that may take long."""
        face = self.face
        return (
            self._left_links is not None
            or self._left_sinks is not None
            or (face is not None and (face.job is not None or face.account.refused != ""))
            or self.node_lock.dispatcher.has_discoveries
        )

    def _start_reader(self) -> None:
        self._set_patience()
        self._reader = self._new_reader()
        try:
            start_thread(self._reader)
        except ThreadError as error:
            self._runner.drop(str(error))

    def _decode_part(self, data: bytes, now: float) -> None:
        """Decode a part of what was read; without data, the next part of it."""
        if data:
            # A link that is alone need not share the processor with other links.
            self._is_bulk = len(data) >= _BULK_BYTES and len(self._runner.node.runners) > 1
        if self._is_bulk:
            self.node_lock.begin_bulk()
            self._decode(data, now)
            self.node_lock.pause_bulk()
        else:
            self._decode(data, now)
        if self.transport.inbound.discards_publications:
            self._busy_at = now
        if self.transport.inbound.reassembly.report is not None:
            self.warn_of_drop()

    def warn_of_drop(self) -> None:
        reassembly = self.transport.inbound.reassembly
        dropped, reassembly.report = reassembly.report, None
        if dropped is not None:
            self._runner.node.drop_warnings.received(dropped, self.face, self.link.dst)

    def _hand_on(self, handovers: int, now: float) -> bool:
        """Hand messages to routing and to the user; False if another reader does the rest."""
        deliveries = self._deliveries
        node_lock = self.node_lock
        face = self.face
        assert face is not None
        if deliveries:
            self._busy_at = now
        while deliveries or face.job is not None:
            if self._runner.is_over:
                deliveries.clear()
                break
            if face.job is not None:
                node_lock.end_bulk()
                if self._unflushed_senders:
                    flush_senders(self._unflushed_senders)
                sinks = node_lock.resume(face)
            else:
                first = deliveries[0]
                start = self._handed_on
                if self._is_bulk:
                    after, sinks = node_lock.deliver_bulk(
                        face, first.messages, start, first.reliable, now
                    )
                else:
                    is_last = not self._has_more(start + MESSAGES_PER_LOCK)
                    after, sinks = node_lock.deliver(
                        face, first.messages, start, first.reliable, now, is_last
                    )
                self._note_handed_on(first, after)
            if sinks is not None:
                node_lock.end_bulk()
                self._call_sinks(sinks)
                if self._handovers != handovers:
                    return False
        if face.account.refused:
            text, face.account.refused = face.account.refused, ""
            self._runner.node.drop_warnings.refused(text, self.link.dst)
        if node_lock.dispatcher.has_discoveries:
            node_lock.end_bulk()
            self._discover()
        return True

    def _discover(self) -> None:
        node = self._runner.node
        with node.locked:
            discoveries = node.dispatcher.pop_discoveries()
        node.discovery.gossiped(discoveries)

    # --- callbacks -----------------------------------------------------------------------------

    def _call_sinks(self, sinks: list[Sink]) -> None:
        """Run all but the last callback in other threads: callbacks do not delay each other."""
        self._has_called = True
        last = sinks.pop()
        for sink in sinks:
            sink.after_unlock()
        if last.is_quick():
            self._run_on_reader(last)
        last.after_unlock()

    def _run_on_reader(self, sink: Sink) -> None:
        number = self._handovers
        self._callback_sink = sink
        self._callback_thread = threading.get_ident()
        self._readers_in_callbacks[self._callback_thread] = self
        self.callback_since = time.monotonic()
        if not READER_HANDOVER.is_watching:
            READER_HANDOVER.watch()
        try:
            sink.run_on_reader()
        finally:
            with self._callback_lock:
                if self._handovers == number:
                    self._end_callback()
            self.node_lock.flush_replies(not self._has_more())

    def _end_callback(self) -> None:
        self._callback_sink = None
        self.callback_since = 0.0
        self._readers_in_callbacks.pop(self._callback_thread, None)

    def hand_over(self) -> None:
        with self._callback_lock:
            if self._callback_sink is None:
                return
            reader = self._new_reader()
            try:
                start_thread(reader)
            except ThreadError:
                return  # the link is not read until the callback returns; the watcher tries again
            self._callback_sink.handed_over()
            self._end_callback()
            self._handovers += 1
            self._reader = reader
