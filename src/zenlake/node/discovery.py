"""Discovery: nodes that scouting or gossip announce, and whether to connect to them.

The rules are those of behaviour reference §4.7, autoconnect. A transport found this way is not
kept by a connector: if it is lost, scouting and gossip find the node again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from zenlake.errors import LocalError, ZenlakeError
from zenlake.links import is_supported
from zenlake.node.autoconnect import may_connect
from zenlake.node.connect import AlreadyConnected, causes_text, failure_text, open_transport
from zenlake.node.threads import ThreadError, join_threads, start_thread
from zenlake.wire import EndPoint, WhatAmI, ZenohId

if TYPE_CHECKING:
    from zenlake.node.node import Node
    from zenlake.routing.gossip.gossip import GossipedNode

log = logging.getLogger("zenlake.node")

# Simultaneous attempts; a node that is not tried now is found again later.
_ATTEMPTS_MAX: Final = 64


class Discovery:
    """Attempts to connect to nodes that were found, each in a thread of its own."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._lock = threading.Condition()
        self._attempts: dict[ZenohId, threading.Thread] = {}

    def scouted(self, zid: ZenohId, role: WhatAmI, locators: Sequence[str]) -> None:
        """Handle a HELLO."""
        settings = self._node.settings
        self._consider(
            zid,
            role,
            locators,
            settings.multicast_autoconnect,
            settings.multicast_greater_zid_roles,
        )

    def gossiped(self, found: Sequence[GossipedNode]) -> None:
        """Handle nodes that a neighbour announced."""
        settings = self._node.settings
        for one in found:
            self._consider(
                one.zid,
                one.role,
                one.locators,
                settings.gossip_autoconnect,
                settings.gossip_greater_zid_roles,
            )

    def _consider(
        self,
        zid: ZenohId,
        role: WhatAmI,
        locators: Sequence[str],
        roles: int,
        greater_zid_roles: int,
    ) -> None:
        node = self._node
        own = node.settings
        if not roles & role or zid == own.zid:
            return
        if not may_connect(own.zid, zid, role, greater_zid_roles):
            return
        if own.role == WhatAmI.CLIENT or node.claims.has(zid):
            return  # a client keeps one transport
        configured = {endpoint.locator for endpoint in own.connect}
        if not locators or configured.issuperset(locators):
            return
        with self._lock:
            if zid in self._attempts or len(self._attempts) >= _ATTEMPTS_MAX or node.is_over():
                return
            thread = threading.Thread(
                target=self._attempt,
                args=(zid, list(locators)),
                name=f"zenlake discover {zid}",
                daemon=True,
            )
            self._attempts[zid] = thread
        try:
            start_thread(thread)
        except ThreadError:  # the node is found again later
            self._forget(zid)

    def _attempt(self, zid: ZenohId, locators: list[str]) -> None:
        node = self._node
        causes: dict[EndPoint, str] = {}
        try:
            if not connect_to(node, zid, locators, causes) and causes and not node.is_over():
                node.link_log.unreachable(zid, causes_text(causes))
        finally:
            self._forget(zid)

    def _forget(self, zid: ZenohId) -> None:
        with self._lock:
            del self._attempts[zid]
            self._lock.notify_all()

    def is_busy(self) -> bool:
        return bool(self._attempts)

    def join(self, timeout_s: float) -> None:
        with self._lock:
            threads = list(self._attempts.values())
        join_threads(threads, timeout_s)


def connect_to(
    node: Node, zid: ZenohId, locators: Sequence[str], causes: dict[EndPoint, str]
) -> bool:
    """Try the locators of one node in order; returns whether there is a transport with the node.

    `causes` gets the reason for each locator that failed.
    """
    for locator in locators:
        try:
            endpoint = EndPoint.parse(locator)
        except LocalError as error:
            log.debug("%s", error)
            continue
        if not is_supported(endpoint, node.settings.links) or node.is_over():
            continue
        try:
            open_transport(node, endpoint, zid)
            return True
        except AlreadyConnected:
            return True
        except ZenlakeError as error:
            causes[endpoint] = failure_text(endpoint, error)
            log.debug("no connection to node %s: %s", zid, causes[endpoint])
    return False
