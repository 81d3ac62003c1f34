"""Transport messages: opening, keeping and closing sessions, and frames of network messages.

Seed page: Message Reference, Transport Messages; extensions in wire reference §2.2.
"""

# fmt: off
from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.wire.defaults import PROTOCOL_VERSION
from zenlake.wire.define import (
    BOUND,
    BYTES_Z16,
    CHAIN,
    PRIORITY,
    QOS_LINK,
    RESOLUTION,
    REST,
    REST_TEXT,
    ROLE_CODE,
    U8,
    U16,
    UNIT,
    Z8,
    Z16,
    Z32,
    Z64,
    TransportMessage,
    bits,
    byte,
    chain,
    ext,
    network_messages,
    oam_body,
    wire,
    zid,
)

if TYPE_CHECKING:
    from zenlake.wire.definitions.structures import JoinQoS
    from zenlake.wire.message import Extension, NetworkMessage
    from zenlake.wire.values.choices import Bound
    from zenlake.wire.values.qos import Priority
    from zenlake.wire.values.qos_link import QoSLink
    from zenlake.wire.values.resolution import Resolution
    from zenlake.wire.values.whatami import WhatAmI
    from zenlake.wire.values.zenoh_id import ZenohId


class TransportOam(TransportMessage, id=0x00, header="Z|ENC:2", label="OAM"):
    """Management of the link; deployed nodes do not send it."""

    id:          int                   = wire(Z16)
    extensions:  tuple[Extension, ...] = chain("oam_exts")
    qos:         Priority | None       = ext(0x1, PRIORITY, mandatory=True)
    body:        int | bytes | None    = oam_body("body")


class Init(TransportMessage, id=0x01, header="Z|S|A"):
    """The offer (InitSyn) and the answer (InitAck, with a cookie) of a session's terms."""

    version:     int                   = wire(U8, default=PROTOCOL_VERSION)
    packed                             = byte("zid_len:4|X|X|WAI:2")
    whatami:     WhatAmI               = bits("WAI", ROLE_CODE)
    zid:         ZenohId               = zid()
    resolution:  Resolution | None     = wire(RESOLUTION, if_flag="S", cell="X|X|X|X|RID|FSN")
    batch_size:  int | None            = wire(U16, if_flag="S", cell="batch")
    cookie:      bytes | None          = wire(BYTES_Z16, if_flag="A", cell="<u8;z16>")
    extensions:  tuple[Extension, ...] = chain("InitExts")
    qos:         bool                  = ext(0x1, UNIT)
    qos_link:    QoSLink | None        = ext(0x1, QOS_LINK)
    shm:         bytes | None          = ext(0x2, REST)
    auth:        tuple[Extension, ...] | None = ext(0x3, CHAIN)
    multilink:   bytes | None          = ext(0x4, REST)
    lowlatency:  bool                  = ext(0x5, UNIT)
    compression: bool                  = ext(0x6, UNIT)
    patch:       int | None            = ext(0x7, Z8)
    region:      str | None            = ext(0x8, REST_TEXT, length=(1, 32))


class Open(TransportMessage, id=0x02, header="Z|T|A"):
    """The cookie is returned (OpenSyn), and the session is open (OpenAck)."""

    seconds:     bool                  = bits("T", default=False)
    lease:       int                   = wire(Z64, cell="lease")
    initial_sn:  int                   = wire(Z32, cell="initial_sn")
    cookie:      bytes | None          = wire(BYTES_Z16, unless_flag="A", cell="<u8;z16>")
    extensions:  tuple[Extension, ...] = chain("OpenExts")
    qos:         bool                  = ext(0x1, UNIT)
    shm:         int | None            = ext(0x2, Z64)
    shm_bytes:   bytes | None          = ext(0x2, REST)
    auth:        tuple[Extension, ...] | None = ext(0x3, CHAIN)
    multilink_ack: bool                = ext(0x4, UNIT)
    multilink:   bytes | None          = ext(0x4, REST)
    lowlatency:  bool                  = ext(0x5, UNIT)
    compression: bool                  = ext(0x6, UNIT)
    remote_bound: Bound | None         = ext(0x7, BOUND)


class Close(TransportMessage, id=0x03, header="Z|X|S"):
    """The end of this link, or of the session (S)."""

    session:     bool                  = bits("S", default=False)
    reason:      int                   = wire(U8, cell="reason")
    extensions:  tuple[Extension, ...] = chain("CloseExts")


class KeepAlive(TransportMessage, id=0x04, header="Z|X|X", label="KALIVE"):
    """Sent on an otherwise silent link, so that the lease does not expire."""

    extensions:  tuple[Extension, ...] = chain("KAliveExts")


class Frame(TransportMessage, id=0x05, header="Z|X|R"):
    """Whole network messages of one channel, under one sequence number."""

    reliable:    bool                  = bits("R", default=True)
    sn:          int                   = wire(Z32, cell="seq_num")
    extensions:  tuple[Extension, ...] = chain("FrameExts")
    qos:         Priority | None       = ext(0x1, PRIORITY, mandatory=True)
    messages:    list[NetworkMessage]  = network_messages("[NetworkMsg]")


class Fragment(TransportMessage, id=0x06, header="Z|M|R"):
    """A piece of one network message; M is set if more follow."""

    reliable:    bool                  = bits("R", default=True)
    more:        bool                  = bits("M", default=False)
    sn:          int                   = wire(Z32, cell="seq_num")
    extensions:  tuple[Extension, ...] = chain("FragExts")
    qos:         Priority | None       = ext(0x1, PRIORITY, mandatory=True)
    first:       bool                  = ext(0x2, UNIT)
    drop:        bool                  = ext(0x3, UNIT)
    payload:     bytes                 = wire(REST, cell="[fragment]")


class Join(TransportMessage, id=0x07, header="Z|S|T"):
    """A node's terms on a multicast group, sent periodically."""

    seconds:     bool                  = bits("T", default=False)
    version:     int                   = wire(U8, default=PROTOCOL_VERSION)
    packed                             = byte("zid_len:4|X|X|WAI:2")
    whatami:     WhatAmI               = bits("WAI", ROLE_CODE)
    zid:         ZenohId               = zid()
    resolution:  Resolution | None     = wire(RESOLUTION, if_flag="S", cell="X|X|X|X|RID|FSN")
    batch_size:  int | None            = wire(U16, if_flag="S", cell="batch")
    lease:       int                   = wire(Z64, cell="lease")
    next_sn_re:  int                   = wire(Z32, cell="next_sn_re")
    next_sn_be:  int                   = wire(Z32, cell="next_sn_be")
    extensions:  tuple[Extension, ...] = chain("JoinExts")
    qos:         JoinQoS | None        = ext(0x1, "JoinQoS", mandatory=True)
    shm:         bytes | None          = ext(0x2, REST, mandatory=True)
    patch:       int | None            = ext(0x7, Z8)
