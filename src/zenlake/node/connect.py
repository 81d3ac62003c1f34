"""Connectors: open transports to configured endpoints, and open them again after a loss.

A peer has one connector per endpoint; a client has one for all, which tries them in order and
keeps one transport (behaviour reference §2.1).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from zenlake.errors import LocalError, ZenlakeError
from zenlake.links import LinkError, UnsupportedLink, connect
from zenlake.node.backoff import Backoff
from zenlake.node.handshake import HandshakeBatches
from zenlake.node.link_runner import LinkRunner
from zenlake.node.tap import tap_link
from zenlake.node.threads import ThreadOwner
from zenlake.protocol.errors import HandshakeError, RefusedByPeer
from zenlake.protocol.opening import Opener
from zenlake.wire import CloseReason, EndPoint, Init, ZenohId, decode_transport

if TYPE_CHECKING:
    from zenlake.node.node import Node
    from zenlake.node.retry import Retry

log = logging.getLogger("zenlake.transport")


class AlreadyConnected(ZenlakeError):
    """This node has a transport with that node, or is about to open one over another link."""

    def __init__(self, zid: ZenohId) -> None:
        super().__init__(f"there is a transport with {zid} already")
        self.zid = zid


def open_transport(
    node: Node, endpoint: EndPoint, expected_zid: ZenohId | None = None
) -> LinkRunner:
    """Connect and shake hands, all within `open_timeout`; start the transport."""
    timeout_s = node.settings.open_timeout_s
    deadline = time.monotonic() + timeout_s
    link = connect(endpoint, node.settings.links, timeout_s, node.is_over)
    with node.opening(link):
        tap = tap_link(node.tap, link, is_accepted=False)
        handshake = HandshakeBatches(link, deadline, node.settings.handshake_idle_s, tap)
        opener = Opener(node.offer(link, endpoint), expected_zid, not link.is_reliable)
        claim = None
        try:
            handshake.send(opener.start())
            while opener.agreed is None:
                batch = handshake.receive()
                answer = opener.receive(batch)
                if answer is not None:
                    zid = _zid_of(batch)
                    claim = node.claims.open(zid)
                    if claim is None:
                        raise AlreadyConnected(zid)
                    handshake.send(answer)
            assert claim is not None
            runner = LinkRunner(node, link, opener.agreed, claim, handshake.pop_rest(), tap)
        except BaseException as error:
            if isinstance(error, HandshakeError):
                handshake.send_close(error)
            link.close()
            if tap is not None:
                tap.close()
            if claim is not None:
                node.claims.release(claim)
                if isinstance(error, HandshakeError) and error.reason == CloseReason.MAX_LINKS:
                    raise AlreadyConnected(claim.zid) from error
            raise
    runner.start()
    return runner


def _zid_of(init_ack: bytes) -> ZenohId:
    message = decode_transport(init_ack, 0)[0]
    assert isinstance(message, Init)
    return message.zid


def failure_text(endpoint: EndPoint, error: ZenlakeError) -> str:
    """Why there is no transport, as text for the user."""
    if isinstance(error, RefusedByPeer):
        return f"refused by {endpoint}: {error.cause}"
    if isinstance(error, HandshakeError | LinkError):
        return f"{endpoint}: {error.cause}"
    return f"{endpoint}: {error}"


def causes_text(causes: Mapping[EndPoint, str]) -> str:
    """The last cause for each endpoint, to follow an error text; empty if there is none."""
    return "".join(f" {cause};" for cause in causes.values()).removesuffix(";")


class Connector(ThreadOwner):
    """Keeps a transport to one of some endpoints, in a thread of its own.

    `connected` is set from the first success on; `given_up` if there will be none.
    """

    def __init__(self, node: Node, endpoints: list[EndPoint], retry: Retry) -> None:
        super().__init__(f"zenlake connect {endpoints[0]}" if endpoints else "zenlake connect")
        self.endpoints = endpoints
        self.connected = threading.Event()
        self.given_up = threading.Event()
        self.runner: LinkRunner | None = None
        self._node = node
        self.backoff = Backoff(retry)
        self.causes: dict[EndPoint, str] = {}
        self._new_causes: list[str] = []

    def try_all(self) -> bool:
        """Try each endpoint once, until one works."""
        for endpoint in self.endpoints:
            if self._node.is_over():
                return False
            if self._try(endpoint):
                self.connected.set()
                return True
        return False

    def _try(self, endpoint: EndPoint) -> bool:
        try:
            self.runner = open_transport(self._node, endpoint)
        except AlreadyConnected as error:
            # Another link was first; it may still be in its handshake.
            self.runner = self._node.wait_for_transport(error.zid)
        except ZenlakeError as error:
            if not self._node.is_over():
                self._failed(endpoint, error)
        if self.runner is not None:
            self.warn()
            self.causes.clear()
        return self.runner is not None

    def _failed(self, endpoint: EndPoint, error: ZenlakeError) -> None:
        cause = failure_text(endpoint, error)
        log.debug("no connection: %s", cause)
        if self.causes.get(endpoint) != cause:
            self._new_causes.append(cause)
        self.causes[endpoint] = cause
        if isinstance(error, LocalError | UnsupportedLink) or (
            isinstance(error, HandshakeError) and error.reason == CloseReason.CONNECTION_TO_SELF
        ):
            self.given_up.set()

    def warn(self) -> None:
        """Log new causes, unless an error of `open` has them; attempts repeat the same ones."""
        causes, self._new_causes = self._new_causes, []
        for cause in causes:
            self._node.link_log.no_connection(cause)

    def is_hopeless(self) -> bool:
        """Whether every later attempt must fail too."""
        return len(self.endpoints) == 1 and self.given_up.is_set()

    def _run(self) -> None:
        node = self._node
        while not node.is_over():
            began = time.monotonic()
            if self.runner is None and not self.try_all():
                self.warn()
                if self.is_hopeless():
                    return
                node.closing.wait(self.backoff.after_failure(time.monotonic() - began))
                continue
            runner = self.runner
            if runner is None:
                continue
            runner.ended.wait()
            self.runner = None
            node.closing.wait(self.backoff.after_loss(time.monotonic() - runner.opened_at))
