"""Information that the admin space gets from the node: locators, sessions, counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from zenlake.wire import WhatAmI, ZenohId

if TYPE_CHECKING:
    from zenlake.routing.face import Face


class SessionEntry(NamedTuple):
    """One open transport, or one member of a multicast group."""

    zid: ZenohId
    whatami: WhatAmI
    region: str | None
    """None for members of a multicast group."""

    group: str | None
    links: list[tuple[str, str]]
    """Source and destination."""


class TransportFacts(Protocol):
    """One open transport; its methods are called under the node's lock, perhaps much later."""

    def session(self) -> SessionEntry: ...

    def counters(self) -> dict[str, object]:
        """Numbers and texts, and dictionaries of such, by name."""
        ...


class NodeFacts(Protocol):
    def locators(self) -> list[str]: ...

    def transports(self) -> list[TransportFacts]:
        """All open transports; they may be closed when their methods are called later."""
        ...

    def transport_with(self, zid: ZenohId) -> TransportFacts | None:
        """The open transport with a neighbour."""
        ...

    def group_members(self) -> list[SessionEntry]: ...

    def group_drops(self, face: Face) -> dict[str, int] | None:
        """Messages lost, by cause: to a multicast group, or from one of its members."""
        ...

    def counters(self) -> dict[str, object]:
        """Counters of the whole node, without those of its open transports."""
        ...
