"""Rules about channels: sequence numbers, frames, priorities."""

from __future__ import annotations

from typing import Any, Final

from zenlake.rules.facts import Seen, SeenGap
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition, Irregular, TrackedBy
from zenlake.trace.channel import channel_key
from zenlake.trace.events import Missing
from zenlake.wire import (
    Declare,
    Fragment,
    Frame,
    Interest,
    Oam,
    Push,
    Put,
    Request,
    Response,
    ResponseFinal,
    TransportOam,
)
from zenlake.wire.defaults import DEFAULT_PRIORITY, DEFAULT_QOS_BYTE
from zenlake.wire.sequence import advance_sn
from zenlake.wire.values.qos import DEFAULT_QOS, QOS_BYTES, QoS

_CONTROL_BLOCK: Final = 0x08
_EXPRESS: Final = 0x10
_D: Final = 0x08
_F: Final = 0x20


def qos_byte(qos: QoS | None) -> int:
    return DEFAULT_QOS_BYTE if qos is None else qos.byte


@rule(
    "sn-outside",
    ERROR,
    Frame,
    Fragment,
    text="A sequence number lies within the resolution agreed on; one above it ends the link.",
    page="Message Reference, FRAME; wire reference §6.5, §12.7 N11; SN-32",
    whole=True,
    screen=Irregular("SEQUENCE"),
)
def sn_outside(message: Frame | Fragment, seen: Seen) -> str | None:
    session = seen.facts.session
    if session is None or not session.mask or not message.sn & ~session.mask:
        return None
    return f"{message.sn} is above {session.mask}"


@rule(
    "sn-backwards",
    ERROR,
    Frame,
    Fragment,
    text="The sequence numbers of a channel increase, modulo the resolution.",
    page="Message Reference, FRAME; wire reference §6.5, §12.7 N12",
    whole=True,
    screen=Irregular("SEQUENCE"),
)
def sn_backwards(message: Frame | Fragment, seen: Seen) -> str | None:
    if seen.link_facts.is_datagrams or seen.event.ignored != "its sequence number is not new":
        return None
    return f"{message.sn} is not new in its channel ({_channel(message)})"


@rule(
    "sn-gap",
    NOTE,
    Missing,
    text="The sequence numbers of a channel are consecutive. Deployed nodes accept gaps"
    " silently, and skip a number after a message in fragments.",
    page="wire reference §6.5, §7; SN-33",
    whole=True,
    screen=Irregular("SEQUENCE"),
)
def sn_gap(missing: Missing, seen: SeenGap) -> str | None:
    if missing.kind != "sn_gap" or seen.link_facts.is_datagrams:
        return None
    return f"{missing.count} numbers are skipped"


@rule(
    "sn-skipped-after-fragments",
    NOTE,
    Frame,
    Fragment,
    text="Sequence numbers are consecutive, also after a message in fragments, where deployed"
    " nodes skip one.",
    page="wire reference §7; SN-33",
    whole=True,
    screen=TrackedBy("fragments"),
)
def sn_skipped_after_fragments(message: Frame | Fragment, seen: Seen) -> str | None:
    if not seen.sender.after_fragments:
        return None
    last = seen.sender.after_fragments.get(channel_key(message))
    session = seen.facts.session
    if last is None or session is None or message.sn != advance_sn(last, 2, session.mask):
        return None
    return f"{last} is followed by {message.sn}"


@rule(
    "frame-empty",
    NOTE,
    Frame,
    text="A FRAME holds one or more messages; an empty one only uses up its number.",
    page="Message Reference, FRAME; SN-31",
    screen=Condition("frame.is_empty"),
    unredacted=True,
)
def frame_empty(message: Frame, seen: Seen) -> str | None:
    if message.messages or seen.link_facts.is_cut:
        return None
    return f"FRAME {message.sn} is empty"


@rule(
    "priority-not-agreed",
    ERROR,
    Frame,
    Fragment,
    text="Where QoS was not agreed on, frames and fragments have no other priority than 5.",
    page="wire reference §6.3, §12.7 N19",
    screen=Condition(f"has.priority and priority != {DEFAULT_PRIORITY} and not agreed.qos"),
)
def priority_not_agreed(message: Frame | Fragment, seen: Seen) -> str | None:
    if message.qos is None or message.qos == DEFAULT_PRIORITY or seen.qos_agreed is not False:
        return None
    return f"priority {int(message.qos)} without QoS"


@rule(
    "priority-differs",
    ERROR,
    Push,
    Request,
    Response,
    ResponseFinal,
    Declare,
    Interest,
    Oam,
    text="All messages in a FRAME, or in fragments, have the priority of their channel.",
    page="wire reference §6.3",
    whole=True,
    screen=Condition("channel.is_known and agreed.qos and qos_byte & 7 != channel.priority"),
    unredacted=True,
)
def priority_differs(message: Any, seen: Seen) -> str | None:
    carrier = seen.event.carrier
    if carrier is None or not seen.qos_agreed:
        return None
    own = qos_byte(message.qos) & 7
    if own == carrier.priority:
        return None
    return f"priority {own} in a channel of priority {carrier.priority}"


@rule(
    "best-effort-control",
    WARNING,
    Request,
    Response,
    ResponseFinal,
    Declare,
    Interest,
    Oam,
    text="Declarations, interests, queries, replies and link states are sent reliably.",
    page="behaviour reference §2.10",
    screen=Condition("channel.is_known and not channel.is_reliable"),
    unredacted=True,
)
def best_effort_control(message: Any, seen: Seen) -> str | None:
    return "in a best-effort channel" if seen.event.reliable is False else None


@rule(
    "control-qos",
    NOTE,
    Declare,
    Interest,
    Oam,
    text="Declarations, interests and link states have priority 0 and block.",
    page="behaviour reference §2.10; wire reference §2.4; SN-41",
    screen=Condition(f"qos_byte & ~{_EXPRESS} != {_CONTROL_BLOCK}"),
)
def control_qos(message: Any, seen: Seen) -> str | None:
    byte = qos_byte(message.qos)
    return None if byte & ~_EXPRESS == _CONTROL_BLOCK else f"QoS {QOS_BYTES[byte]}"


@rule(
    "priority-control-data",
    NOTE,
    Push,
    text="Priority 0 is reserved for declarations; publications have 1 to 7.",
    page="behaviour reference §2.10",
    screen=Condition("qos_byte & 7 == 0"),
)
def priority_control_data(message: Push, seen: Seen) -> str | None:
    return "a publication of priority 0" if qos_byte(message.qos) & 7 == 0 else None


@rule(
    "block-first-and-block",
    NOTE,
    Push,
    Request,
    text="QoS says Block (D) or BlockFirst (F); both at once mean Block.",
    page="Message Reference, QoS; SN-40",
    screen=Condition(f"qos_byte & {_D} and qos_byte & {_F}"),
)
def block_first_and_block(message: Push | Request, seen: Seen) -> str | None:
    byte = qos_byte(message.qos)
    return f"QoS {byte:#04x}" if byte & _D and byte & _F else None


@rule(
    "default-sent",
    NOTE,
    Frame,
    Fragment,
    Push,
    Request,
    Response,
    text="An extension or field that holds the default is left out.",
    page="wire reference §2.1, §2.3; SN-19",
    screen=Condition(
        f"has.qos and qos == {DEFAULT_QOS_BYTE} or has.priority and priority == {DEFAULT_PRIORITY}"
        " or has.node_id and node_id == 0 or has.target and target == 0"
        " or has.consolidation and consolidation == 0"
        " or is_put and has.encoding and encoding_id == 0 and encoding_schema_offset == 0"
    ),
)
def default_sent(message: Any, seen: Seen) -> str | None:
    if isinstance(message, (Frame, Fragment)):
        return "priority 5" if message.qos == DEFAULT_PRIORITY else None
    if message.qos is not None and message.qos.byte == DEFAULT_QOS_BYTE:
        return f"QoS {DEFAULT_QOS}"
    if isinstance(message, (Push, Request)) and message.node_id == 0:
        return "NodeId 0"
    if isinstance(message, Request):
        if message.target is not None and message.target == 0:
            return f"target {message.target}"
        if message.body.consolidation is not None and message.body.consolidation == 0:
            return f"consolidation {message.body.consolidation}"
    body = message.body
    if isinstance(body, Put) and body.encoding is not None:
        encoding = body.encoding
        if encoding.id == 0 and encoding.schema is None:
            return f"encoding {encoding}"
    return None


@rule(
    "transport-oam",
    NOTE,
    TransportOam,
    text="OAM of the transport layer has no use yet: deployed nodes send none and ignore it.",
    page="packets, Transport OAM; wire reference §6.4; SN-73",
    screen=Irregular("MESSAGE_OUT_OF_PLACE"),
)
def transport_oam(message: TransportOam, seen: Seen) -> str | None:
    return f"OAM {message.id}"


def _channel(message: Frame | Fragment) -> str:
    word = "reliable" if message.reliable else "best effort"
    return f"priority {DEFAULT_PRIORITY if message.qos is None else int(message.qos)}, {word}"
