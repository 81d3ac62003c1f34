"""Network messages: publications, queries, declarations.

Seed pages: Message Reference, Network Messages; Query; Reply; Declarations. Extensions in
wire reference §2.2; the order of the rows is the order in which deployed nodes write them.
"""

# fmt: off
from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.wire.define import (
    MODE,
    QOS,
    TARGET,
    TIMESTAMP,
    Z16,
    Z32,
    Z64,
    NetworkMessage,
    bits,
    byte,
    chain,
    ext,
    oam_body,
    submessage,
    wire,
    wire_expr,
)

if TYPE_CHECKING:
    from zenlake.wire.definitions.data import Del, Err, Put, Query, Reply
    from zenlake.wire.definitions.declare import (
        DeclareFinal,
        DeclareKeyExpr,
        DeclareQueryable,
        DeclareSubscriber,
        DeclareToken,
        UndeclareKeyExpr,
        UndeclareQueryable,
        UndeclareSubscriber,
        UndeclareToken,
    )
    from zenlake.wire.definitions.structures import ResponderId, TimestampStack
    from zenlake.wire.message import Extension
    from zenlake.wire.values.choices import InterestMode, QueryTarget
    from zenlake.wire.values.qos import QoS
    from zenlake.wire.values.timestamp import Timestamp
    from zenlake.wire.values.wire_expr import WireExpr


class Interest(NetworkMessage, id=0x19, header="Z|Mod:2"):
    """A request for declarations: present ones (current), later ones (future), or both."""

    mode:        InterestMode          = bits("Mod", MODE)
    id:          int                   = wire(Z32)
    options                            = byte("A|M|N|R|T|Q|S|K", if_flag="Mod")
    keyexprs:    bool                  = bits("K", default=False)
    subscribers: bool                  = bits("S", default=False)
    queryables:  bool                  = bits("Q", default=False)
    tokens:      bool                  = bits("T", default=False)
    aggregate:   bool                  = bits("A", default=False)
    key:         WireExpr | None       = wire_expr(if_flag="R", suffix_if="N", sender_if="M")
    extensions:  tuple[Extension, ...] = chain("int_exts")
    qos:         QoS | None            = ext(0x1, QOS)
    timestamp:   Timestamp | None      = ext(0x2, TIMESTAMP)
    node_id:     int | None            = ext(0x3, Z16, mandatory=True)


class ResponseFinal(NetworkMessage, id=0x1A, header="Z|X|X", label="ResFinal"):
    """No more replies to this request."""

    request_id:  int                   = wire(Z32)
    extensions:  tuple[Extension, ...] = chain("rf_exts")
    qos:         QoS | None            = ext(0x1, QOS)
    timestamp:   Timestamp | None      = ext(0x2, TIMESTAMP)


class Response(NetworkMessage, id=0x1B, header="Z|M|N", label="Response"):
    """One reply to a request, or an error."""

    request_id:  int                   = wire(Z32)
    key:         WireExpr              = wire_expr(suffix_if="N", sender_if="M")
    extensions:  tuple[Extension, ...] = chain("reply_exts")
    qos:         QoS | None            = ext(0x1, QOS)
    timestamp:   Timestamp | None      = ext(0x2, TIMESTAMP)
    responder:   ResponderId | None    = ext(0x3, "ResponderId")
    stamps:      TimestampStack | None = ext(0x7, "TimestampStack")
    body:        Reply | Err           = submessage("ResponseBody")


class Request(NetworkMessage, id=0x1C, header="Z|M|N"):
    """A query to all queryables whose key intersects."""

    request_id:  int                   = wire(Z32)
    key:         WireExpr              = wire_expr(suffix_if="N", sender_if="M")
    extensions:  tuple[Extension, ...] = chain("req_exts")
    qos:         QoS | None            = ext(0x1, QOS)
    timestamp:   Timestamp | None      = ext(0x2, TIMESTAMP)
    target:      QueryTarget | None    = ext(0x4, TARGET, mandatory=True)
    budget:      int | None            = ext(0x5, Z32, nonzero=True)
    timeout_ms:  int | None            = ext(0x6, Z64)
    node_id:     int | None            = ext(0x3, Z16, mandatory=True)
    stamps:      TimestampStack | None = ext(0x7, "TimestampStack")
    body:        Query                 = submessage("RequestBody")


class Push(NetworkMessage, id=0x1D, header="Z|M|N"):
    """Publish a value, or a deletion, to a key expression."""

    key:         WireExpr              = wire_expr(suffix_if="N", sender_if="M")
    extensions:  tuple[Extension, ...] = chain("push_exts")
    qos:         QoS | None            = ext(0x1, QOS)
    timestamp:   Timestamp | None      = ext(0x2, TIMESTAMP)
    node_id:     int | None            = ext(0x3, Z16, mandatory=True)
    stamps:      TimestampStack | None = ext(0x7, "TimestampStack")
    body:        Put | Del             = submessage("PushBody")


class Declare(NetworkMessage, id=0x1E, header="Z|X|I"):
    """Declare or undeclare one thing; with I, as the answer to an interest."""

    interest_id: int | None            = wire(Z32, if_flag="I")
    extensions:  tuple[Extension, ...] = chain("decl_exts")
    qos:         QoS | None            = ext(0x1, QOS)
    timestamp:   Timestamp | None      = ext(0x2, TIMESTAMP)
    node_id:     int | None            = ext(0x3, Z16, mandatory=True)
    body: DeclareKeyExpr | UndeclareKeyExpr | DeclareSubscriber | UndeclareSubscriber | DeclareQueryable | UndeclareQueryable | DeclareToken | UndeclareToken | DeclareFinal = submessage("declaration")


class Oam(NetworkMessage, id=0x1F, header="Z|ENC:2", label="OAM"):
    """Management of the network; id 1 carries link state."""

    id:          int                   = wire(Z16)
    extensions:  tuple[Extension, ...] = chain("oam_exts")
    qos:         QoS | None            = ext(0x1, QOS)
    timestamp:   Timestamp | None      = ext(0x2, TIMESTAMP)
    body:        int | bytes | None    = oam_body("body")
