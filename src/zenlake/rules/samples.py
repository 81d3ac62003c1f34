"""Rules about what publications, queries and replies carry."""

from __future__ import annotations

from typing import Any, Final

from zenlake.rules.facts import Seen
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition, TrackedBy
from zenlake.trace.message_attributes import data_of, sent_encoding
from zenlake.wire import (
    Close,
    Declare,
    Err,
    Hello,
    Init,
    Interest,
    Join,
    Oam,
    Open,
    Push,
    Put,
    Request,
    Response,
    ResponseFinal,
    Scout,
)
from zenlake.wire.values.encoding import CUSTOM_ID, ENCODING_NAMES

_AHEAD_NS: Final = 500_000_000
"""Allowed lead over the receiver's clock (behaviour reference §2.11)."""


@rule(
    "encoding-unknown",
    NOTE,
    Push,
    Request,
    Response,
    text="An encoding is one of the predefined ones, or 65535 with its name in the schema.",
    page="wire reference §1.7",
    screen=Condition(f"encoding_id >= {len(ENCODING_NAMES)} and encoding_id != {CUSTOM_ID}"),
)
def encoding_unknown(message: Push | Request | Response, seen: Seen) -> str | None:
    encoding = sent_encoding(data_of(message))
    if encoding is None or encoding.id < len(ENCODING_NAMES) or encoding.id == CUSTOM_ID:
        return None
    return f"encoding {encoding.id}"


@rule(
    "schema-not-text",
    NOTE,
    Push,
    Request,
    Response,
    text="The schema of an encoding is text. Deployed nodes do not check it.",
    page="wire reference §1.7; SN-7",
    screen=Condition("not schema.is_ascii"),
)
def schema_not_text(message: Push | Request | Response, seen: Seen) -> str | None:
    encoding = sent_encoding(data_of(message))
    if encoding is None or encoding.schema is None:
        return None
    try:
        encoding.schema.decode()
    except UnicodeDecodeError:
        return f"a schema of {len(encoding.schema)} bytes that is not UTF-8"
    return None


@rule(
    "timestamp-ahead",
    WARNING,
    Push,
    text="A timestamp is not more than half a second ahead of the receiver's clock.",
    page="behaviour reference §2.11, §4.6",
    screen=Condition(f"has.timestamp and stamp.ns - time_ns >= {_AHEAD_NS}"),
)
def timestamp_ahead(message: Push, seen: Seen) -> str | None:
    stamp = message.body.timestamp
    if stamp is None:
        return None
    ahead_ns = stamp.ns - seen.event.time_ns
    return f"{ahead_ns / 1e9:.1f} s ahead of the capture" if ahead_ns > _AHEAD_NS else None


@rule(
    "source-sn-backwards",
    NOTE,
    Push,
    text="The sequence numbers of publications of a source increase. An application may set them"
    " as it likes.",
    page="wire reference §2.4; behaviour reference §6.8",
    whole=True,
    screen=TrackedBy("sources"),
)
def source_sn_backwards(message: Push, seen: Seen) -> str | None:
    source = message.body.source_info
    if source is None or seen.link_facts.is_datagrams:
        return None
    last = seen.sender.source_sns.get((str(source.zid), source.eid, stream_of(seen)))
    if last is None or source.sn >= last or last - source.sn > 1 << 31:
        return None
    return f"number {source.sn} of {source.zid}/{source.eid} after {last}"


@rule(
    "shm-not-agreed",
    ERROR,
    Push,
    Response,
    text="A payload lies in shared memory only where both sides agreed on it.",
    page="wire reference §10.3, §12.7 N17; SN-60",
    whole=True,
    screen=Condition("shm"),
)
def shm_not_agreed(message: Push | Response, seen: Seen) -> str | None:
    data, link_facts = data_of(message), seen.link_facts
    if not isinstance(data, (Put, Err)) or not data.shm or link_facts.init_ack is None:
        return None
    return None if link_facts.init_ack.shm is not None else "shared memory was not agreed on"


@rule(
    "node-id-not-router",
    WARNING,
    Push,
    Request,
    Declare,
    text="NodeId is sent only between routers, and by linkstate peers.",
    page="Message Reference, NodeId; wire reference §2.4; SN-57",
    screen=Condition("node_id", once="node_id"),
)
def node_id_not_router(message: Push | Request | Declare, seen: Seen) -> str | None:
    if not message.node_id:
        return None
    roles = seen.sender.role, seen.receiver.role
    if None in roles or roles == ("router", "router"):
        return None
    if "client" not in roles and message.node_id in seen.sender.history.psids:
        return None  # in a network of peers (up to 1.8), link states assign numbers to the peers
    return f"NodeId {message.node_id} from a {roles[0]} to a {roles[1]}"


@rule(
    "node-id-unknown",
    WARNING,
    Push,
    Request,
    Declare,
    text="NodeId is a number that the sender assigned to a node in its link states.",
    page="wire reference §2.4; behaviour reference §4.7; SN-57",
    whole=True,
    screen=Condition("node_id", once="node_id"),
)
def node_id_unknown(message: Push | Request | Declare, seen: Seen) -> str | None:
    if not message.node_id or message.node_id in seen.sender.history.psids:
        return None
    if seen.sender.role != "router" or seen.receiver.role != "router":
        return None
    return f"NodeId {message.node_id}, which no link state named"


@rule(
    "extension-unknown",
    NOTE,
    Scout,
    Hello,
    Init,
    Open,
    Close,
    Join,
    Push,
    Request,
    Response,
    ResponseFinal,
    Declare,
    Interest,
    Oam,
    text="The message defines each of its extensions; unknown optional ones are ignored.",
    page="packets, Extensions; SN-14, SN-15",
    screen=Condition("unknown_extensions"),
)
def extension_unknown(message: Any, seen: Seen) -> str | None:
    if message.extensions:
        return f"extension {message.extensions[0].header:#04x}"
    if isinstance(message, (Push, Request, Response)):
        data = data_of(message)
        if data.extensions:
            return f"extension {data.extensions[0].header:#04x} of {data.NAME}"
    return None


def stream_of(seen: Seen) -> int:
    """The channel of a message, as one number: order is kept only within a channel."""
    carrier = seen.event.carrier
    return 0 if carrier is None else 2 * carrier.priority + carrier.reliable
