"""How a node opens, by its role, and what it waits for (behaviour reference §2.1)."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from math import inf
from typing import TYPE_CHECKING, Final

from zenlake.errors import ZenlakeError
from zenlake.links import LinkError, check_supported, is_group
from zenlake.links.addresses import split_address
from zenlake.node.connect import Connector, causes_text
from zenlake.node.discovery import connect_to
from zenlake.node.scouting import scout
from zenlake.node.threads import ThreadOwner
from zenlake.protocol.scouting import Answerer, ScoutedNode
from zenlake.routing.region import EQUAL
from zenlake.wire import EndPoint, WhatAmI

if TYPE_CHECKING:
    from zenlake.node.node import Node
    from zenlake.routing.face import Face

log = logging.getLogger("zenlake.node")

_LOOK_S: Final = 0.005
_CONNECTED_CHECK_S: Final = 0.05


def open_node(node: Node) -> None:
    settings = node.settings
    for endpoint in settings.listen:
        check_supported(endpoint, settings.links)
    if node.role != WhatAmI.CLIENT:  # a client may have other endpoints to try
        for endpoint in settings.connect:
            check_supported(endpoint, settings.links)
    _listen(node)
    if node.role == WhatAmI.CLIENT:
        _open_client(node)
    else:
        _open_peer(node)


# --- listening ---------------------------------------------------------------------------------


def _listen(node: Node) -> None:
    """Bind all; a failure ends the node, or is retried in the background if configured so."""
    settings = node.settings
    for endpoint in settings.listen:
        is_fatal = _exits(endpoint, settings.listen_exit_on_failure)
        binder = Binder(node, endpoint)
        try:
            binder.bind(settings.listen_timeout_s if is_fatal else 0.0)
        except LinkError as error:
            if is_fatal:
                raise ZenlakeError(f"Can not listen on {endpoint}: {error.cause}") from error
            log.warning("not listening yet: %s", error)
            node.binders.append(binder)
            binder.start()
    node.update_locators()


class Binder(ThreadOwner):
    """Tries to bind one endpoint until it works."""

    def __init__(self, node: Node, endpoint: EndPoint) -> None:
        super().__init__(f"zenlake bind {endpoint}")
        self._node = node
        self._endpoint = endpoint
        self._retry = node.settings.listen_retry.for_endpoint(endpoint)

    def bind(self, patience_s: float | None) -> None:
        """Try for that long, None for ever; raises the last LinkError if that fails."""
        deadline = None if patience_s is None else time.monotonic() + patience_s
        wait_s = self._retry.initial_s
        while True:
            try:
                self._node.accepting.bind(self._endpoint)
                return
            except LinkError:
                if deadline is not None and time.monotonic() + wait_s > deadline:
                    raise
                if self._node.closing.wait(wait_s):
                    raise
            wait_s = self._retry.after(wait_s)

    def _run(self) -> None:
        node = self._node
        if node.closing.wait(self._retry.initial_s):
            return
        with contextlib.suppress(LinkError):
            self.bind(None)
            node.update_locators()


def _exits(endpoint: EndPoint, default: bool) -> bool:
    """`#exit_on_failure=...` of the endpoint overrides the configuration."""
    word = endpoint.config.get("exit_on_failure")
    return default if word is None else word == "true"


# --- clients -----------------------------------------------------------------------------------


def _open_client(node: Node) -> None:
    settings = node.settings
    if not settings.connect:
        if not settings.multicast_enabled:
            raise ZenlakeError("No peer specified and multicast scouting deactivated!")
        _open_scouting_client(node)
        return
    connector = Connector(node, settings.connect, settings.connect_retry)
    node.connectors.append(connector)
    if not _connects_in_time(node, connector) and settings.connect_exit_on_failure:
        listed = ", ".join(str(endpoint) for endpoint in settings.connect)
        raise ZenlakeError(
            f"Unable to connect to any of [{listed}]!{causes_text(connector.causes)}"
        )
    connector.warn()
    connector.start()


def _connects_in_time(node: Node, connector: Connector) -> bool:
    patience_s = node.settings.connect_timeout_s
    deadline = None if patience_s is None else time.monotonic() + patience_s
    while True:
        began = time.monotonic()
        if connector.try_all():
            return True
        if connector.is_hopeless():
            return False
        now = time.monotonic()
        wait_s = connector.backoff.after_failure(now - began)
        if deadline is not None:
            if now >= deadline:
                return False
            wait_s = min(wait_s, deadline - now)
        connector.warn()
        if node.closing.wait(wait_s):
            return False


class ScoutingConnector(Connector):
    """Connects a client to a node that scouting finds; the first to answer is tried first."""

    def __init__(self, node: Node) -> None:
        super().__init__(node, [], node.settings.connect_retry)

    def try_all(self) -> bool:
        node = self._node
        settings = node.settings
        found: list[ScoutedNode] = []
        news = threading.Condition()

        def note(one: ScoutedNode) -> None:
            with news:
                if one.locators and all(one.zid != other.zid for other in found):
                    found.append(one)
                    news.notify()

        try:
            scouting = scout(
                settings, settings.multicast_autoconnect, note, None, node.zid, node.tap
            )
        except LinkError as error:
            log.warning("no scouting: %s", error)
            return False
        deadline = time.monotonic() + settings.scouting_timeout_s
        tried = 0
        try:
            while time.monotonic() < deadline and not node.is_over():
                with news:
                    if len(found) == tried:
                        news.wait(0.1)
                for one in found[tried:]:
                    tried += 1
                    if connect_to(node, one.zid, one.locators, self.causes):
                        self.runner = node.wait_for_transport(one.zid)
                        if self.runner is not None:
                            self.connected.set()
                            return True
        finally:
            scouting.close()
            scouting.join(1.0)
        return False


def _open_scouting_client(node: Node) -> None:
    connector = ScoutingConnector(node)
    node.connectors.append(connector)
    if not connector.try_all():
        raise ZenlakeError(
            f"Unable to connect to any scouted peer or router!{causes_text(connector.causes)}"
        )
    connector.start()


# --- peers and routers -------------------------------------------------------------------------


def _open_peer(node: Node) -> None:
    settings = node.settings
    for endpoint in settings.connect:
        if endpoint.protocol == "udp" and is_group(split_address(endpoint)[0]):
            node.join_group(endpoint)
            continue
        connector = Connector(node, [endpoint], settings.connect_retry.for_endpoint(endpoint))
        node.connectors.append(connector)
        connector.start()
    if settings.multicast_enabled:
        _scout(node)
    _wait_for_connectors(node)
    if node.role == WhatAmI.ROUTER:
        node.closing.wait(settings.scouting_delay_s)
    elif settings.waits_for_scouted:
        deadline = time.monotonic() + settings.scouting_delay_s
        while time.monotonic() < deadline and not _is_complete(node):
            node.closing.wait(_LOOK_S)


def _scout(node: Node) -> None:
    settings = node.settings
    answerer = None
    if settings.multicast_listen:
        answerer = Answerer(node.zid, node.role, time.monotonic())
        answerer.set_locators(node.accepting.locators())

    def found(one: ScoutedNode) -> None:
        node.discovery.scouted(one.zid, one.role, one.locators)

    try:
        wanted = settings.multicast_autoconnect
        node.scoutings.append(scout(settings, wanted, found, answerer, node.zid, node.tap))
    except LinkError as error:
        log.warning("no scouting: %s", error)


def _wait_for_connectors(node: Node) -> None:
    """Wait until endpoints with `exit_on_failure` are connected, within `connect/timeout_ms`."""
    settings = node.settings
    began = time.monotonic()
    for connector in node.connectors:
        endpoint = connector.endpoints[0]
        if not _exits(endpoint, settings.connect_exit_on_failure):
            continue
        patience_s = settings.connect_timeout_s
        left = None if patience_s is None else max(1.0, began + patience_s - time.monotonic())
        deadline = inf if left is None else time.monotonic() + left
        while not connector.connected.wait(_CONNECTED_CHECK_S):
            if connector.is_hopeless() or node.is_over() or time.monotonic() >= deadline:
                raise ZenlakeError(
                    f"Unable to connect to {endpoint}!{causes_text(connector.causes)}"
                )


def _is_complete(node: Node) -> bool:
    """Whether all known nodes are connected and have sent their declarations.

    With scouting, at least one of them must be: the first that answers ends the wait, others
    that have answered by then are waited for as well.
    """
    if any(not (one.connected.is_set() or one.given_up.is_set()) for one in node.connectors):
        return False
    if node.discovery.is_busy():
        return False
    faces = [runner.face for runner in list(node.runners.values())]
    if node.scoutings and not faces:
        return False
    if not node.settings.waits_for_declares:
        return True
    return all(face is None or _has_declared_all(face) for face in faces)


def _has_declared_all(face: Face) -> bool:
    """Whether a face has sent its declarations; only equal peers mark their end."""
    return face.role != WhatAmI.PEER or face.position != EQUAL or face.is_informed
