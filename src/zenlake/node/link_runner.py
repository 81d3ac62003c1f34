"""LinkRunner: an open transport, from the end of the handshake to the end of the link.

Its reader (link_reader.py) hands received messages to routing, its sender (sender.py) sends those
that routing puts on the link. If the sender or the timer finds that the link is over, it closes
it (`break_off`); the reader then removes the transport from the node, once (`drop`).
"""

from __future__ import annotations

import threading
import time
from math import inf
from typing import TYPE_CHECKING, Final

from zenlake.links import Link
from zenlake.node.info import LinkInfo, describe_link, describe_transport
from zenlake.node.link_outlet import LinkOutlet
from zenlake.node.link_reader import LinkReader
from zenlake.node.sender import Sender
from zenlake.node.stats import last_losses_of
from zenlake.node.threads import ThreadError
from zenlake.node.transport_claims import TransportClaim
from zenlake.protocol.errors import TransportError
from zenlake.protocol.offer import Agreed
from zenlake.protocol.tap import LinkTap
from zenlake.protocol.transport import Transport
from zenlake.routing.face import Face
from zenlake.routing.work import SLICE_STEPS
from zenlake.wire import CloseReason, WhatAmI

if TYPE_CHECKING:
    from zenlake.node.node import Node

_FAREWELL_S: Final = 0.3
_CERTIFICATE_CHECK_S: Final = 60.0


class LinkRunner:
    """One transport, its link and its threads."""

    def __init__(
        self,
        node: Node,
        link: Link,
        agreed: Agreed,
        claim: TransportClaim,
        early: bytes,
        tap: LinkTap | None,
    ) -> None:
        self.node = node
        self.node_lock = node.node_lock
        self.link = link
        self.agreed = agreed
        self.claim = claim
        self.transport = Transport(agreed, time.monotonic(), link.is_stream, node.budget)
        self._tap = tap
        inbound = self.transport.inbound
        inbound.tap = self.transport.outbound.tap = tap
        inbound.discards_publications = node.settings.discards_publications
        inbound.keeps_runs = node.role == WhatAmI.ROUTER or inbound.discards_publications
        self.sender = Sender(
            self.transport,
            link,
            node.settings,
            node.queues,
            self.break_off,
            node.drop_warnings,
            node.node_lock.activity.unflushed_senders,
        )
        self.outlet = LinkOutlet(self.sender, node.node_lock.touched, node.dispatcher.refusal)
        self.info = describe_transport(agreed)
        self._link_info: LinkInfo | None = None
        self.face: Face | None = None
        self.ended = threading.Event()
        self.opened_at = time.monotonic()
        self.cause = ""
        self._certificate_check_at = inf if link.expires_at is None else -inf
        self.is_over = False
        self._is_closed_here = False
        self._reader: LinkReader | None = LinkReader(self, early)

    def start(self) -> None:
        """Join routing, which sends its declarations, and start to read.

        ThreadError if there is no thread to read: then the transport is over and removed.
        """
        node = self.node
        with node.locked:
            is_late = node.is_closing
            if not is_late:
                self.face = node.dispatcher.add_face(
                    self.agreed.zid,
                    self.agreed.role,
                    self.outlet,
                    time.monotonic(),
                    steps=SLICE_STEPS,
                )
                node.runners[self.agreed.zid] = self
        if is_late:
            self.sender.send_close(CloseReason.GENERIC, _FAREWELL_S)
            self.link.close()
            self._end_tap()
            node.claims.release(self.claim)
            self.ended.set()
            return
        node.claims.note_open(self.claim)
        node.link_log.opened(self.agreed.zid, self.agreed.role, self.link.dst)
        self._report_event(True)
        assert self.face is not None
        assert self._reader is not None
        try:
            self._reader.start(self.face)
        except ThreadError:
            self.close()
            raise
        node.note_deadline(self)

    def _report_event(self, is_new: bool) -> None:
        events = self.node.events
        if events.has_listeners:
            events.report(is_new, self.info, self.link_info())

    def link_info(self) -> LinkInfo:
        """The description of the link, made on demand: the interfaces take a system call."""
        if self._link_info is None:
            self._link_info = describe_link(self.agreed, self.link)
        return self._link_info

    # --- time ----------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        return min(self.transport.next_deadline(), self._certificate_check_at)

    def _has_expired(self, now: float) -> bool:
        """Whether the certificate of the peer has expired; if not, when to check again.

        The wall clock may be set, so it is checked again and again.
        """
        if now < self._certificate_check_at or self.link.expires_at is None:
            return False
        left = self.link.expires_at - time.time()
        self._certificate_check_at = now + min(max(left, 0.0), _CERTIFICATE_CHECK_S)
        return left <= 0

    def handle_timeout(self, now: float) -> None:
        """Send KEEP_ALIVE and check the peer's lease; called by the timer.

        While the reader is busy, bytes of the peer may be unread: its lease does not run out.
        """
        if self._has_expired(now):
            with self.sender.lock:
                self.transport.close(CloseReason.EXPIRED)
            self.sender.send_now()
            self.break_off("the peer's certificate has expired")
            return
        reader = self._reader
        if reader is None:
            return
        try:
            with reader.lock, self.sender.lock:
                if reader.is_working():
                    self.transport.inbound.received_at = now
                self.transport.handle_timeout(now)
        except TransportError as error:
            self.break_off(error.cause)
            return
        reader.warn_of_drop()
        self.sender.send_now()

    # --- the end -------------------------------------------------------------------------------

    def close(self, reason: CloseReason = CloseReason.GENERIC) -> None:
        """Send CLOSE, then end the link; no undeclarations (behaviour reference §2.1)."""
        self._is_closed_here = True
        self.cause = self.cause or "closed here"  # the other side may end the link meanwhile
        self.sender.send_close(reason, _FAREWELL_S)
        self.drop(self.cause)

    def break_off(self, cause: str) -> None:
        """Close the link; the reader does the rest. Called by threads that must not wait."""
        self.cause = self.cause or cause
        self.sender.stop()
        self.link.close()

    def drop(self, cause: str) -> None:
        """Remove the transport, whose link is over. Any thread may call it, any number of times."""
        self.node_lock.release_bulk()
        node = self.node
        node.begin()
        try:
            if self.is_over:
                return
            self.is_over = True
            self.cause = self.cause or cause
            node.past_losses.update(last_losses_of(self))
            if node.runners.get(self.agreed.zid) is self:
                del node.runners[self.agreed.zid]
            if self.face is not None:
                node.dispatcher.remove_face(self.face, time.monotonic(), SLICE_STEPS)
        finally:
            self.node_lock.end_without_waiting()
        self.sender.stop()
        self.link.close()
        self._end_tap()
        self.transport.release()
        node.retire(self)
        node.claims.release(self.claim)
        self._log_end()
        self._report_event(False)
        self.ended.set()

    def _end_tap(self) -> None:
        if self._tap is not None:
            self._tap.close()

    def _log_end(self) -> None:
        log = self.node.link_log
        is_clean = self._is_closed_here or self.transport.peer_closed == CloseReason.GENERIC
        if is_clean or self.node.is_over():
            log.closed(self.agreed.zid, self.link.dst, self.cause)
        else:
            log.lost(self.agreed.zid, self.link.dst, self.cause)

    def leave_to_parent(self) -> None:
        """Stop reading, if this is the reader's thread in a forked child."""
        self.is_over = True
        if self._reader is not None:
            self._reader.leave_to_parent()

    def is_alive(self) -> bool:
        return self._reader is not None and self._reader.is_alive()

    def join(self, timeout_s: float) -> None:
        reader = self._reader
        if reader is not None:
            if not reader.is_current():
                self.ended.wait(max(0.0, timeout_s))
            reader.join(timeout_s)
        self.sender.join(timeout_s)

    def free(self) -> None:
        """Break the reference cycles after its threads have ended, so that it is freed at once.

        The garbage collector would stop all threads for as long as it frees thousands of links.
        """
        self._reader = None
        self.sender.forget_owner()
