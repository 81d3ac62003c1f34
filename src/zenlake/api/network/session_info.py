"""`SessionInfo`: the node, its transports and links, and listeners to their events."""

from __future__ import annotations

from typing import Any, Self, final, overload

from zenlake import wire
from zenlake.api.final_classes import NoConstructor
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_types import H, IntoCallback, IntoChannel, IntoPair
from zenlake.api.network.transport import Link, Transport
from zenlake.api.network.transport_events import (
    LinkEvent,
    LinkEventsListener,
    TransportEvent,
    TransportEventsListener,
)
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.values.identifiers import ZenohId


@final
class SessionInfo(NoConstructor):
    """Each method returns the state at the time of the call."""

    __slots__ = ("_session",)
    _session: SessionHandle

    @classmethod
    def _make(cls, session: SessionHandle) -> Self:
        made = object.__new__(cls)
        made._session = session
        return made

    def zid(self) -> ZenohId:
        return ZenohId.from_wire(self._session.core.zid)

    def routers_zid(self) -> list[ZenohId]:
        return self._zids(wire.WhatAmI.ROUTER)

    def peers_zid(self) -> list[ZenohId]:
        return self._zids(wire.WhatAmI.PEER)

    def _zids(self, role: wire.WhatAmI) -> list[ZenohId]:
        """Ids of connected nodes; as in eclipse-zenoh, without members of multicast groups."""
        self._session.check_process()
        infos = self._session.node.transports()
        return [
            ZenohId.from_wire(info.zid)
            for info in infos
            if info.whatami == role and not info.is_multicast
        ]

    def transports(self) -> list[Transport]:
        self._session.check_process()
        return [Transport.from_info(info) for info in self._session.node.transports()]

    def links(self) -> list[Link]:
        self._session.check_process()
        return [Link.from_info(info) for info in self._session.node.links()]

    def stats(self) -> dict[str, int]:
        """Counters of messages received, sent and dropped, by cause."""
        self._session.check_process()
        return self._session.node.stats() | self._session.core.stats()

    @overload
    def declare_transport_events_listener(
        self, handler: IntoChannel[TransportEvent] = None, *, history: bool | None = None
    ) -> TransportEventsListener[Handler[TransportEvent]]: ...
    @overload
    def declare_transport_events_listener(
        self, handler: IntoPair[TransportEvent, H], *, history: bool | None = None
    ) -> TransportEventsListener[H]: ...
    @overload
    def declare_transport_events_listener(
        self, handler: IntoCallback[TransportEvent], *, history: bool | None = None
    ) -> TransportEventsListener[None]: ...
    def declare_transport_events_listener(
        self, handler: Any = None, *, history: bool | None = None
    ) -> TransportEventsListener[Any]:
        """Report transports that are opened and closed; `history` reports open ones first."""
        return TransportEventsListener._declare(self._session, handler, history)

    @overload
    def declare_link_events_listener(
        self, handler: IntoChannel[LinkEvent] = None, *, history: bool | None = None
    ) -> LinkEventsListener[Handler[LinkEvent]]: ...
    @overload
    def declare_link_events_listener(
        self, handler: IntoPair[LinkEvent, H], *, history: bool | None = None
    ) -> LinkEventsListener[H]: ...
    @overload
    def declare_link_events_listener(
        self, handler: IntoCallback[LinkEvent], *, history: bool | None = None
    ) -> LinkEventsListener[None]: ...
    def declare_link_events_listener(
        self, handler: Any = None, *, history: bool | None = None
    ) -> LinkEventsListener[Any]:
        """Report links that are opened and closed; `history` reports open ones first."""
        return LinkEventsListener._declare(self._session, handler, history)
