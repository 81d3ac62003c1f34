"""`SessionInfo`: the node, its transports and links, and listeners to their events."""

from __future__ import annotations

from typing import Any, Self, final, overload

from zenlake import wire
from zenlake.api.final_classes import no_constructor
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
class SessionInfo:
    """Answers for the moment it is asked."""

    __slots__ = ("_session",)
    _session: SessionHandle

    def __new__(cls, *_args: object, **_options: object) -> Self:
        no_constructor(cls)

    @classmethod
    def _of(cls, session: SessionHandle) -> Self:
        made = object.__new__(cls)
        made._session = session
        return made

    def zid(self) -> ZenohId:
        return ZenohId.of_wire(self._session.core.zid)

    def routers_zid(self) -> list[ZenohId]:
        return self._zids(wire.WhatAmI.ROUTER)

    def peers_zid(self) -> list[ZenohId]:
        return self._zids(wire.WhatAmI.PEER)

    def _zids(self, role: wire.WhatAmI) -> list[ZenohId]:
        """Who is connected; as deployed, members of groups are among `transports` alone."""
        self._session.check_process()
        infos = self._session.node.transports()
        return [
            ZenohId.of_wire(info.zid)
            for info in infos
            if info.whatami == role and not info.is_multicast
        ]

    def transports(self) -> list[Transport]:
        self._session.check_process()
        return [Transport.of_info(info) for info in self._session.node.transports()]

    def links(self) -> list[Link]:
        self._session.check_process()
        return [Link.of_info(info) for info in self._session.node.links()]

    def stats(self) -> dict[str, int]:
        """What went in and out so far, and everything that was dropped, by cause."""
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
        """Be told of transports that come and go; `history` begins with those there are."""
        return TransportEventsListener._of(self._session, handler)._listen(history)

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
        """Be told of links that come and go; `history` begins with those there are."""
        return LinkEventsListener._of(self._session, handler)._listen(history)
