"""Structures: parts of messages and extensions that have a layout of their own."""

# fmt: off
from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.limits import (
    LINK_STATES_PER_LIST_MAX,
    LINKS_PER_LINK_STATE_MAX,
    LOCATORS_PER_HELLO_MAX,
    TIMESTAMPS_PER_STACK_MAX,
)
from zenlake.wire.define import (
    BYTES_Z32,
    ENCODING,
    LOCATOR,
    REST,
    REST_TEXT,
    ROLE_MASK,
    TEXT_Z16,
    U8,
    Z16,
    Z32,
    Z64,
    ZID_PREFIXED,
    Structure,
    bits,
    byte,
    many,
    wire,
    wire_expr,
    zid,
)

if TYPE_CHECKING:
    from zenlake.wire.values.encoding import Encoding
    from zenlake.wire.values.whatami import WhatAmI
    from zenlake.wire.values.wire_expr import WireExpr
    from zenlake.wire.values.zenoh_id import ZenohId


class SourceInfo(Structure):
    """The entity that published a value, and the sequence number it assigned."""

    packed             = byte("zid_len:4|X|X|X|X")
    zid:       ZenohId = zid()
    eid:       int     = wire(Z32)
    sn:        int     = wire(Z32)


class ResponderId(Structure):
    """The entity that sent a reply."""

    packed             = byte("zid_len:4|X|X|X|X")
    zid:       ZenohId = zid()
    eid:       int     = wire(Z32)


class UndeclaredKey(Structure):
    """The WireExpr extension 0x0F: the key of what is undeclared (spec-notes: WireExpr suffix)."""

    packed              = byte("X|X|X|X|X|X|M|N")
    key:       WireExpr = wire_expr(suffix_if="N", sender_if="M", suffix=REST_TEXT, pages=TEXT_Z16)


class QueryBody(Structure):
    """The payload of a query (spec-notes: QueryBody payload)."""

    encoding:    Encoding = wire(ENCODING, cell="encoding")
    payload:     bytes    = wire(REST, cell="payload", pages=BYTES_Z32)


class StampRecord(Structure):
    """One stamp of a TimestampStack: where it was taken (flags), and the time as bytes."""

    flags:     int   = wire(U8)
    time:      bytes = wire(BYTES_Z32)


class TimestampStack(Structure):
    """Stamps that a message gathered on its way; bits 0 send, 1 route, 2 receive (wire reference §2.4)."""

    points:    int                     = wire(U8, nonzero=True)
    records:   tuple[StampRecord, ...] = many("StampRecord", limit=TIMESTAMPS_PER_STACK_MAX)


class LaneSn(Structure):
    """The next sequence numbers of one priority."""

    reliable:    int = wire(Z32)
    best_effort: int = wire(Z32)


class JoinQoS(Structure):
    """JOIN's sequence numbers by priority, Control first."""

    lanes:     tuple[LaneSn, ...] = many("LaneSn", count=8, limit=8)


class LinkState(Structure):
    """The state of one node as another one knows it: its id, role, addresses and neighbours."""

    options                              = byte("X|X|X|G|H|L|W|P", vle=True)
    gateway:   bool                      = bits("G", default=False)
    psid:      int                       = wire(Z64, cell="psid")
    sn:        int                       = wire(Z64, cell="sn")
    zid:       ZenohId | None            = wire(ZID_PREFIXED, if_flag="P", cell="zid")
    whatami:   WhatAmI | None            = wire(ROLE_MASK, if_flag="W", cell="whatami")
    locators:  tuple[str, ...] | None    = many(LOCATOR, limit=LOCATORS_PER_HELLO_MAX, if_flag="L", cell="loc")
    links:     tuple[int, ...]           = many(Z64, limit=LINKS_PER_LINK_STATE_MAX, cell="link")
    weights:   tuple[int, ...] | None    = many(Z16, count="links", limit=LINKS_PER_LINK_STATE_MAX, if_flag="H")


class LinkStateList(Structure):
    """The body of the link-state OAM (spec-notes: link state)."""

    link_states: tuple[LinkState, ...] = many("LinkState", limit=LINK_STATES_PER_LIST_MAX, cell="state", pages_header=0x10)
