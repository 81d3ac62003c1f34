"""Every message of the protocol, and its encoding.

    >>> from zenlake.wire import Push, Put, WireExpr, decode, encode
    >>> encode(Push(WireExpr(0, "demo/a"), Put(b"hello"))).hex(" ")
    '7d 00 06 64 65 6d 6f 2f 61 01 05 68 65 6c 6c 6f'

This package handles bytes and messages only: no sockets, clocks, sessions or routes.
"""

from __future__ import annotations

from zenlake.wire._generated.data import Del, Err, Put, Query, Reply
from zenlake.wire._generated.declare import (
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
from zenlake.wire._generated.network import (
    Declare,
    Interest,
    Oam,
    Push,
    Request,
    Response,
    ResponseFinal,
    decode_network,
    decode_push,
)
from zenlake.wire._generated.scouting import Hello, Scout, decode_scouting
from zenlake.wire._generated.structures import (
    JoinQoS,
    LaneSn,
    LinkState,
    LinkStateList,
    QueryBody,
    ResponderId,
    SourceInfo,
    StampRecord,
    TimestampStack,
    UndeclaredKey,
    decode_join_qos,
    decode_link_state,
    decode_timestamp_stack,
)
from zenlake.wire._generated.transport import (
    Close,
    Fragment,
    Frame,
    Init,
    Join,
    KeepAlive,
    Open,
    TransportOam,
    decode_transport,
)
from zenlake.wire.batch import (
    Batch,
    LowLatencyUnit,
    decode_batch,
    decode_low_latency,
    encode_messages,
)
from zenlake.wire.codec import Dialect, Layer, decode, decode_link_states, encode
from zenlake.wire.kinds import kind_of
from zenlake.wire.message import (
    DataMessage,
    Declaration,
    Extension,
    Message,
    NetworkMessage,
    ScoutingMessage,
    Structure,
    TransportMessage,
)
from zenlake.wire.values.choices import (
    Bound,
    CloseReason,
    ConsolidationMode,
    InterestMode,
    QueryTarget,
)
from zenlake.wire.values.encoding import Encoding
from zenlake.wire.values.endpoint import EndPoint
from zenlake.wire.values.qos import CongestionControl, Priority, QoS
from zenlake.wire.values.qos_link import QoSLink
from zenlake.wire.values.queryable_info import QueryableInfo
from zenlake.wire.values.resolution import Resolution
from zenlake.wire.values.timestamp import Timestamp
from zenlake.wire.values.whatami import WhatAmI, WhatAmIMatcher
from zenlake.wire.values.wire_expr import WireExpr
from zenlake.wire.values.zenoh_id import ZenohId

__all__ = [
    "Batch",
    "Bound",
    "Close",
    "CloseReason",
    "CongestionControl",
    "ConsolidationMode",
    "DataMessage",
    "Declaration",
    "Declare",
    "DeclareFinal",
    "DeclareKeyExpr",
    "DeclareQueryable",
    "DeclareSubscriber",
    "DeclareToken",
    "Del",
    "Dialect",
    "Encoding",
    "EndPoint",
    "Err",
    "Extension",
    "Fragment",
    "Frame",
    "Hello",
    "Init",
    "Interest",
    "InterestMode",
    "Join",
    "JoinQoS",
    "KeepAlive",
    "LaneSn",
    "Layer",
    "LinkState",
    "LinkStateList",
    "LowLatencyUnit",
    "Message",
    "NetworkMessage",
    "Oam",
    "Open",
    "Priority",
    "Push",
    "Put",
    "QoS",
    "QoSLink",
    "Query",
    "QueryBody",
    "QueryTarget",
    "QueryableInfo",
    "Reply",
    "Request",
    "Resolution",
    "ResponderId",
    "Response",
    "ResponseFinal",
    "Scout",
    "ScoutingMessage",
    "SourceInfo",
    "StampRecord",
    "Structure",
    "Timestamp",
    "TimestampStack",
    "TransportMessage",
    "TransportOam",
    "UndeclareKeyExpr",
    "UndeclareQueryable",
    "UndeclareSubscriber",
    "UndeclareToken",
    "UndeclaredKey",
    "WhatAmI",
    "WhatAmIMatcher",
    "WireExpr",
    "ZenohId",
    "decode",
    "decode_batch",
    "decode_join_qos",
    "decode_link_state",
    "decode_link_states",
    "decode_low_latency",
    "decode_network",
    "decode_push",
    "decode_scouting",
    "decode_timestamp_stack",
    "decode_transport",
    "encode",
    "encode_messages",
    "kind_of",
]
