"""Accepting: the listeners of a node, and a thread with the handshake of each incoming link.

The first datagram of a UDP link has the cookie that proves its source address; the datagrams
before it need neither thread nor memory (protocol/address_check.py). So only proved addresses
count for the limits of pending handshakes, of sessions and of wrong passwords.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final

from zenlake.errors import ZenlakeError
from zenlake.links import Link, LinkError, Listener, TlsError, is_group, listen
from zenlake.links.addresses import split_address
from zenlake.node.handshake import HandshakeBatches
from zenlake.node.link_log import host_of
from zenlake.node.link_runner import LinkRunner
from zenlake.node.tap import tap_link
from zenlake.node.threads import ThreadError, join_threads, start_thread
from zenlake.node.transport_claims import TransportClaim
from zenlake.protocol.accepting import Acceptor
from zenlake.protocol.address_check import AddressCheck
from zenlake.protocol.auth_bans import AuthBans
from zenlake.protocol.errors import AuthenticationError, HandshakeError, RefusedByPeer
from zenlake.wire import CloseReason, EndPoint, ZenohId

if TYPE_CHECKING:
    from zenlake.node.node import Node

log = logging.getLogger("zenlake.transport")

_START_OVER_S: Final = 1.0
# The pause after a link for which no thread could be started.
_NO_THREAD_S: Final = 0.05
# Within this time a handshake is a delayed duplicate, not a second attempt.
_LATE_S: Final = 0.3
_NORMAL_REASONS: Final = (CloseReason.MAX_LINKS, CloseReason.CONNECTION_TO_SELF)


class Accepting:
    """All listeners of a node, and the handshakes on incoming links."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._pending: dict[Link, threading.Thread] = {}
        self._agreed: dict[Link, threading.Thread] = {}  # links whose transports are about to start
        self._ending: list[threading.Thread] = []
        self._threads: list[threading.Thread] = []
        self._auth_bans = AuthBans()
        self._is_closed = False
        self._dropped = 0  # lost datagrams of listeners that failed
        self.refused = 0
        """Links that were closed without a handshake.

        They were of banned addresses, no thread could be started, or too many handshakes were in
        progress.
        """

    @property
    def pending(self) -> int:
        return len(self._pending)

    def locators(self) -> list[str]:
        found: list[str] = []
        for listener in list(self._listeners):
            found += listener.locators()
        return found

    def bind(self, endpoint: EndPoint) -> None:
        """Start to listen; LinkError if that fails."""
        if endpoint.protocol == "udp" and is_group(split_address(endpoint)[0]):
            self._node.join_group(endpoint)
            return
        listener = listen(endpoint, self._node.settings.links)
        check: AddressCheck | None = None
        if endpoint.protocol == "udp":
            check = listener.source_check = AddressCheck(self._node.offer(listener), os.urandom)
            if self._node.tap is not None:
                check.offers = OrderedDict()
        thread = threading.Thread(
            target=self._run, args=(listener, check), name=f"zenlake accept {endpoint}", daemon=True
        )
        with self._lock:
            if self._is_closed:
                listener.close()
                return
            self._listeners.append(listener)
            self._threads.append(thread)
        try:
            start_thread(thread)
        except ThreadError as error:
            self._remove(listener)
            raise LinkError(str(endpoint), str(error)) from error

    def _run(self, listener: Listener, check: AddressCheck | None) -> None:
        try:
            while (link := listener.accept()) is not None:
                self._begin_handshake(link, check)
        except LinkError as error:
            log.error("not listening any more: %s", error)
        finally:
            self._remove(listener)

    def _remove(self, listener: Listener) -> None:
        """Remove a listener that has ended; its locators are not announced any more."""
        listener.close()
        with self._lock:
            if self._is_closed:
                return
            self._listeners.remove(listener)
            self._dropped += listener.dropped
        self._node.update_locators()

    def _begin_handshake(self, link: Link, check: AddressCheck | None) -> None:
        """Start a handshake; at most so many are in progress (wire reference §5.1).

        Deployed nodes refuse the next link. This one ends the oldest handshake of the address that
        has most of them, so that one address cannot keep others out.
        """
        source = host_of(link.dst)
        thread = threading.Thread(
            target=self._run_handshake, args=(link, check), name="zenlake handshake", daemon=True
        )
        given_up: Link | None = link
        cause = "too many wrong passwords came from its address"
        with self._lock:
            if not self._is_closed and not self._is_banned(link):
                given_up = None
                cause = "too many handshakes are in progress"
                if len(self._pending) >= self._node.settings.accept_pending:
                    given_up = self._oldest_of_most(source)
                    self._ending.append(self._pending.pop(given_up))
                self._pending[link] = thread
        if given_up is not None:
            self.refused += 1
            given_up.close()
            if not self._is_closed:
                self._node.link_log.refused(given_up.dst, cause)
        if given_up is not link:
            self._start(link, thread)

    def _start(self, link: Link, thread: threading.Thread) -> None:
        """Start the thread of a handshake, or close the link: the other side may try again."""
        try:
            start_thread(thread)
        except ThreadError:
            with self._lock:
                self._pending.pop(link, None)
            self.refused += 1
            link.close()
            self._node.closing.wait(_NO_THREAD_S)

    def _oldest_of_most(self, newcomer: str) -> Link:
        """The oldest link of the address with most handshakes, counting the new one.

        So a new address never displaces others. Where no address has more than one handshake, it is
        the oldest link of all.
        """
        counts = Counter(host_of(link.dst) for link in self._pending)
        most, count = counts.most_common(1)[0]
        if 0 < counts[newcomer] >= count - 1:
            most = newcomer
        self._ending = [thread for thread in self._ending if thread.is_alive()]
        return next(link for link in self._pending if host_of(link.dst) == most)

    def _is_banned(self, link: Link) -> bool:
        """Whether wrong passwords banned the address; those over UDP do not ban it for TCP."""
        now = time.monotonic()
        return any(self._auth_bans.is_banned(name, now) for name in _ban_names(link))

    def _run_handshake(self, link: Link, check: AddressCheck | None) -> None:
        runner: LinkRunner | None = None
        try:
            runner = self._accept(link, check)
        except ZenlakeError as error:
            self._log_failure(link, error)
        else:
            with contextlib.suppress(ThreadError):  # it is logged already
                runner.start()
        finally:
            with self._lock:
                self._pending.pop(link, None)
                self._agreed.pop(link, None)
            if runner is None:
                link.close()

    def _log_failure(self, link: Link, error: ZenlakeError) -> None:
        """Log refusals as warnings; that one of two simultaneous links ends is not a failure."""
        is_normal = isinstance(error, RefusedByPeer) or (
            isinstance(error, HandshakeError) and error.reason in _NORMAL_REASONS
        )
        if is_normal or self._is_closed:
            log.debug("no transport with %s: %s", link.dst, error)
        elif isinstance(error, HandshakeError | TlsError):
            self._node.link_log.refused(link.dst, error.cause)
        else:
            cause = error.cause if isinstance(error, LinkError) else str(error)
            self._node.link_log.unfinished(link.dst, cause)

    def _accept(self, link: Link, check: AddressCheck | None) -> LinkRunner:
        node = self._node
        deadline = time.monotonic() + node.settings.accept_timeout_s
        link.prepare(node.settings.accept_timeout_s)
        claims: list[TransportClaim] = []
        source = host_of(link.dst)

        def admit(zid: ZenohId) -> CloseReason | None:
            claim = node.claims.accept(zid, deadline - time.monotonic(), source)
            if claim == CloseReason.MAX_LINKS and self._supersedes(zid):
                claim = node.claims.accept(zid, deadline - time.monotonic(), source)
            if isinstance(claim, CloseReason):
                return claim
            claims.append(claim)
            return None

        seal = None if check is None else check.seal
        acceptor = Acceptor(node.offer(link), os.urandom, admit, seal, link.dst)
        tap = tap_link(node.tap, link, is_accepted=True)
        if tap is not None and check is not None and check.offers is not None:
            # These batches were exchanged before there was a link.
            init_syn, init_ack = check.offers.pop(link.dst, (b"", b""))
            if init_syn:
                tap.received(init_syn, False)
                tap.sent(init_ack, False)
        handshake = HandshakeBatches(link, deadline, node.settings.handshake_idle_s, tap)
        try:
            while acceptor.agreed is None:
                answer = acceptor.receive(handshake.receive(), time.monotonic())
                if acceptor.agreed is not None:
                    self._note_agreed(link)
                if answer is not None:
                    handshake.send(answer)
            rest = handshake.pop_rest()
            return LinkRunner(node, link, acceptor.agreed, claims[0], rest, tap)
        except ZenlakeError as error:
            if isinstance(error, AuthenticationError):
                with self._lock:
                    self._auth_bans.note_failure(_ban_names(link)[0], time.monotonic())
            if isinstance(error, HandshakeError):
                handshake.send_close(error)
            for claim in claims:
                node.claims.release(claim)
            if tap is not None:
                tap.close()
            raise

    def _note_agreed(self, link: Link) -> None:
        """Move the handshake to `_agreed` before OpenAck, after which the peer takes it as open.

        A transport must end with CLOSE. So `close` leaves these links to their transports, which
        send CLOSE if the node is closing.
        """
        with self._lock:
            thread = self._pending.pop(link, None)
            if thread is not None:
                self._agreed[link] = thread

    def _supersedes(self, zid: ZenohId) -> bool:
        """Whether a node repeats the handshake because OpenAck was lost; closes its old transport.

        Nothing was ever received on that transport: the node does not know that it is open.
        """
        runner = self._node.runners.get(zid)
        if runner is None or runner.link.is_reliable or runner.transport.inbound.batches:
            return False
        if time.monotonic() - runner.opened_at < _LATE_S:
            return False
        runner.break_off("the peer repeats the handshake")
        return runner.ended.wait(_START_OVER_S)

    def dropped_datagrams(self) -> int:
        """Datagrams of UDP links that are read too slowly, or for which there was no room."""
        with self._lock:
            return self._dropped + sum(listener.dropped for listener in self._listeners)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            links = list(self._pending)
            listeners = list(self._listeners)
        for listener in listeners:
            listener.close()
        for link in links:
            link.close()

    def join(self, timeout_s: float) -> None:
        with self._lock:
            handshakes = [*self._pending.values(), *self._agreed.values(), *self._ending]
            threads = [*self._threads, *handshakes]
        join_threads(threads, timeout_s)


def _ban_names(link: Link) -> list[str]:
    """The name under which wrong passwords of a link are counted, then others that ban it."""
    source = host_of(link.dst)
    return [source] if link.is_reliable else [f"udp/{source}", source]
