"""LinkRunner: an open transport at work, from the handshake's end to the link's.

Its reader thread waits on the link and hands messages to routing, under the node's lock. The
messages that routing sends back out leave after the lock is released. Whoever finds that the
link is over, sender or timer, breaks it off; the reader then undoes what must be undone, once.

A link that was silent for a while is left to a thread that waits for all such links
(idle_links.py).

A reader also runs callbacks; one that takes long goes on as a thread of the callback's, and
another reader takes its place (see relief.py), beginning with what this one has left.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from math import inf
from typing import TYPE_CHECKING, Final

from zenlake.links import Link, LinkError, LinkTimeout
from zenlake.node.claims import Claim
from zenlake.node.gathering import GATHERING, send_gathered
from zenlake.node.idle_links import IDLE_LINKS, IS_SUPPORTED, PATIENCE_S
from zenlake.node.info import describe_link, describe_transport
from zenlake.node.link_outlet import LinkOutlet
from zenlake.node.relief import AWAY, RELIEF
from zenlake.node.sender import Sender
from zenlake.node.stats import last_losses_of
from zenlake.node.threads import ThreadError, join_thread, start_thread
from zenlake.node.turn import MESSAGES_IN_A_TURN, Links
from zenlake.protocol.delivery import Delivery
from zenlake.protocol.errors import TransportError
from zenlake.protocol.offer import Agreed
from zenlake.protocol.transport import Transport
from zenlake.routing.face import Face
from zenlake.routing.work import TURN_STEPS
from zenlake.session.sink import Sink
from zenlake.wire import CloseReason, WhatAmI

if TYPE_CHECKING:
    from zenlake.node.node import Node

_FAREWELL_S: Final = 0.3
# A reader that was busy this long may have a word of the peer still unread.
_BUSY_S: Final = 0.2
_CERTIFICATE_CHECK_S: Final = 60.0
# So much read at once is decoded and routed by one reader at a time (node/turn.py).
_BULK_BYTES: Final = 16 * 1024
# Batches and messages that are decoded before those are routed: about a millisecond.
_UNITS_IN_A_TURN: Final = 1024
# What is read from an idle link is decoded at once if it is short: most of it is KEEP_ALIVE.
_SHORT_BYTES: Final = 1024


class LinkRunner:
    """One transport, its link and its threads."""

    def __init__(self, node: Node, link: Link, agreed: Agreed, claim: Claim, early: bytes) -> None:
        self.node = node
        self.turn = node.turn
        self.link = link
        self.agreed = agreed
        self.claim = claim
        self.transport = Transport(agreed, time.monotonic(), link.is_stream, node.budget)
        self.transport.inbound.keeps_runs = node.role == WhatAmI.ROUTER
        self.sender = Sender(
            self.transport, link, node.settings, node.queues, self.break_off, node.drop_warnings
        )
        self.outlet = LinkOutlet(self.sender, node.turn.touched, node.dispatcher.refusal)
        self.info = describe_transport(agreed)
        self.link_info = describe_link(agreed, link)
        self.face: Face | None = None
        self.ended = threading.Event()
        self.opened_at = time.monotonic()
        self.cause = ""
        self._certificate_check_at = inf if link.expires_at is None else -inf
        self.is_over = False
        self._is_closed_here = False
        self._early = early  # what came right behind the handshake
        self._deliveries: deque[Delivery] = deque()  # read, and not handed on
        self._handed_on = 0  # messages of the first of them
        self._failure: TransportError | None = None  # comes after them
        self._is_bulk = False  # whether much was read at once
        self._left_links: Links = None  # by the thread for idle links, for a reader to settle
        self._left_sinks: list[Sink] | None = None
        self._inward = threading.Lock()
        self._patience_s = inf  # how long a reader waits for messages
        self._busy_at = self.opened_at  # when it had one
        self._reading_since = inf  # while it waits for bytes; inf while it works
        self.away_since = 0.0
        self._errand: Sink | None = None
        self._errand_lock = threading.Lock()
        self._away_thread = 0
        self._relieved = 0  # readers before this one
        self._reader = self._new_reader()

    def _new_reader(self) -> threading.Thread:
        name = f"zenlake read {self.link.dst}"
        return threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Join routing, which says its declarations, and start to read.

        ThreadError if nobody can read: then the transport is over, and nothing of it is left.
        """
        node = self.node
        node.begin()
        try:
            is_late = node.is_closing
            if not is_late:
                self.face = node.dispatcher.add_face(
                    self.agreed.zid,
                    self.agreed.role,
                    self.outlet,
                    time.monotonic(),
                    steps=TURN_STEPS,
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
        node.link_log.opened(self.agreed.zid, self.agreed.role, self.link.dst)
        node.events.tell(True, self.info, self.link_info)
        self._set_patience()
        try:
            start_thread(self._reader)
        except ThreadError:
            self.close()
            raise
        node.note_deadline(self)

    def _set_patience(self) -> None:
        if IS_SUPPORTED:
            self._patience_s = IDLE_LINKS.look()
            self.link.set_patience(self._patience_s)

    # --- reading -------------------------------------------------------------------------------

    def _run(self) -> None:
        cause: str | None = "reading failed"
        with self._errand_lock:
            pass  # whoever is relieved by this reader has said so
        self.turn.settle_rest(False)
        try:
            self._settle_left()
            cause = self._read(self._relieved)
        except (LinkError, TransportError) as error:
            cause = error.cause
        finally:
            if cause is not None:
                self.drop(cause)

    def _read(self, relieved: int) -> str | None:
        """Until the link is over; says why it is. None if another reader took over."""
        transport = self.transport
        if self._early:
            data, self._early = self._early, b""
            self._take(data, time.monotonic())
        while not self.is_over:
            began = time.monotonic()
            if not self._hand_on(relieved, began):
                return None
            if transport.inbound.has_more:
                self._take(b"", began)
                continue
            if self._failure is not None:
                raise self._failure
            if transport.peer_closed is not None:
                return f"the peer closed ({transport.peer_closed})"
            now = time.monotonic()
            if now - began > _BUSY_S:
                transport.inbound.received_at = now
            if GATHERING:
                send_gathered()
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
                return self.cause or "the link ended"
            self._take(data, time.monotonic())
            data = b""  # not kept while nothing comes
        return self.cause

    def _leave_idle(self) -> bool:
        """Whether `wake` will be called when there is something to read."""
        descriptor = self.link.begin_idle()
        if descriptor < 0:
            return False
        if not IDLE_LINKS.add(descriptor, self):
            self.link.end_idle()
            return False
        return True

    def wake(self) -> None:
        """By the thread that waits for idle links: keep-alives, and the end of the link.

        Whatever else has come is for a reader, if there are not too many of them.
        """
        self.link.end_idle()
        self._reading_since = inf
        now = time.monotonic()
        cause = ""
        try:
            data = self.link.receive(0.0)
            if not data:
                cause = "the link ended"
            elif len(data) > (_BULK_BYTES if IDLE_LINKS.is_crowded else _SHORT_BYTES):
                self._early = data
            else:
                self._take(data, now)
                if self._deliveries and IDLE_LINKS.is_crowded:
                    self._route_unhurried(now)
        except LinkTimeout:
            pass
        except LinkError as error:
            cause = error.cause
        if cause and not self.node.events.has_listeners:
            self.drop(cause)
        elif cause or self._has_work():
            self._failure = self._failure or (TransportError(cause) if cause else None)
            self._start_reader()
        else:
            self._reading_since = now
            if not self._leave_idle():
                self._start_reader()

    def _route_unhurried(self, now: float) -> None:
        """As far as nobody has to be waited for; a reader does the rest."""
        face = self.face
        assert face is not None
        deliveries = self._deliveries
        while deliveries and not self.is_over and not self._is_reader_needed():
            first = deliveries[0]
            while len(deliveries) > 1 and deliveries[1].reliable == first.reliable:
                first.messages.extend(deliveries[1].messages)
                del deliveries[1]
            after, self._left_links, self._left_sinks = self.turn.deliver_unhurried(
                face, first.messages, self._handed_on, first.reliable, now
            )
            self._note_handed_on(first, after)

    def _note_handed_on(self, first: Delivery, after: int) -> None:
        self._handed_on = after
        if after >= len(first.messages):
            self._handed_on = 0
            self._deliveries.popleft()

    def _settle_left(self) -> None:
        """What the thread that waits for idle links has left to a reader."""
        links, self._left_links = self._left_links, None
        sinks, self._left_sinks = self._left_sinks, None
        if links is not None or sinks is not None:
            self.turn.settle(links, sinks)

    def _has_work(self) -> bool:
        transport = self.transport
        return (
            bool(self._early or self._deliveries or self.is_over)
            or self._is_reader_needed()
            or self._failure is not None
            or transport.inbound.has_more
            or transport.peer_closed is not None
        )

    def _is_reader_needed(self) -> bool:
        """Whether routing has left something to do that may take long."""
        face = self.face
        return (
            self._left_links is not None
            or self._left_sinks is not None
            or (face is not None and (face.job is not None or face.account.refused != ""))
            or self.turn.dispatcher.has_discoveries
        )

    def _start_reader(self) -> None:
        self._set_patience()
        self._reader = self._new_reader()
        try:
            start_thread(self._reader)
        except ThreadError as error:
            self.drop(str(error))

    def _take(self, data: bytes, now: float) -> None:
        """Decode some of what was read; without data, some of the rest."""
        if data:
            # A link that is alone has nobody to give way to.
            self._is_bulk = len(data) >= _BULK_BYTES and len(self.node.runners) > 1
        if self._is_bulk:
            with self.turn.bulk:
                self._decode(data, now)
                self.turn.pause_bulk()
        else:
            self._decode(data, now)
        if self.transport.inbound.reassembly.report is not None:
            self._warn_of_drop()

    def _decode(self, data: bytes, now: float) -> None:
        inbound = self.transport.inbound
        try:
            with self._inward:
                if data:
                    deliveries = inbound.receive(data, now, _UNITS_IN_A_TURN)
                else:
                    deliveries = inbound.receive_more(now, _UNITS_IN_A_TURN)
            self._deliveries.extend(deliveries)
        except TransportError as error:
            self._failure = error
            self._deliveries.extend(error.deliveries)

    def _warn_of_drop(self) -> None:
        reassembly = self.transport.inbound.reassembly
        dropped, reassembly.report = reassembly.report, None
        if dropped is not None:
            self.node.drop_warnings.received(dropped, self.face, self.link.dst)

    def _hand_on(self, relieved: int, now: float) -> bool:
        """What was read to routing and to the user; False if another reader does the rest."""
        deliveries = self._deliveries
        turn = self.turn
        face = self.face
        assert face is not None
        if deliveries:
            self._busy_at = now
        while deliveries or face.job is not None:
            if self.is_over:
                deliveries.clear()
                break
            if face.job is not None:
                sinks = turn.resume(face)
            else:
                first = deliveries[0]
                start = self._handed_on
                if self._is_bulk:
                    after, sinks = turn.deliver_bulk(
                        face, first.messages, start, first.reliable, now
                    )
                else:
                    is_last = not self._has_more(start + MESSAGES_IN_A_TURN)
                    after, sinks = turn.deliver(
                        face, first.messages, start, first.reliable, now, is_last
                    )
                self._note_handed_on(first, after)
            if sinks is not None:
                self._settle(sinks)
                if self._relieved != relieved:
                    return False
        if face.account.refused:
            text, face.account.refused = face.account.refused, ""
            self.node.drop_warnings.refused(text, self.link.dst)
        if turn.dispatcher.has_discoveries:
            self._discover()
        return True

    def _has_more(self, handed_on: int = 0) -> bool:
        """Whether more was read than so many messages of the first delivery."""
        deliveries = self._deliveries
        if not deliveries:
            return self.transport.inbound.has_more
        is_rest = len(deliveries) == 1 and handed_on >= len(deliveries[0].messages)
        return not is_rest or self.transport.inbound.has_more

    def _discover(self) -> None:
        node = self.node
        node.begin()
        try:
            discoveries = node.dispatcher.take_discoveries()
        finally:
            node.end()
        node.discovery.gossiped(discoveries)

    # --- callbacks -----------------------------------------------------------------------------

    def _settle(self, sinks: list[Sink]) -> None:
        """All but the last by threads of their own: at most one callback waits for another."""
        errand = sinks.pop()
        for sink in sinks:
            sink.settle()
        if errand.is_quick():
            self._run_here(errand)
        errand.settle()

    def _run_here(self, sink: Sink) -> None:
        number = self._relieved
        self._errand = sink
        self._away_thread = threading.get_ident()
        AWAY[self._away_thread] = self
        self.away_since = time.monotonic()
        if not RELIEF.is_watching:
            RELIEF.watch()
        try:
            sink.run_here()
        finally:
            with self._errand_lock:
                if self._relieved == number:
                    self._come_back()
            self.turn.settle_rest(not self._has_more())

    def _come_back(self) -> None:
        self._errand = None
        self.away_since = 0.0
        AWAY.pop(self._away_thread, None)

    def relieve(self) -> None:
        with self._errand_lock:
            if self._errand is None:
                return
            reader = self._new_reader()
            try:
                start_thread(reader)
            except ThreadError:
                return  # nobody reads until the callback is back; the watcher tries again
            self._errand.relieved()
            self._come_back()
            self._relieved += 1
            self._reader = reader

    # --- time ----------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        return min(self.transport.next_deadline(), self._certificate_check_at)

    def _has_expired(self, now: float) -> bool:
        """Whether the certificate of the peer has; if not, when to look again.

        The clock on the wall may be set, so it is looked at again and again.
        """
        if now < self._certificate_check_at or self.link.expires_at is None:
            return False
        left = self.link.expires_at - time.time()
        self._certificate_check_at = now + min(max(left, 0.0), _CERTIFICATE_CHECK_S)
        return left <= 0

    def handle_timeout(self, now: float) -> None:
        """By the timer: KEEP_ALIVE, and the peer's lease.

        The lease of a peer whose bytes we do not read, since whoever gets them is slow, does
        not run out.
        """
        if self._has_expired(now):
            with self.sender.lock:
                self.transport.close(CloseReason.EXPIRED)
            self.sender.send_now()
            self.break_off("the peer's certificate has expired")
            return
        try:
            with self._inward, self.sender.lock:
                if self._reading_since == inf:
                    self.transport.inbound.received_at = now
                self.transport.handle_timeout(now)
        except TransportError as error:
            self.break_off(error.cause)
            return
        self._warn_of_drop()
        self.sender.send_now()

    # --- the end -------------------------------------------------------------------------------

    def close(self, reason: CloseReason = CloseReason.GENERIC) -> None:
        """Say CLOSE, then end the link; no undeclarations (behaviour reference §2.1)."""
        self._is_closed_here = True
        self.cause = self.cause or "closed here"  # the other side may end the link meanwhile
        self.sender.say_close(reason, _FAREWELL_S)
        self.drop(self.cause)

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
            if self.is_over:
                return
            self.is_over = True
            self.cause = self.cause or cause
            node.past_losses.update(last_losses_of(self))
            if node.runners.get(self.agreed.zid) is self:
                del node.runners[self.agreed.zid]
            if self.face is not None:
                node.dispatcher.remove_face(self.face, time.monotonic(), TURN_STEPS)
        finally:
            self.turn.end_unhurried()
        self.sender.stop()
        self.link.close()
        self.transport.release()
        node.retire(self)
        node.claims.release(self.claim)
        self._log_end()
        node.events.tell(False, self.info, self.link_info)
        self.ended.set()

    def _log_end(self) -> None:
        log = self.node.link_log
        is_clean = self._is_closed_here or self.transport.peer_closed == CloseReason.GENERIC
        if is_clean or self.node.is_over():
            log.closed(self.agreed.zid, self.link.dst, self.cause)
        else:
            log.lost(self.agreed.zid, self.link.dst, self.cause)

    def leave_to_parent(self) -> None:
        """In a forked child: if this thread reads the link, it does no more."""
        self.is_over = True
        self._relieved += 1

    def is_alive(self) -> bool:
        return self._reader.is_alive()

    def join(self, timeout_s: float) -> None:
        if self._reader is not threading.current_thread():
            self.ended.wait(max(0.0, timeout_s))
        join_thread(self._reader, timeout_s)
        self.sender.join(timeout_s)
