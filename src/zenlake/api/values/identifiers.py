"""`ZenohId`, `EntityGlobalId` and `SourceInfo`: ids of nodes, entities and messages."""

from __future__ import annotations

from typing import Self, final

from zenlake import wire
from zenlake.api.final_classes import NoConstructor, no_subclasses
from zenlake.api.values.wire_value import WireValue


@final
@no_subclasses
class ZenohId(NoConstructor, WireValue[wire.ZenohId]):
    """The id of a node, as text in lower-case hexadecimal."""

    __slots__ = ()

    def __bytes__(self) -> bytes:
        return self._wire.raw


@final
@no_subclasses
class EntityGlobalId(NoConstructor):
    """The id of a publisher, subscriber or other entity: its node's id and a number."""

    __slots__ = ("_eid", "_zid")
    _zid: ZenohId
    _eid: int

    @classmethod
    def from_wire(cls, zid: wire.ZenohId, eid: int) -> Self:
        made = object.__new__(cls)
        made._zid, made._eid = ZenohId.from_wire(zid), eid
        return made

    @property
    def zid(self) -> ZenohId:
        return self._zid

    @property
    def eid(self) -> int:
        return self._eid

    def __repr__(self) -> str:
        return f"EntityGlobalId {{ zid: {self._zid}, eid: {self._eid} }}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EntityGlobalId):
            return NotImplemented
        return self._zid == other._zid and self._eid == other._eid

    def __hash__(self) -> int:
        return hash((self._zid, self._eid))


@final
@no_subclasses
class SourceInfo:
    """The entity that made a value, and the entity's sequence number of it."""

    __slots__ = ("_source_id", "_source_sn")

    def __init__(self, source_id: EntityGlobalId, source_sn: int) -> None:
        if not isinstance(source_id, EntityGlobalId):
            raise TypeError(f"a source id is an EntityGlobalId, not {type(source_id).__name__}")
        if not isinstance(source_sn, int):
            raise TypeError(f"a sequence number is an int, not {type(source_sn).__name__}")
        if not 0 <= source_sn < 1 << 32:
            raise OverflowError(f"a sequence number fits 32 bits, {source_sn} does not")
        self._source_id = source_id
        self._source_sn = source_sn

    @classmethod
    def from_wire(cls, info: wire.SourceInfo) -> Self:
        return cls(EntityGlobalId.from_wire(info.zid, info.eid), info.sn)

    @property
    def wire(self) -> wire.SourceInfo:
        """The source info as messages carry it."""
        return wire.SourceInfo(self._source_id.zid.wire, self._source_id.eid, self._source_sn)

    @property
    def source_id(self) -> EntityGlobalId:
        return self._source_id

    @property
    def source_sn(self) -> int:
        return self._source_sn

    def __repr__(self) -> str:
        return f"SourceInfo {{ source_id: {self._source_id}, source_sn: {self._source_sn} }}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SourceInfo):
            return NotImplemented
        return self._source_id == other._source_id and self._source_sn == other._source_sn

    def __hash__(self) -> int:
        return hash((self._source_id, self._source_sn))
