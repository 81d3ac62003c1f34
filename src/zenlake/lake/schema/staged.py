"""Staged tables: rows of single messages, from which tables are derived.

Published tables that readers write themselves (messages, samples, ...) need no staged one.
"""

from __future__ import annotations

from typing import Final

from zenlake.lake.schema.columns import CAPTURE
from zenlake.lake.schema.table import BIGINT, BINARY, BOOLEAN, DOUBLE, STRING, Column, Table

_PLACE: Final = (
    CAPTURE,
    Column("session", STRING, "id of the session"),
    Column("link", STRING, "one connection"),
    Column("packet", BIGINT, "number of the packet"),
    Column("time_ns", BIGINT, "time of the packet"),
    Column("seq", BIGINT, "order in the capture"),
)

_ALL: Final = (
    Table(
        "exchange_events",
        "one REQUEST, RESPONSE or RESPONSE_FINAL that a receiver accepts",
        (
            *_PLACE,
            Column("side", BIGINT, "requester's side of the session: 0 opened it; 0 in a group"),
            Column("kind", STRING, "REQUEST, PUT, DEL, ERR, FINAL"),
            Column("requester_zid", STRING, "node that sent the REQUEST"),
            Column("responder_zid", STRING, "node that received the REQUEST"),
            Column("request_id", BIGINT, "number, of this side and session"),
            Column("key", STRING, "whole key expression"),
            Column("parameters", STRING, "of a REQUEST"),
            Column("target", STRING, "of a REQUEST, effective"),
            Column("consolidation", STRING, "of a REQUEST, effective"),
            Column("timeout_ms", DOUBLE, "of a REQUEST"),
            Column("budget", BIGINT, "of a REQUEST"),
            Column("payload", BINARY, "of a REQUEST, PUT or ERR"),
            Column("encoding", STRING, "of the payload"),
            Column("attachment", BINARY, "of a REQUEST, PUT or DEL"),
            Column("source", STRING, "of a REQUEST: zid/eid/sn of its source information"),
            Column("replier_zid", STRING, "of a reply"),
            Column("replier_eid", BIGINT, "of a reply"),
            Column("timestamp", STRING, "of a PUT or DEL, <ntp64>/<id>"),
            Column("timestamp_order", STRING, "the same as text that sorts as timestamps do"),
            Column("priority", BIGINT, "effective"),
            Column("congestion", STRING, "effective"),
            Column("express", BOOLEAN, "effective"),
        ),
    ),
    Table(
        "declare_events",
        "one declaration or undeclaration that a receiver accepts",
        (
            *_PLACE,
            Column("sender_zid", STRING, "node that declared"),
            Column("receiver_zid", STRING, "node that received it"),
            Column("owner", STRING, "side of the session that sent it; the link in a group"),
            Column("is_end", BOOLEAN, "whether it undeclares"),
            Column("is_answer", BOOLEAN, "answers an interest of mode current, and has no end"),
            Column("entity", STRING, "keyexpr, subscriber, queryable, token"),
            Column("entity_id", BIGINT, "its number"),
            Column("key", STRING, "whole key expression"),
            Column("identity", STRING, "its number, or `key_identity` if it has none"),
            Column("key_identity", STRING, "router and key, which identify it without a number"),
            Column("complete", BOOLEAN, "of a queryable"),
            Column("distance", BIGINT, "of a queryable"),
            Column("interest_id", BIGINT, "that it answers"),
            Column("node_id", BIGINT, "router it comes from"),
        ),
    ),
    Table(
        "interest_events",
        "one INTEREST, or the D_FINAL that answers it",
        (
            *_PLACE,
            Column("side", BIGINT, "side of the session that sent the INTEREST; 0 in a group"),
            Column("event", STRING, "open, final (D_FINAL), close (INTEREST of mode FINAL)"),
            Column("sender_zid", STRING, "node that sent the INTEREST"),
            Column("receiver_zid", STRING, "node that received the INTEREST"),
            Column("interest_id", BIGINT, "number, of this side and session"),
            Column("mode", STRING, "of an INTEREST that opens"),
            Column("options", STRING, "of an INTEREST that opens"),
            Column("key", STRING, "of an INTEREST that opens"),
        ),
    ),
    Table(
        "edge_events",
        "one entry of a link state: a node, and one of its links or none",
        (
            *_PLACE,
            Column("told_by_zid", STRING, "node that sent the link state"),
            Column("zid", STRING, "node it is about"),
            Column("sn", BIGINT, "number of the state of that node"),
            Column("has_links", BOOLEAN, "whether it has links; gossip may leave them out"),
            Column("neighbour_zid", STRING, "node at the other end; null if it has no links"),
            Column("weight", BIGINT, "of the link; null where none was sent"),
        ),
    ),
    Table(
        "node_events",
        "one fact about a node",
        (
            CAPTURE,
            Column("zid", STRING, "its id"),
            Column("role", STRING, "null where not known"),
            Column("locators", STRING, "separated by spaces; null where not known"),
            Column("first_ns", BIGINT, "first time"),
            Column("last_ns", BIGINT, "last time"),
            Column("address", STRING, "of its connection; null if another node announced it"),
        ),
    ),
)

STAGED: Final[dict[str, Table]] = {table.name: table for table in _ALL}
