"""The tables that users read. docs/reference/tables.md is generated from these declarations."""

from __future__ import annotations

from typing import Final

from zenlake.lake.schema.table import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    Column,
    Table,
    choice,
    with_timestamps,
)
from zenlake.semantics.causes import OWN_QUERYABLE, QUERY_CAUSES, SESSION_CAUSES
from zenlake.semantics.verdicts import VERDICTS

_DURATIONS: Final = ("deadline_ns", "lifespan_ns", "lease_ns")
"""Nanoseconds that are durations, not times."""

READ_COUNTS: Final = ("messages", "sessions", "samples")
"""Tables for which `captures` has a column with the number of rows that were read."""

_CAPTURE: Final = Column("capture", STRING, "the file's path, as given")
_SESSION: Final = Column(
    "session", STRING, "one pair of nodes while connected, or a multicast group; null for scouting"
)
_LINK: Final = Column("link", STRING, "one connection, A:p-B:q#n")
_PACKET: Final = Column("packet", BIGINT, "number of the packet that completed it, from 1")
_TIME: Final = Column("time_ns", BIGINT, "that packet's time, since 1970")
_SEQ: Final = Column("seq", BIGINT, "orders the rows of one capture as they were completed")
_SENDER: Final = Column("sender_zid", STRING, "node that sent it; null if not known")
_RECEIVER: Final = Column("receiver_zid", STRING, "node that received it; null if not known")
_PLACE: Final = (_CAPTURE, _SESSION, _LINK, _PACKET, _TIME)
_KEY: Final = Column("key", STRING, "whole key expression; null if its alias is not known")
_PAYLOAD: Final = Column("payload", BINARY, "as sent; null for none, or one in shared memory")
_ENCODING: Final = Column("encoding", STRING, "effective, such as text/plain; null for a DEL")
_TIMESTAMP: Final = Column("timestamp", STRING, "<ntp64>/<id>; null where none was sent")
_PRIORITY: Final = Column("priority", BIGINT, "effective: 0 (control) to 7 (background)")
_CONGESTION: Final = Column("congestion", STRING, "effective: drop, block, block_first")
_EXPRESS: Final = Column("express", BOOLEAN, "effective: not held back for batching")
_RELIABILITY: Final = Column("reliability", STRING, "of the channel: reliable, best_effort")
_REQUESTER: Final = Column("requester_zid", STRING, "node that asked, on this link")
_RESPONDER: Final = Column("responder_zid", STRING, "node that was asked, on this link")
_REQUEST_ID: Final = Column("request_id", BIGINT, "number of the request on this link")
_INTEREST_ID: Final = Column("interest_id", BIGINT, "number of the interest asked or answered")
_ENTITY_ID: Final = Column("entity_id", BIGINT, "number of what is declared or undeclared")
_IGNORED: Final = Column(
    "ignored", STRING, "why a receiver would not take it, such as an old sequence number"
)
_TRACE_ID: Final = Column(
    "trace_id",
    BIGINT,
    "the same on every hop of one publication: seq of its first; null if not known",
)

_PUT_DEL: Final = choice("kind", ("PUT", "DEL"))

_ALL: Final = (
    Table(
        "captures",
        "one file that was read",
        (
            _CAPTURE,
            Column("sha256", STRING, "of the file's bytes on disk"),
            Column("packets", BIGINT, "in the file"),
            Column("first_ns", BIGINT, "time of the first packet"),
            Column("last_ns", BIGINT, "time of the last packet"),
            Column("read_ns", BIGINT, "when it was read into the lake"),
            Column("skipped", STRING, "packets below Zenoh that were skipped: reason, bytes"),
            Column("undecoded", STRING, "bytes that gave no message, by state"),
            Column("bytes", BIGINT, "size of the file"),
            Column("error", STRING, "why the file was not read in full; null if it was"),
            *(Column(name, BIGINT, f"rows of {name}") for name in READ_COUNTS),
            Column("queries", BIGINT, "queries that were asked, each counted once"),
            Column("hops", BIGINT, "rows of queries: one for each link that a query crossed"),
            Column("address", STRING, "where it was read, normalized; identifies the capture"),
            Column("schema_version", BIGINT, "of the tables when it was read"),
        ),
    ),
    Table(
        "batches",
        "one transport batch, scouting datagram, or stretch of bytes that is neither",
        (
            *_PLACE,
            Column("sender", STRING, "address it came from"),
            Column("receiver", STRING, "address it went to"),
            Column("protocol", STRING, "tcp, ws, udp, multicast, scouting"),
            _SEQ,
            Column("state", STRING, "ok, truncated, gap, encrypted, not_zenoh, malformed"),
            Column("bytes", BIGINT, "as captured, without the length before it"),
            Column("cause", STRING, "why not all of it could be read"),
        ),
    ),
    Table(
        "messages",
        "one message of any layer",
        (
            *_PLACE,
            _SENDER,
            _RECEIVER,
            _SEQ,
            Column("kind", STRING, "such as PUSH/PUT; containers (FRAME, FRAGMENT) count too"),
            _RELIABILITY,
            _PRIORITY,
            Column("sn", BIGINT, "sequence number of its FRAME or FRAGMENT"),
            _KEY,
            _REQUEST_ID,
            _INTEREST_ID,
            _ENTITY_ID,
            Column("size", BIGINT, "bytes; of a FRAME with all it carries"),
            Column("detail", STRING, "JSON of what has no column here or in its own table"),
            Column("error", STRING, "why a receiver would not take it"),
        ),
    ),
    Table(
        "samples",
        "one PUT or DEL that was published, on each link it crossed",
        (
            *_PLACE,
            _SENDER,
            _RECEIVER,
            _SEQ,
            _PUT_DEL,
            _KEY,
            _PAYLOAD,
            Column("payload_size", BIGINT, "bytes; null where the payload is"),
            _ENCODING,
            _TIMESTAMP,
            Column("timestamp_ns", BIGINT, "the same since 1970; null where none was sent"),
            _PRIORITY,
            _CONGESTION,
            _EXPRESS,
            _RELIABILITY,
            Column("attachment", BINARY, "null where none was sent"),
            Column("source_zid", STRING, "node that made it, where that was sent"),
            Column("source_eid", BIGINT, "entity that made it"),
            Column("source_sn", BIGINT, "its number in that entity's count"),
            _IGNORED,
            _TRACE_ID,
        ),
    ),
    Table(
        "latencies",
        "one row of `samples` whose publication, or an equal one, crossed other links too",
        (
            *_PLACE,
            _SEQ,
            _TRACE_ID,
            _PUT_DEL,
            _KEY,
            Column(
                "publisher_zid",
                STRING,
                "node that sent it first; null if not known",
            ),
            _SENDER,
            _RECEIVER,
            Column("sent_ns", BIGINT, "when it was seen on the first hop that is known"),
            Column("latency_ms", DOUBLE, "from then until it was seen here"),
            Column("is_last", BOOLEAN, "whether the receiver passed it on to nobody: end to end"),
        ),
    ),
    Table(
        "queries",
        "one REQUEST, on each link it crossed, with its outcome",
        (
            *_PLACE,
            _REQUESTER,
            _RESPONDER,
            _REQUEST_ID,
            _KEY,
            Column("parameters", STRING, "of the selector, after the question mark"),
            Column("target", STRING, "best_matching, all, all_complete"),
            Column("consolidation", STRING, "auto, none, monotonic, latest"),
            Column("timeout_ms", DOUBLE, "as requested; null where none was sent"),
            Column("budget", BIGINT, "largest number of replies that was requested"),
            _PAYLOAD,
            Column("encoding", STRING, "of the payload; null without one"),
            Column("attachment", BINARY, "null where none was sent"),
            Column("replies", BIGINT, "PUT and DEL that came back, late ones too"),
            Column("errors", BIGINT, "ERR that came back, late ones too"),
            Column("first_reply_ms", DOUBLE, "from the request to the first PUT or DEL"),
            Column("final_ms", DOUBLE, "from the request to RESPONSE_FINAL"),
            Column(
                "verdict",
                STRING,
                f"the first that applies: {', '.join(VERDICTS)}",
            ),
            Column("reason", STRING, "the verdict in words, with figures"),
            Column("trace_id", BIGINT, "the same on every hop of one query; null if not known"),
            _SEQ,
            Column("delivered", BIGINT, "replies and errors that are delivered to the querier"),
            _PRIORITY,
            _CONGESTION,
            _EXPRESS,
            Column(
                "cause",
                STRING,
                f"why a query is empty: {', '.join(QUERY_CAUSES)}; null otherwise; nothing failed "
                f"where it is {OWN_QUERYABLE}: the requester asked its own queryable",
            ),
        ),
    ),
    Table(
        "replies",
        "one RESPONSE, on each link it crossed",
        (
            *_PLACE,
            _REQUESTER,
            _RESPONDER,
            _REQUEST_ID,
            Column("replier_zid", STRING, "node that made the reply, where that was sent"),
            Column("replier_eid", BIGINT, "its queryable"),
            choice("kind", ("PUT", "DEL", "ERR")),
            _KEY,
            _PAYLOAD,
            _ENCODING,
            _TIMESTAMP,
            Column("latency_ms", DOUBLE, "since the request; null where that was not seen"),
            Column("after_final", BOOLEAN, "whether it came after RESPONSE_FINAL"),
            Column(
                "delivered", BOOLEAN, "whether the query's consolidation delivers it to the querier"
            ),
            Column("dropped_because", STRING, "why not, in words"),
            _SEQ,
            Column("query_seq", BIGINT, "seq of its query; null where that was not seen"),
            Column("trace_id", BIGINT, "of its query"),
            Column("attachment", BINARY, "null where none was sent"),
            _PRIORITY,
            _CONGESTION,
            _EXPRESS,
        ),
    ),
    Table(
        "declarations",
        "the lifetime of an entity, as one side of a session declared it to the other",
        (
            *_PLACE,
            _SENDER,
            _RECEIVER,
            Column("entity", STRING, "keyexpr, subscriber, queryable, token"),
            _ENTITY_ID,
            _KEY,
            Column("declared_ns", BIGINT, "null where only its end was seen"),
            Column("undeclared_ns", BIGINT, "when it ended; null while alive, or not known"),
            Column("ended_by", STRING, "undeclare, session; null while alive, or not known"),
            Column("complete", BOOLEAN, "of a queryable, as declared last"),
            Column("distance", BIGINT, "of a queryable, as declared last"),
            _INTEREST_ID,
            Column("node_id", BIGINT, "of the router it comes from, between routers"),
            _SEQ,
            Column("told", BIGINT, "how often it was declared"),
            Column(
                "is_answer",
                BOOLEAN,
                "declared once, for an interest in current declarations: it has no end",
            ),
        ),
    ),
    Table(
        "interests",
        "one INTEREST other than FINAL, and how long it lasted",
        (
            *_PLACE,
            _SENDER,
            _RECEIVER,
            _INTEREST_ID,
            Column("mode", STRING, "current, future, current_future"),
            Column("options", STRING, "letters of KSQTRA"),
            _KEY,
            Column("opened_ns", BIGINT, "when it was sent"),
            Column("final_ns", BIGINT, "D_FINAL: all current declarations were sent"),
            Column("closed_ns", BIGINT, "INTEREST of mode FINAL, or the end of the session"),
            Column("ended_by", STRING, "closed, final, session; null while open"),
            _SEQ,
        ),
    ),
    Table(
        "sessions",
        "one session, or the attempt at one",
        (
            _CAPTURE,
            _SESSION,
            Column("link", STRING, "its first connection"),
            Column("time_ns", BIGINT, "when it was first seen"),
            Column("opener_zid", STRING, "node that sent INIT_SYN"),
            Column("acceptor_zid", STRING, "the other one; null for a multicast group"),
            Column("opener_role", STRING, "router, peer, client"),
            Column("acceptor_role", STRING, "router, peer, client"),
            Column("opened_ns", BIGINT, "OPEN_ACK; null where it never opened or was not seen"),
            Column("closed_ns", BIGINT, "null while open"),
            Column("outcome", STRING, "open, closed, refused, lost, partial (start not seen)"),
            Column("close_reason", STRING, "that CLOSE gave"),
            Column("qos", BOOLEAN, "priorities were agreed on"),
            Column("compression", BOOLEAN, "was agreed on"),
            Column("lowlatency", BOOLEAN, "was agreed on"),
            Column("patch", BIGINT, "of the protocol, agreed on"),
            Column("sn_bits", BIGINT, "of sequence numbers: 8, 16, 32, 64"),
            Column("batch_size", BIGINT, "bytes at most, agreed on"),
            Column("opener_lease_ms", DOUBLE, "silence after which its session is closed"),
            Column("acceptor_lease_ms", DOUBLE, "silence after which its session is closed"),
            Column("links", BIGINT, "how many connections it had"),
            Column("members", STRING, "zids of a multicast group, separated by spaces"),
            Column("opener_address", STRING, "of its first connection; that of a multicast group"),
            Column("acceptor_address", STRING, "of its first connection; null for a group"),
            Column(
                "step",
                STRING,
                "last message of the handshake: INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK",
            ),
            Column("version", BIGINT, "of the protocol, that INIT_SYN asks for"),
            Column("auth", STRING, "messages of the handshake that carry authentication"),
            Column(
                "ended_by",
                STRING,
                "close, fin, rst, lease (silence until the capture ends), again (the same nodes "
                "connected again); null while open",
            ),
            Column("ender", STRING, "who sent CLOSE, FIN or RST: opener, acceptor"),
            Column("end_packet", BIGINT, "number of the packet that ended it"),
            Column("opener_silent_ms", DOUBLE, "since its last batch, when the session ended"),
            Column("acceptor_silent_ms", DOUBLE, "since its last batch, when the session ended"),
            Column(
                "cause",
                STRING,
                f"{', '.join(SESSION_CAUSES)}; null while open or after an ordinary CLOSE",
            ),
            Column("reason", STRING, "how it was refused or ended, in words"),
        ),
    ),
    Table(
        "nodes",
        "one node that was seen in a capture",
        (
            _CAPTURE,
            Column("zid", STRING, "its id, as Zenoh prints it"),
            Column("role", STRING, "router, peer, client; null if not known"),
            Column("locators", STRING, "where it listens, as announced, separated by spaces"),
            Column("first_ns", BIGINT, "when it was first seen"),
            Column("last_ns", BIGINT, "when it was last seen"),
            Column("addresses", STRING, "its ends of the first connections of sessions"),
        ),
    ),
    Table(
        "adjacencies",
        "one edge of the network, while link states announced it",
        (
            _CAPTURE,
            Column("zid", STRING, "node that has the link"),
            Column("neighbour_zid", STRING, "node at its other end"),
            Column("weight", BIGINT, "as announced; null where none was"),
            Column("from_ns", BIGINT, "when it was first announced"),
            Column("to_ns", BIGINT, "when it was withdrawn, or its session ended; null before"),
            Column("told_by_zid", STRING, "node that announced it"),
            Column("session", STRING, "of the first announcement"),
            Column("link", STRING, "of the first announcement"),
            Column("packet", BIGINT, "of the first announcement"),
        ),
    ),
    Table(
        "losses",
        "something that was sent and is missing in the capture, or arrived incomplete",
        (
            *_PLACE,
            choice("kind", ("tcp_gap", "sn_gap", "fragment", "truncated", "resync", "given_up")),
            _SENDER,
            _RECEIVER,
            Column("priority", BIGINT, "of the channel; null where none is concerned"),
            _RELIABILITY,
            Column("count", BIGINT, "of messages or numbers; null where not known"),
            Column("bytes", BIGINT, "null where not known"),
            Column("cause", STRING, "in words"),
        ),
    ),
    Table(
        "ros_entities",
        "a node, publisher, ... of ROS 2: the lifetime of its liveliness token, on each link",
        (
            *_PLACE,
            Column("told_by_zid", STRING, "node that declared it; its own if equal to zid"),
            Column("told_to_zid", STRING, "node that received the declaration"),
            Column("source", STRING, "rmw_zenoh, ros2dds (the bridge to DDS)"),
            choice(
                "kind",
                (
                    *("node", "publisher", "subscription", "service_server", "service_client"),
                    *("action_server", "action_client", "bridge"),
                ),
                "; null where the token has none",
            ),
            Column("domain", BIGINT, "ROS_DOMAIN_ID; null over the bridge"),
            Column("zid", STRING, "its Zenoh node, or the bridge's"),
            Column("node_id", BIGINT, "number of the ROS node within that; null over the bridge"),
            Column("entity_id", BIGINT, "number of the entity within that; null over the bridge"),
            Column("enclave", STRING, "security enclave of the ROS node"),
            Column("namespace", STRING, "of the ROS node, / for none"),
            Column("node", STRING, "name of the ROS node; null over the bridge"),
            Column("name", STRING, "of the topic, service or action, with its slash"),
            Column("type", STRING, "such as sensor_msgs/msg/LaserScan"),
            Column("type_hash", STRING, "of the type's definition, such as RIHS01_..."),
            Column("qos", STRING, "quality of service, as the token writes it"),
            Column("reliability", STRING, "effective: reliable, best_effort, ..."),
            Column("durability", STRING, "effective: volatile, transient_local, ..."),
            Column("history", STRING, "effective: keep_last, keep_all, ..."),
            Column("depth", BIGINT, "effective: messages that are kept"),
            Column("deadline_ns", BIGINT, "between messages; null for none, and over the bridge"),
            Column("lifespan_ns", BIGINT, "of a message; null for none, and over the bridge"),
            Column("liveliness", STRING, "effective: automatic, manual_by_topic, ..."),
            Column("lease_ns", BIGINT, "of that liveliness; null for none, and over the bridge"),
            Column("gid", STRING, "its id in attachments, hex: ros_gid; null over the bridge"),
            Column("data_key", STRING, "key expression of its samples, or queries"),
            Column("token", STRING, "key of the token"),
            Column("declared_ns", BIGINT, "null where only its end was seen"),
            Column("undeclared_ns", BIGINT, "when it ended; null while alive, or not known"),
            Column("ended_by", STRING, "undeclare, session; null while alive, or not known"),
            Column("first_told", BOOLEAN, "the first row of this token: one for each entity"),
            Column("unread", STRING, "the part of the token that could not be read, and why"),
            _SEQ,
        ),
    ),
    Table(
        "violations",
        "one broken rule",
        (
            *_PLACE,
            Column("rule", STRING, "its id"),
            Column("severity", STRING, "error, warning, note"),
            _SENDER,
            Column("message", STRING, "what happened, in words"),
            Column("page", STRING, "page or reference of the rule"),
            Column("times", BIGINT, "1; more where a row stands for the rest of many"),
        ),
    ),
)

TABLES: Final[dict[str, Table]] = {
    table.name: Table(table.name, table.comment, tuple(with_timestamps(table.columns, _DURATIONS)))
    for table in _ALL
}
"""The tables in the order of the documentation."""
