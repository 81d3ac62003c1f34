"""LinkRunner: an open transport at work, from the handshake's end to the link's.

Its reader thread waits on the link and hands messages to routing, under the node's lock. The
messages that routing sends back out leave after the lock is released. Whoever finds that the
link is over, sender or timer, breaks it off; the reader then undoes what must be undone, once.
"""

from __future__ import annotations

import logging
import threading
import time
from math import inf
from typing import TYPE_CHECKING, Final

from zenlake.links import Link, LinkError
from zenlake.node.claims import Claim
from zenlake.node.info import describe_link, describe_transport
from zenlake.node.link_outlet import LinkOutlet
from zenlake.node.sender import Sender
from zenlake.node.threads import join_thread
from zenlake.protocol.errors import TransportError
from zenlake.protocol.offer import Agreed
from zenlake.protocol.transport import Transport
from zenlake.routing.face import Face
from zenlake.wire import CloseReason

if TYPE_CHECKING:
    from zenlake.node.node import Node

log = logging.getLogger("zenlake")

_FAREWELL_S: Final = 0.3
# A reader that was busy this long may have a word of the peer still unread.
_BUSY_S: Final = 0.2


class LinkRunner:
    """One transport, its link and its threads."""

    def __init__(self, node: Node, link: Link, agreed: Agreed, claim: Claim, early: bytes) -> None:
        self.node = node
        self.link = link
        self.agreed = agreed
        self.claim = claim
        self.transport = Transport(agreed, time.monotonic(), link.is_stream, node.budget)
        self.sender = Sender(self.transport, link, node.settings, self.break_off)
        self.outlet = LinkOutlet(self.sender, node.touched)
        self.info = describe_transport(agreed)
        self.link_info = describe_link(agreed, link)
        self.face: Face | None = None
        self.ended = threading.Event()
        self.opened_at = time.monotonic()
        self.cause = ""
        self._is_over = False
        self._early = early  # what came right behind the handshake
        self._inward = threading.Lock()
        self._reading_since = inf  # while it waits for bytes; inf while it works
        self._thread = threading.Thread(
            target=self._run, name=f"zenlake read {link.dst}", daemon=True
        )

    def start(self) -> None:
        """Join routing, which says its declarations, and start to read."""
        node = self.node
        node.begin()
        try:
            is_late = node.is_closing
            if not is_late:
                self.face = node.dispatcher.add_face(
                    self.agreed.zid, self.agreed.role, self.outlet, time.monotonic()
                )
                node.runners[self.agreed.zid] = self
        finally:
            node.end()
        if is_late:
            self.link.close()
            node.claims.release(self.claim)
            self.ended.set()
            return
        node.claims.note_open(self.claim)
        log.debug("transport with %s at %s", self.agreed.zid, self.link.dst)
        node.events.tell(True, self.info, self.link_info)
        self._thread.start()
        node.link_timer.wake()

    # --- reading -------------------------------------------------------------------------------

    def _run(self) -> None:
        cause = "reading failed"
        try:
            cause = self._read()
        except LinkError as error:
            cause = error.cause
        except TransportError as error:
            cause = error.cause
        finally:
            self.drop(cause)

    def _read(self) -> str:
        """Until the link is over; says why it is."""
        transport = self.transport
        data = self._early
        while not self._is_over:
            if data:
                began = time.monotonic()
                self._take(data, began)
                if transport.peer_closed is not None:
                    return f"the peer closed ({transport.peer_closed})"
                now = time.monotonic()
                if now - began > _BUSY_S:
                    transport.inbound.received_at = now
            self._reading_since = time.monotonic()
            data = self.link.receive()
            self._reading_since = inf
            if not data:
                return self.cause or "the link ended"
        return self.cause

    def _take(self, data: bytes, now: float) -> None:
        failure: TransportError | None = None
        try:
            with self._inward:
                deliveries = self.transport.receive(data, now)
        except TransportError as error:
            failure = error
            deliveries = error.deliveries
        node = self.node
        for delivery in deliveries:
            face = self.face
            if face is None or self._is_over:
                break
            node.deliver(face, delivery.messages, delivery.reliable, now)
        if node.dispatcher.has_discoveries:
            node.begin()
            try:
                discoveries = node.dispatcher.take_discoveries()
            finally:
                node.end()
            node.discovery.gossiped(discoveries)
        if failure is not None:
            raise failure

    # --- time ----------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        return self.transport.next_deadline()

    def handle_timeout(self, now: float) -> None:
        """By the timer: KEEP_ALIVE, and the peer's lease.

        The lease of a peer whose bytes we do not read, since whoever gets them is slow, does
        not run out.
        """
        try:
            with self._inward, self.sender.lock:
                if self._reading_since == inf:
                    self.transport.inbound.received_at = now
                self.transport.handle_timeout(now)
        except TransportError as error:
            self.break_off(error.cause)
            return
        self.sender.send_now()

    # --- the end -------------------------------------------------------------------------------

    def close(self, reason: CloseReason = CloseReason.GENERIC) -> None:
        """Say CLOSE, then end the link; no undeclarations (behaviour reference §2.1)."""
        self.sender.say_close(reason, _FAREWELL_S)
        self.drop("closed here")

    def break_off(self, cause: str) -> None:
        """By threads that must not wait for anybody: end the link; the reader does the rest."""
        self.cause = self.cause or cause
        self.sender.stop()
        self.link.close()

    def drop(self, cause: str) -> None:
        """The link is over. By any thread, any number of times."""
        node = self.node
        node.begin()
        try:
            if self._is_over:
                return
            self._is_over = True
            self.cause = self.cause or cause
            if node.runners.get(self.agreed.zid) is self:
                del node.runners[self.agreed.zid]
            if self.face is not None:
                node.dispatcher.remove_face(self.face, time.monotonic())
        finally:
            node.end()
        self.sender.stop()
        self.link.close()
        self.transport.release()
        node.retire(self)
        node.claims.release(self.claim)
        log.debug("transport with %s is over: %s", self.agreed.zid, cause)
        node.events.tell(False, self.info, self.link_info)
        self.ended.set()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def join(self, timeout_s: float) -> None:
        join_thread(self._thread, timeout_s)
        self.sender.join(timeout_s)
