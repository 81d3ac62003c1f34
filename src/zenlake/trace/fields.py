"""Fields: the attributes of messages that filters and JSON output use, with type and meaning.

The values come from `message_attributes`. A tuple has several values of one field, such as `zid`:
the sender's and the receiver's.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from zenlake.errors import LocalError
from zenlake.trace import message_attributes as attributes
from zenlake.trace.events import MessageSeen
from zenlake.wire import Fragment, Init, Join, Open, Request
from zenlake.wire.values.choices import (
    ConsolidationMode,
    InterestMode,
    QueryTarget,
)
from zenlake.wire.values.qos import CongestionControl
from zenlake.wire.values.whatami import WhatAmI

KINDS: Final = (
    *("SCOUT", "HELLO"),
    *("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "CLOSE", "KEEP_ALIVE"),
    *("FRAME", "FRAGMENT", "JOIN", "TRANSPORT_OAM"),
    *("PUSH/PUT", "PUSH/DEL", "REQUEST"),
    *("RESPONSE/REPLY/PUT", "RESPONSE/REPLY/DEL", "RESPONSE/ERR", "RESPONSE_FINAL"),
    *("INTEREST", "OAM/LINKSTATE", "OAM"),
    *("DECLARE/D_KEYEXPR", "DECLARE/U_KEYEXPR", "DECLARE/D_SUBSCRIBER", "DECLARE/U_SUBSCRIBER"),
    *("DECLARE/D_QUERYABLE", "DECLARE/U_QUERYABLE", "DECLARE/D_TOKEN", "DECLARE/U_TOKEN"),
    "DECLARE/D_FINAL",
)


class Field(NamedTuple):
    """One field: `value_of` reads its value, `type` decides what it may be compared with."""

    name: str
    type: str
    """`number`, `time`, `text`, `word` (one of `choices`), `kind`, `key`, `zid`, `bytes`, `flag`,
    `any`."""
    meaning: str
    value_of: Callable[[MessageSeen], Any]
    choices: tuple[str, ...] = ()
    compared: Callable[[MessageSeen], Any] | None = None
    """Reads the value for comparisons, if it differs from the value shown."""


_ROLES: Final = tuple(str(role) for role in WhatAmI)
_RELIABILITIES: Final = ("reliable", "best_effort")
_PROTOCOLS: Final = ("tcp", "ws", "udp", "multicast", "scouting")

_TABLE: Final = (
    Field("packet", "number", "number of the packet that completed it", lambda e: e.packet),
    Field("seq", "number", "place among all messages, from 1", lambda e: e.seq),
    Field("time_ns", "number", "nanoseconds since 1970", lambda e: e.time_ns),
    Field(
        "time",
        "time",
        "`1.5` or `200ms` since the first packet, UTC `22:01:42`, `2026-11-14T22:01:42.309Z`",
        lambda e: attributes.time_text(e.time_ns),
        compared=lambda e: e.time_ns,
    ),
    Field("kind", "kind", "such as `PUSH/PUT`", lambda e: e.kind),
    Field("link", "text", "the connection, `A:p-B:q#n`", lambda e: e.link.name),
    Field("session", "text", "id of the session", lambda e: e.session and e.session.id),
    Field("protocol", "word", "transport of the link", lambda e: e.link.protocol, _PROTOCOLS),
    Field("sender", "text", "address it came from", lambda e: e.sender),
    Field("receiver", "text", "address it went to", lambda e: e.receiver),
    Field(
        "port",
        "number",
        "of sender or receiver",
        lambda e: attributes.both(*map(attributes.port, e.link.ends)),
    ),
    Field("sender_zid", "zid", "node that sent it", lambda e: e.sender_zid),
    Field("receiver_zid", "zid", "node it went to", lambda e: e.receiver_zid),
    Field(
        "zid", "zid", "either of the two", lambda e: attributes.both(e.sender_zid, e.receiver_zid)
    ),
    Field("sender_role", "word", "of the sender", lambda e: attributes.role(e.sender_node), _ROLES),
    Field(
        "receiver_role",
        "word",
        "of the receiver",
        lambda e: attributes.role(e.receiver_node),
        _ROLES,
    ),
    Field("reliability", "word", "of the channel", attributes.reliability, _RELIABILITIES),
    Field("priority", "number", "0 (control) to 7 (background)", attributes.priority),
    Field(
        "congestion",
        "word",
        "if queues are full",
        attributes.congestion,
        tuple(map(str, CongestionControl)),
    ),
    Field("express", "flag", "sent at once, without batching", attributes.express),
    Field("sn", "number", "sequence number of its FRAME or FRAGMENT", lambda e: e.sn),
    Field("size", "number", "bytes; for a FRAME, including its messages", attributes.size),
    Field("messages", "number", "number of messages in a FRAME", attributes.messages),
    Field("fragments", "number", "number of FRAGMENTs it came in", lambda e: e.fragments or None),
    Field("ignored", "text", "why a receiver would drop it", lambda e: e.ignored),
    Field("key", "key", "whole key expression", lambda e: e.key),
    Field("wire_key", "text", "as sent, `[sender 12]/suffix`", attributes.wire_key),
    Field("unknown_alias", "flag", "declared before the capture began", attributes.unknown_alias),
    Field("payload", "bytes", "of a put, reply, error or query", attributes.payload_of),
    Field("payload_size", "number", "its bytes", attributes.payload_size),
    Field("encoding", "text", "such as `text/plain`", attributes.encoding_of),
    Field("timestamp", "text", "`<ntp64>/<id>`", attributes.timestamp),
    Field("attachment", "bytes", "of a put, del or query", attributes.data("attachment")),
    Field("source_zid", "zid", "node of origin", attributes.source("zid")),
    Field("source_eid", "number", "entity of origin", attributes.source("eid")),
    Field("source_sn", "number", "sequence number of that entity", attributes.source("sn")),
    Field("request_id", "number", "of a request and its responses", lambda e: e.request_id),
    Field("parameters", "text", "of a query", attributes.data("parameters")),
    Field("target", "word", "of a query", attributes.target, tuple(map(str, QueryTarget))),
    Field(
        "consolidation",
        "word",
        "of a query or a reply",
        attributes.consolidation,
        tuple(map(str, ConsolidationMode)),
    ),
    Field("timeout_ms", "number", "of a query", attributes.message("timeout_ms", Request)),
    Field("budget", "number", "of a query", attributes.message("budget", Request)),
    Field("replier_zid", "zid", "node that replied", attributes.replier("zid")),
    Field("replier_eid", "number", "entity that replied", attributes.replier("eid")),
    Field("interest_id", "number", "of an interest and its answers", lambda e: e.interest_id),
    Field("mode", "word", "of an interest", attributes.mode, tuple(map(str, InterestMode))),
    Field("options", "text", "of an interest, letters of `KSQTRA`", attributes.options),
    Field(
        "entity_id", "number", "of the entity that is declared or undeclared", lambda e: e.entity_id
    ),
    Field(
        "complete", "flag", "a queryable for its whole key", attributes.queryable("complete", False)
    ),
    Field("distance", "number", "of a queryable", attributes.queryable("distance", 0)),
    Field("node_id", "number", "of a router that forwarded it", attributes.node_id),
    Field("lease_ms", "number", "of OPEN and JOIN", attributes.lease_ms),
    Field("initial_sn", "number", "of OPEN", attributes.message("initial_sn", Open)),
    Field("batch_size", "number", "of INIT and JOIN", attributes.message("batch_size", Init, Join)),
    Field(
        "version", "number", "of SCOUT, HELLO, INIT, JOIN", lambda e: attributes.version(e.message)
    ),
    Field("reason", "text", "of CLOSE", attributes.reason),
    Field("more", "flag", "of FRAGMENT: others follow", attributes.message("more", Fragment)),
    Field("locators", "text", "of HELLO", lambda e: getattr(e.message, "locators", None)),
)


FIELDS: Final[dict[str, Field]] = {field.name: field for field in _TABLE}

# As in dissectors: `zenoh.` may precede any field, `zenoh.push.` also requires the kind.
_SYNONYMS: Final = {
    "keyexpr": "key",
    "srczid": "sender_zid",
    "dstzid": "receiver_zid",
    "src": "sender",
    "dst": "receiver",
    "rid": "request_id",
    "prio": "priority",
}
# Fields of Wireshark, with the replacement that an error message suggests.
_ELSEWHERE: Final = {
    "ip.src": "`sender startswith 10.0.0.1`",
    "ip.dst": "`receiver startswith 10.0.0.1`",
    "ip.addr": "`sender startswith 10.0.0.1 or receiver startswith 10.0.0.1`",
    "ipv6.src": "`sender startswith '[fe80::1]'`",
    "ipv6.dst": "`receiver startswith '[fe80::1]'`",
    "ipv6.addr": "`sender contains fe80::1 or receiver contains fe80::1`",
    "frame.number": "`packet`",
    "frame.time": "`time`",
    "frame.time_relative": "`time`",
    "frame.time_epoch": "`time_ns`",
    "frame.len": "`size`, the size of the message",
    **dict.fromkeys(("tcp.port", "udp.port"), "`port`"),
    **dict.fromkeys(("tcp.srcport", "udp.srcport"), "`sender endswith :7447`"),
    **dict.fromkeys(("tcp.dstport", "udp.dstport"), "`receiver endswith :7447`"),
    **dict.fromkeys(("tcp.stream", "udp.stream"), "`link`"),
    "tcp.len": "`size`, the size of the message",
    **dict.fromkeys(("tcp", "udp"), "`protocol == tcp` or `protocol == udp`"),
    "zenoh": "no filter, all messages are Zenoh",
}
_FAMILIES: Final = {kind.partition("/")[0].lower(): kind.partition("/")[0] for kind in KINDS}


def field_named(name: str) -> Field:
    """A field of the table, one in a dissector's spelling, or a path such as `message.body`."""
    found = FIELDS.get(name)
    if found is not None:
        return found
    if name.startswith("message."):
        return Field(name, "any", "as on the wire", _by_path(name))
    if name.startswith("zenoh."):
        return _dissector_field(name)
    known = _ELSEWHERE.get(name.lower())
    if known is not None:
        raise LocalError(f"there is no field {name!r}: use {known}")
    raise LocalError(f"there is no field {name!r}{_did_you_mean(name, [*FIELDS])}")


def _by_path(name: str) -> Callable[[MessageSeen], Any]:
    steps = name.split(".")[1:]
    if not all(step.isidentifier() and not step.startswith("_") for step in steps):
        raise LocalError(f"{name!r} is not a path of attributes: expected message.body.payload")

    def read(event: MessageSeen) -> Any:
        value: Any = event.message
        for step in steps:
            value = getattr(value, step, None)
        return None if callable(value) else value

    return read


def _dissector_field(name: str) -> Field:
    parts = name.split(".")[1:]
    family = _FAMILIES.get(parts[0]) if len(parts) == 2 else None
    last = _SYNONYMS.get(parts[-1], parts[-1])
    field = FIELDS.get(last)
    if field is None or (family is None and len(parts) > 1):
        known = [f"zenoh.{known}" for known in (*FIELDS, *_SYNONYMS)]
        raise LocalError(f"there is no field {name!r}{_did_you_mean(name, known)}")
    if family is None:
        return field
    read = field.value_of
    return field._replace(
        name=name, value_of=lambda e: read(e) if is_of_kind(e.kind, family) else None
    )


def is_of_kind(kind: str, asked: str) -> bool:
    """Whether it is this kind or one below it, as PUSH/PUT is below PUSH."""
    return kind.startswith(asked) and (len(kind) == len(asked) or kind[len(asked)] == "/")


def _did_you_mean(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f": did you mean {close[0]}?" if close else ": see docs/decode.md for all of them"
