"""Structures: parts of messages and extensions that have a layout of their own.

GENERATED from zenlake/wire/definitions/structures.py by `make generate`. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from zenlake._mypyc import (
    mypyc_attr,
)
from zenlake.errors import (
    LocalError,
)
from zenlake.wire.message import (
    Structure,
)
from zenlake.wire.primitives import (
    FIELD_ERRORS,
    Z16_MAX,
    Malformed,
    read_bytes_z32,
    read_count,
    read_rest,
    read_rest_text,
    read_small,
    read_u8,
    read_z16,
    read_z32,
    read_z64,
    wire_error,
    write_count,
    write_rest,
    write_rest_text,
    write_u8,
    write_z16,
    write_z32,
    write_z64,
)
from zenlake.wire.values.encoding import (
    Encoding,
    read_encoding,
    write_encoding,
)
from zenlake.wire.values.endpoint import (
    read_locator,
    write_locator,
)
from zenlake.wire.values.whatami import (
    WhatAmI,
    role_of_mask,
)
from zenlake.wire.values.wire_expr import (
    WireExpr,
)
from zenlake.wire.values.zenoh_id import (
    ZenohId,
    read_prefixed_zid,
    read_zid,
    write_prefixed_zid,
)
from zenlake.wire.writer import (
    BytesWriter,
)

if TYPE_CHECKING:
    from mypy_extensions import i64



@mypyc_attr(acyclic=True)
class SourceInfo(Structure):
    """The entity that published a value, and the sequence number it assigned."""

    __slots__ = ('zid', 'eid', 'sn',)
    NAME: ClassVar[str] = "SourceInfo"
    FIELDS: ClassVar[tuple[str, ...]] = ('zid', 'eid', 'sn',)

    def __init__(self, zid: ZenohId, eid: int, sn: int) -> None:
        self.zid = zid
        self.eid = eid
        self.sn = sn

    def copy(self) -> SourceInfo:
        """A copy with all fields, which may be changed before it is sent."""
        return SourceInfo(self.zid, self.eid, self.sn)

    def encode(self, out: BytesWriter) -> None:
        zid = self.zid
        packed = 0
        packed |= len(zid.raw) - 1 << 4
        out.append(packed)
        out.write(zid.raw)
        number = self.eid
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        number = self.sn
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)


_SOURCE_INFO_ROWS: Final = ('header', 'packed', 'zid', 'eid', 'sn',)


def decode_source_info(buf: bytes, pos: i64, end: i64) -> tuple[SourceInfo, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        if pos >= end:
            raise IndexError
        packed: i64 = buf[pos]
        pos += 1
        row = 2
        at = pos
        zid, pos = read_zid(buf, pos, end, (packed >> 4) + 1)
        row = 3
        at = pos
        eid, pos = read_z32(buf, pos, end)
        row = 4
        at = pos
        sn, pos = read_z32(buf, pos, end)
        return SourceInfo(zid, eid, sn), pos
    except FIELD_ERRORS as error:
        raise wire_error("SourceInfo", _SOURCE_INFO_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class ResponderId(Structure):
    """The entity that sent a reply."""

    __slots__ = ('zid', 'eid',)
    NAME: ClassVar[str] = "ResponderId"
    FIELDS: ClassVar[tuple[str, ...]] = ('zid', 'eid',)

    def __init__(self, zid: ZenohId, eid: int) -> None:
        self.zid = zid
        self.eid = eid

    def copy(self) -> ResponderId:
        """A copy with all fields, which may be changed before it is sent."""
        return ResponderId(self.zid, self.eid)

    def encode(self, out: BytesWriter) -> None:
        zid = self.zid
        packed = 0
        packed |= len(zid.raw) - 1 << 4
        out.append(packed)
        out.write(zid.raw)
        number = self.eid
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)


_RESPONDER_ID_ROWS: Final = ('header', 'packed', 'zid', 'eid',)


def decode_responder_id(buf: bytes, pos: i64, end: i64) -> tuple[ResponderId, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        if pos >= end:
            raise IndexError
        packed: i64 = buf[pos]
        pos += 1
        row = 2
        at = pos
        zid, pos = read_zid(buf, pos, end, (packed >> 4) + 1)
        row = 3
        at = pos
        eid, pos = read_z32(buf, pos, end)
        return ResponderId(zid, eid), pos
    except FIELD_ERRORS as error:
        raise wire_error("ResponderId", _RESPONDER_ID_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class UndeclaredKey(Structure):
    """The WireExpr extension 0x0F: the key of what is undeclared (spec-notes: WireExpr suffix)."""

    __slots__ = ('key',)
    NAME: ClassVar[str] = "UndeclaredKey"
    FIELDS: ClassVar[tuple[str, ...]] = ('key',)

    def __init__(self, key: WireExpr) -> None:
        self.key = key

    def copy(self) -> UndeclaredKey:
        """A copy with all fields, which may be changed before it is sent."""
        return UndeclaredKey(self.key)

    def encode(self, out: BytesWriter) -> None:
        key = self.key
        packed = 0
        if key.sender:
            packed |= 0x02
        if key.suffix:
            packed |= 0x01
        out.append(packed)
        scope = key.scope
        if scope >> 7 == 0:
            out.append(scope)
        else:
            write_z16(out, scope)
        if key.suffix:
            write_rest_text(out, key.suffix)


_UNDECLARED_KEY_ROWS: Final = ('header', 'packed', 'key_scope', 'key_suffix',)


def decode_undeclared_key(buf: bytes, pos: i64, end: i64) -> tuple[UndeclaredKey, i64]:
    row: i64 = 0
    at: i64 = pos
    scope: i64
    try:
        row = 1
        at = pos
        if pos >= end:
            raise IndexError
        packed: i64 = buf[pos]
        pos += 1
        row = 2
        at = pos
        scope, pos = read_small(buf, pos, end, Z16_MAX)
        suffix = ""
        if packed & 0x01:
            row = 3
            at = pos
            suffix, pos = read_rest_text(buf, pos, end)
        key = WireExpr(scope, suffix, packed & 0x02 != 0)
        return UndeclaredKey(key), pos
    except FIELD_ERRORS as error:
        raise wire_error("UndeclaredKey", _UNDECLARED_KEY_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class QueryBody(Structure):
    """The payload of a query (spec-notes: QueryBody payload)."""

    __slots__ = ('encoding', 'payload',)
    NAME: ClassVar[str] = "QueryBody"
    FIELDS: ClassVar[tuple[str, ...]] = ('encoding', 'payload',)

    def __init__(self, encoding: Encoding, payload: bytes) -> None:
        self.encoding = encoding
        self.payload = payload

    def copy(self) -> QueryBody:
        """A copy with all fields, which may be changed before it is sent."""
        return QueryBody(self.encoding, self.payload)

    def encode(self, out: BytesWriter) -> None:
        write_encoding(out, self.encoding)
        write_rest(out, self.payload)


_QUERY_BODY_ROWS: Final = ('header', 'encoding', 'payload',)


def decode_query_body(buf: bytes, pos: i64, end: i64) -> tuple[QueryBody, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        encoding, pos = read_encoding(buf, pos, end)
        row = 2
        at = pos
        payload, pos = read_rest(buf, pos, end)
        return QueryBody(encoding, payload), pos
    except FIELD_ERRORS as error:
        raise wire_error("QueryBody", _QUERY_BODY_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class StampRecord(Structure):
    """One stamp of a TimestampStack: where it was taken (flags), and the time as bytes."""

    __slots__ = ('flags', 'time',)
    NAME: ClassVar[str] = "StampRecord"
    FIELDS: ClassVar[tuple[str, ...]] = ('flags', 'time',)

    def __init__(self, flags: int, time: bytes) -> None:
        self.flags = flags
        self.time = time

    def copy(self) -> StampRecord:
        """A copy with all fields, which may be changed before it is sent."""
        return StampRecord(self.flags, self.time)

    def encode(self, out: BytesWriter) -> None:
        write_u8(out, self.flags)
        size = len(self.time)
        if size < 0x80:
            out.append(size)
        else:
            write_z32(out, size)
        out.write(self.time)


_STAMP_RECORD_ROWS: Final = ('header', 'flags', 'time',)


def decode_stamp_record(buf: bytes, pos: i64, end: i64) -> tuple[StampRecord, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        flags, pos = read_u8(buf, pos, end)
        row = 2
        at = pos
        time, pos = read_bytes_z32(buf, pos, end)
        return StampRecord(flags, time), pos
    except FIELD_ERRORS as error:
        raise wire_error("StampRecord", _STAMP_RECORD_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class TimestampStack(Structure):
    """Stamps that a message gathered on its way; bits 0 send, 1 route, 2 receive (wire reference §2.4)."""

    __slots__ = ('points', 'records',)
    NAME: ClassVar[str] = "TimestampStack"
    FIELDS: ClassVar[tuple[str, ...]] = ('points', 'records',)

    def __init__(self, points: int, records: tuple[StampRecord, ...]) -> None:
        self.points = points
        self.records = records

    def copy(self) -> TimestampStack:
        """A copy with all fields, which may be changed before it is sent."""
        return TimestampStack(self.points, self.records)

    def encode(self, out: BytesWriter) -> None:
        if self.points == 0:
            raise LocalError("TimestampStack: points cannot be 0")
        write_u8(out, self.points)
        write_count(out, len(self.records), 255, "records")
        for records_item in self.records:
            records_item.encode(out)


_TIMESTAMP_STACK_ROWS: Final = ('header', 'points', 'records',)


def decode_timestamp_stack(buf: bytes, pos: i64, end: i64) -> tuple[TimestampStack, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        points, pos = read_u8(buf, pos, end)
        if points == 0:
            raise Malformed("0 is not allowed here")
        row = 2
        at = pos
        count, pos = read_count(buf, pos, end, 255)
        records_list: list[StampRecord] = []
        while count > 0:
            count -= 1
            item_records, pos = decode_stamp_record(buf, pos, end)
            records_list.append(item_records)
        records = tuple(records_list)
        return TimestampStack(points, records), pos
    except FIELD_ERRORS as error:
        raise wire_error("TimestampStack", _TIMESTAMP_STACK_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class LaneSn(Structure):
    """The next sequence numbers of one priority."""

    __slots__ = ('reliable', 'best_effort',)
    NAME: ClassVar[str] = "LaneSn"
    FIELDS: ClassVar[tuple[str, ...]] = ('reliable', 'best_effort',)

    def __init__(self, reliable: int, best_effort: int) -> None:
        self.reliable = reliable
        self.best_effort = best_effort

    def copy(self) -> LaneSn:
        """A copy with all fields, which may be changed before it is sent."""
        return LaneSn(self.reliable, self.best_effort)

    def encode(self, out: BytesWriter) -> None:
        number = self.reliable
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)
        number = self.best_effort
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z32(out, number)


_LANE_SN_ROWS: Final = ('header', 'reliable', 'best_effort',)


def decode_lane_sn(buf: bytes, pos: i64, end: i64) -> tuple[LaneSn, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        reliable, pos = read_z32(buf, pos, end)
        row = 2
        at = pos
        best_effort, pos = read_z32(buf, pos, end)
        return LaneSn(reliable, best_effort), pos
    except FIELD_ERRORS as error:
        raise wire_error("LaneSn", _LANE_SN_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class JoinQoS(Structure):
    """JOIN's sequence numbers by priority, Control first."""

    __slots__ = ('lanes',)
    NAME: ClassVar[str] = "JoinQoS"
    FIELDS: ClassVar[tuple[str, ...]] = ('lanes',)

    def __init__(self, lanes: tuple[LaneSn, ...]) -> None:
        self.lanes = lanes

    def copy(self) -> JoinQoS:
        """A copy with all fields, which may be changed before it is sent."""
        return JoinQoS(self.lanes)

    def encode(self, out: BytesWriter) -> None:
        if len(self.lanes) != 8:
            raise LocalError(f"JoinQoS: {len(self.lanes)} lanes, {8} are wanted")
        for lanes_item in self.lanes:
            lanes_item.encode(out)


_JOIN_QOS_ROWS: Final = ('header', 'lanes',)


def decode_join_qos(buf: bytes, pos: i64, end: i64) -> tuple[JoinQoS, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        count = 8
        lanes_list: list[LaneSn] = []
        while count > 0:
            count -= 1
            item_lanes, pos = decode_lane_sn(buf, pos, end)
            lanes_list.append(item_lanes)
        lanes = tuple(lanes_list)
        return JoinQoS(lanes), pos
    except FIELD_ERRORS as error:
        raise wire_error("JoinQoS", _JOIN_QOS_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class LinkState(Structure):
    """The state of one node as another one knows it: its id, role, addresses and neighbours."""

    __slots__ = ('psid', 'sn', 'links', 'gateway', 'zid', 'whatami', 'locators', 'weights',)
    NAME: ClassVar[str] = "LinkState"
    FIELDS: ClassVar[tuple[str, ...]] = ('psid', 'sn', 'links', 'gateway', 'zid', 'whatami', 'locators', 'weights',)

    def __init__(self, psid: int, sn: int, links: tuple[int, ...], gateway: bool = False, zid: ZenohId | None = None, whatami: WhatAmI | None = None, locators: tuple[str, ...] | None = None, weights: tuple[int, ...] | None = None) -> None:
        self.psid = psid
        self.sn = sn
        self.links = links
        self.gateway = gateway
        self.zid = zid
        self.whatami = whatami
        self.locators = locators
        self.weights = weights

    def copy(self) -> LinkState:
        """A copy with all fields, which may be changed before it is sent."""
        return LinkState(self.psid, self.sn, self.links, self.gateway, self.zid, self.whatami, self.locators, self.weights)

    def encode(self, out: BytesWriter) -> None:
        zid = self.zid
        whatami = self.whatami
        locators = self.locators
        weights = self.weights
        options = 0
        if self.gateway:
            options |= 0x10
        if weights is not None:
            options |= 0x08
        if locators is not None:
            options |= 0x04
        if whatami is not None:
            options |= 0x02
        if zid is not None:
            options |= 0x01
        out.append(options)
        number = self.psid
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z64(out, number)
        number = self.sn
        if number >> 7 == 0:
            out.append(number)
        else:
            write_z64(out, number)
        if zid is not None:
            write_prefixed_zid(out, zid)
        if whatami is not None:
            write_u8(out, int(whatami))
        if locators is not None:
            write_count(out, len(locators), 64, "locators")
            for locators_item in locators:
                write_locator(out, locators_item)
        write_count(out, len(self.links), 4096, "links")
        for links_item in self.links:
            write_z64(out, links_item)
        if weights is not None:
            if len(weights) != len(self.links):
                raise LocalError(f"LinkState: {len(weights)} weights, {len(self.links)} are wanted")
            for weights_item in weights:
                write_z16(out, weights_item)


_LINK_STATE_ROWS: Final = ('header', 'options', 'gateway', 'psid', 'sn', 'zid', 'whatami', 'locators', 'links', 'weights',)


def decode_link_state(buf: bytes, pos: i64, end: i64) -> tuple[LinkState, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        word, pos = read_z64(buf, pos, end)
        options: i64 = word & 0xFF
        gateway = options & 0x10 != 0
        row = 3
        at = pos
        psid: int
        psid, pos = read_z64(buf, pos, end)
        row = 4
        at = pos
        sn: int
        sn, pos = read_z64(buf, pos, end)
        zid: ZenohId | None = None
        if options & 0x01:
            row = 5
            at = pos
            zid, pos = read_prefixed_zid(buf, pos, end)
        whatami: WhatAmI | None = None
        if options & 0x02:
            row = 6
            at = pos
            number, pos = read_u8(buf, pos, end)
            whatami = role_of_mask(number)
        locators: tuple[str, ...] | None = None
        if options & 0x04:
            row = 7
            at = pos
            count, pos = read_count(buf, pos, end, 64)
            locators_list: list[str] = []
            while count > 0:
                count -= 1
                item_locators, pos = read_locator(buf, pos, end)
                locators_list.append(item_locators)
            locators = tuple(locators_list)
        row = 8
        at = pos
        count, pos = read_count(buf, pos, end, 4096)
        links_list: list[int] = []
        while count > 0:
            count -= 1
            item_links, pos = read_z64(buf, pos, end)
            links_list.append(item_links)
        links = tuple(links_list)
        weights: tuple[int, ...] | None = None
        if options & 0x08:
            row = 9
            at = pos
            count = len(links)
            weights_list: list[int] = []
            while count > 0:
                count -= 1
                item_weights, pos = read_z16(buf, pos, end)
                weights_list.append(item_weights)
            weights = tuple(weights_list)
        return LinkState(psid, sn, links, gateway, zid, whatami, locators, weights), pos
    except FIELD_ERRORS as error:
        raise wire_error("LinkState", _LINK_STATE_ROWS[row], at, error) from None


@mypyc_attr(acyclic=True)
class LinkStateList(Structure):
    """The body of the link-state OAM (spec-notes: link state)."""

    __slots__ = ('link_states',)
    NAME: ClassVar[str] = "LinkStateList"
    FIELDS: ClassVar[tuple[str, ...]] = ('link_states',)

    def __init__(self, link_states: tuple[LinkState, ...]) -> None:
        self.link_states = link_states

    def copy(self) -> LinkStateList:
        """A copy with all fields, which may be changed before it is sent."""
        return LinkStateList(self.link_states)

    def encode(self, out: BytesWriter) -> None:
        write_count(out, len(self.link_states), 4096, "link_states")
        for link_states_item in self.link_states:
            link_states_item.encode(out)


_LINK_STATE_LIST_ROWS: Final = ('header', 'link_states',)


def decode_link_state_list(buf: bytes, pos: i64, end: i64) -> tuple[LinkStateList, i64]:
    row: i64 = 0
    at: i64 = pos
    try:
        row = 1
        at = pos
        count, pos = read_count(buf, pos, end, 4096)
        link_states_list: list[LinkState] = []
        while count > 0:
            count -= 1
            item_link_states, pos = decode_link_state(buf, pos, end)
            link_states_list.append(item_link_states)
        link_states = tuple(link_states_list)
        return LinkStateList(link_states), pos
    except FIELD_ERRORS as error:
        raise wire_error("LinkStateList", _LINK_STATE_LIST_ROWS[row], at, error) from None
