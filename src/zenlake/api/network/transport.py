"""`Transport` and `Link`: snapshots of connections to other nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, final

from zenlake.api.final_classes import NoConstructor, no_subclasses
from zenlake.api.values.enums import Reliability, WhatAmI
from zenlake.api.values.identifiers import ZenohId

if TYPE_CHECKING:
    from zenlake.node.info import LinkInfo, TransportInfo


class _Snapshot(NoConstructor):
    """The state of one transport and its link at one time."""

    __slots__ = ("_info",)
    _info: TransportInfo | LinkInfo

    @classmethod
    def from_info(cls, info: TransportInfo | LinkInfo) -> Self:
        made = object.__new__(cls)
        made._info = info
        return made

    @property
    def zid(self) -> ZenohId:
        return ZenohId.from_wire(self._info.zid)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._info == other._info

    def __hash__(self) -> int:
        return hash(self._info)


@final
@no_subclasses
class Transport(_Snapshot):
    """A connection to another node."""

    __slots__ = ()
    _info: TransportInfo

    @property
    def whatami(self) -> WhatAmI:
        return WhatAmI.from_number(int(self._info.whatami))

    @property
    def is_qos(self) -> bool:
        return self._info.is_qos

    @property
    def is_multicast(self) -> bool:
        return self._info.is_multicast

    @property
    def is_shm(self) -> bool:
        """Whether payloads may pass through shared memory, which zenlake does not have."""
        return False

    def __repr__(self) -> str:
        return (
            f"Transport {{ zid: {self.zid}, whatami: {self.whatami!r}, "
            f"is_qos: {_rust(self.is_qos)}, is_multicast: {_rust(self.is_multicast)}, "
            f"is_shm: {_rust(self.is_shm)} }}"
        )


@final
@no_subclasses
class Link(_Snapshot):
    """One link of a transport."""

    __slots__ = ()
    _info: LinkInfo

    @property
    def src(self) -> str:
        return self._info.src

    @property
    def dst(self) -> str:
        return self._info.dst

    @property
    def group(self) -> str | None:
        return self._info.group

    @property
    def mtu(self) -> int:
        return self._info.mtu

    @property
    def is_streamed(self) -> bool:
        return self._info.is_streamed

    @property
    def interfaces(self) -> list[str]:
        return list(self._info.interfaces)

    @property
    def auth_identifier(self) -> str | None:
        return self._info.auth_identifier

    @property
    def priorities(self) -> tuple[int, int] | None:
        return self._info.priorities

    @property
    def reliability(self) -> Reliability | None:
        reliable = self._info.is_reliable
        if reliable is None:
            return None
        return Reliability.RELIABLE if reliable else Reliability.BEST_EFFORT

    def __repr__(self) -> str:
        return f"Link {{ zid: {self.zid}, src: {self.src}, dst: {self.dst}, mtu: {self.mtu} }}"


def _rust(flag: bool) -> str:
    """The text of a value as eclipse-zenoh prints it."""
    return "true" if flag else "false"
