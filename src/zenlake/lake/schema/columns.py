"""Columns of published tables; most of them are in several tables."""

from __future__ import annotations

from typing import Final

from zenlake.lake.schema.table import BIGINT, BINARY, BOOLEAN, STRING, Column

CAPTURE: Final = Column("capture", STRING, "the file's path, as given")
SESSION: Final = Column(
    "session", STRING, "one pair of nodes while connected, or a multicast group; null for scouting"
)
LINK: Final = Column("link", STRING, "one connection, A:p-B:q#n")
PACKET: Final = Column("packet", BIGINT, "number of the packet that completed it, from 1")
TIME: Final = Column("time_ns", BIGINT, "that packet's time, since 1970")
SEQ: Final = Column("seq", BIGINT, "orders the rows of one capture as they were completed")
SENDER: Final = Column("sender_zid", STRING, "node that sent it; null if not known")
RECEIVER: Final = Column("receiver_zid", STRING, "node that received it; null if not known")
PLACE: Final = (CAPTURE, SESSION, LINK, PACKET, TIME)
KEY: Final = Column("key", STRING, "whole key expression; null if its alias is not known")
PAYLOAD: Final = Column("payload", BINARY, "as sent; null for none, or one in shared memory")
ATTACHMENT: Final = Column("attachment", BINARY, "null where none was sent")
ENCODING: Final = Column("encoding", STRING, "effective, such as text/plain; null for a DEL")
TIMESTAMP: Final = Column("timestamp", STRING, "<ntp64>/<id>; null where none was sent")
PRIORITY: Final = Column("priority", BIGINT, "effective: 0 (control) to 7 (background)")
CONGESTION: Final = Column("congestion", STRING, "effective: drop, block, block_first")
EXPRESS: Final = Column("express", BOOLEAN, "effective: not held back for batching")
RELIABILITY: Final = Column("reliability", STRING, "of the channel: reliable, best_effort")
REQUESTER: Final = Column("requester_zid", STRING, "node that asked, on this link")
RESPONDER: Final = Column("responder_zid", STRING, "node that was asked, on this link")
REQUEST_ID: Final = Column("request_id", BIGINT, "number of the request on this link")
INTEREST_ID: Final = Column("interest_id", BIGINT, "number of the interest asked or answered")
ENTITY_ID: Final = Column("entity_id", BIGINT, "number of what is declared or undeclared")
LIFETIME: Final = (
    Column("declared_ns", BIGINT, "null where only its end was seen"),
    Column("undeclared_ns", BIGINT, "when it ended; null while alive, or not known"),
    Column("ended_by", STRING, "undeclare, session; null while alive, or not known"),
)
IGNORED: Final = Column(
    "ignored", STRING, "why a receiver would not take it, such as an old sequence number"
)
TRACE_ID: Final = Column(
    "trace_id",
    BIGINT,
    "the same on every hop of one publication: seq of its first; null if not known",
)
