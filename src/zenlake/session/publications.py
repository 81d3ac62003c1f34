"""Samples out: PUSH messages to the network and to the session's own subscribers.

The network comes first (behaviour reference §2.3). The Dispatcher decides which neighbours get a
publication; the interest of a publisher brings it the declarations for that, and gives the
publisher its matching status.
"""

from __future__ import annotations

from zenlake.routing.outlet import Outlet
from zenlake.session.locality import Locality
from zenlake.session.port import Port
from zenlake.session.shortcut import Shortcut
from zenlake.session.subscribers import Subscribers
from zenlake.wire import Del, Encoding, Push, Put, QoS, TimestampStack, WireExpr
from zenlake.wire.defaults import DEFAULT_QOS_BYTE


class Publication:
    """The constant part of a publisher's messages, made once."""

    __slots__ = (
        "destination",
        "encoding",
        "key",
        "qos",
        "reliable",
        "shortcut",
        "to_network",
        "to_own_session",
        "wire_key",
        "wire_qos",
    )

    def __init__(
        self,
        key: str,
        wire_key: WireExpr,
        qos: QoS,
        reliable: bool,
        destination: Locality,
        encoding: Encoding | None,
    ) -> None:
        self.key = key
        self.wire_key = wire_key
        self.qos = qos
        self.wire_qos = wire_qos(qos)
        self.reliable = reliable
        self.destination = destination
        self.to_network = destination != Locality.SESSION_LOCAL
        self.to_own_session = destination != Locality.REMOTE
        self.encoding = encoding
        self.shortcut: Shortcut | None = None


class Publications:
    """Sends publications of the user."""

    __slots__ = ("_port", "_subscribers")

    def __init__(self, port: Port, subscribers: Subscribers) -> None:
        self._port = port
        self._subscribers = subscribers

    def prepare(
        self, key: str, qos: QoS, reliable: bool, destination: Locality, encoding: Encoding | None
    ) -> Publication:
        """The constant part of a publisher's messages; `qos/publication` may override options."""
        rule = self._port.settings.rule_for(key)
        if rule is not None:
            qos = rule.overwritten(qos)
            reliable = reliable if rule.reliable is None else rule.reliable
            destination = destination if rule.destination is None else rule.destination
        wire_key = WireExpr(0, self._port.namespace.full(key))
        return Publication(key, wire_key, qos, reliable, destination, encoding)

    def push(
        self, publication: Publication, body: Put | Del, stamps: TimestampStack | None, now: float
    ) -> None:
        """Publish a value or a deletion. Hot."""
        port = self._port
        if port.hlc is not None and body.timestamp is None:
            body.timestamp = port.new_timestamp()
        if stamps is not None:
            stamps = port.stamp_sent(stamps)
        message = Push(publication.wire_key, body, publication.wire_qos, None, None, stamps)
        if publication.to_network:
            face = port.face
            assert face is not None
            port.clear_refusal()
            port.dispatcher.receive(face, message, publication.reliable, now)
        if publication.to_own_session:
            self._subscribers.receive_own(publication.key, message)
        if publication.to_network:
            port.raise_refusal()

    def publish(self, publication: Publication, payload: bytes) -> bool:
        """Publish a value by the shortcut, without any lock; False if there is none. Hot."""
        shortcut = publication.shortcut
        if shortcut is None or not self._is_current(shortcut):
            return False
        return shortcut.send(payload)

    def find_shortcut(self, publication: Publication) -> None:
        """Find a shortcut after a publication was routed, so that its route is cached."""
        if publication.shortcut is not None and self._is_current(publication.shortcut):
            return
        publication.shortcut = None
        port = self._port
        is_local = publication.to_own_session and self._subscribers.has_local(publication.key)
        if port.hlc is not None or port.face is None or is_local or not publication.to_network:
            return
        route = port.dispatcher.only_destination(port.face, publication.wire_key.suffix)
        if route is None:
            return
        shortcut = Shortcut(
            route, publication.encoding, publication.qos, publication.wire_qos, publication.reliable
        )
        shortcut.subscribers_version = self._subscribers.version
        publication.shortcut = shortcut

    def sole_outlet(self) -> Outlet | None:
        """The one outlet that gets all publications of this session unchanged, if there is one."""
        port = self._port
        if port.hlc is not None or port.face is None or self._subscribers.live:
            return None
        if port.settings.namespace or port.settings.publication_rules:
            return None
        gateway = port.dispatcher.sole_gateway(port.face)
        return None if gateway is None else gateway.outlet

    def _is_current(self, shortcut: Shortcut) -> bool:
        return (
            shortcut.route.is_current and shortcut.subscribers_version == self._subscribers.version
        )


def wire_qos(qos: QoS) -> QoS | None:
    """The encoding as messages carry it: None for the default, which is not written."""
    return None if qos.byte == DEFAULT_QOS_BYTE else qos
