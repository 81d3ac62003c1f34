"""Rules about INIT and OPEN: their order, and the values that the answer may select."""

from __future__ import annotations

from typing import Final

from zenlake.rules.facts import OPENED, Seen, SeenBatch
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Irregular
from zenlake.trace.link import LinkBatch
from zenlake.trace.session import lease_ms
from zenlake.wire import Fragment, Frame, Init, Join, Open
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES, PROTOCOL_VERSION
from zenlake.wire.message import NetworkMessage
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION

_BATCH_BYTES_LEAST: Final = 16
_STAGE_NAMES: Final = ("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "data")
_DATA: Final = (Frame, Fragment, NetworkMessage)


@rule(
    "handshake-order",
    ERROR,
    Init,
    Open,
    text="INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK come in this order, from alternating sides.",
    page="Message Reference, INIT and OPEN; wire reference §5.1",
    whole=True,
    screen=Irregular("HANDSHAKE"),
)
def handshake_order(message: Init | Open, seen: Seen) -> str | None:
    link_facts, kind = seen.link_facts, seen.event.kind
    if link_facts.is_datagrams or link_facts.stage == OPENED:
        return None
    is_turn = seen.event.direction == seen.event.link.opener ^ (link_facts.stage & 1)
    if _STAGE_NAMES.index(kind) == link_facts.stage and is_turn:
        return None
    return f"{kind} comes where {_STAGE_NAMES[link_facts.stage]} should"


@rule(
    "handshake-repeated",
    ERROR,
    Init,
    Open,
    text="A session that is open gets no INIT and no OPEN; they are ignored.",
    page="wire reference §6.4",
    whole=True,
    screen=Irregular("MESSAGE_OUT_OF_PLACE"),
)
def handshake_repeated(message: Init | Open, seen: Seen) -> str | None:
    if seen.link_facts.is_datagrams or seen.link_facts.stage < OPENED:
        return None
    return f"{seen.event.kind} in a session that is open"


@rule(
    "data-before-open",
    ERROR,
    LinkBatch,
    text="Nothing but the handshake, or CLOSE, is sent before OPEN_ACK.",
    page="wire reference §5.1",
    whole=True,
    screen=Irregular("HANDSHAKE"),
)
def data_before_open(batch: LinkBatch, seen: SeenBatch) -> str | None:
    if seen.link_facts.is_datagrams or seen.link_facts.stage >= OPENED or not batch.messages:
        return None
    first = batch.messages[0]
    if not isinstance(first, _DATA):
        return None
    return f"{first.NAME} where {_STAGE_NAMES[seen.link_facts.stage]} should come"


@rule(
    "handshake-not-alone",
    ERROR,
    LinkBatch,
    text="INIT and OPEN are each alone in their batch; further messages in it are not read.",
    page="wire reference §5.1",
    screen=Irregular("HANDSHAKE"),
)
def handshake_not_alone(batch: LinkBatch, seen: SeenBatch) -> str | None:
    if len(batch.messages) < 2 or batch.link.protocol == "scouting":
        return None
    for message in batch.messages:
        if isinstance(message, (Init, Open)):
            return f"{message.NAME} in a batch of {len(batch.messages)} messages"
    return None


@rule(
    "version-other",
    WARNING,
    Init,
    Join,
    text="The protocol version is 9.",
    page="Message Reference, INIT and JOIN; SN-35",
)
def version_other(message: Init | Join, seen: Seen) -> str | None:
    return None if message.version == PROTOCOL_VERSION else f"version {message.version}"


@rule(
    "version-accepted",
    ERROR,
    Init,
    text="An INIT_SYN of another version is refused with CLOSE, not answered.",
    page="wire reference §5.2, §12.7 N1; SN-35",
    whole=True,
)
def version_accepted(message: Init, seen: Seen) -> str | None:
    offer = seen.link_facts.init_syn
    if message.cookie is None or offer is None or offer.version == PROTOCOL_VERSION:
        return None
    return f"INIT_ACK answers version {offer.version}"


@rule(
    "resolution-raised",
    ERROR,
    Init,
    text="INIT_ACK selects resolutions that are no larger than those offered.",
    page="wire reference §5.2, §5.3",
    whole=True,
)
def resolution_raised(message: Init, seen: Seen) -> str | None:
    offer = _init_syn(message, seen)
    if offer is None:
        return None
    offered, agreed = offer.resolution or DEFAULT_RESOLUTION, message.resolution
    agreed = agreed or DEFAULT_RESOLUTION
    if agreed.byte & 3 > offered.byte & 3 or agreed.byte >> 2 > offered.byte >> 2:
        return f"{agreed}; offered were {offered}"
    return None


@rule(
    "batch-size-raised",
    WARNING,
    Init,
    text="INIT_ACK selects the smaller of both batch sizes.",
    page="wire reference §5.3",
    whole=True,
)
def batch_size_raised(message: Init, seen: Seen) -> str | None:
    offer = _init_syn(message, seen)
    if offer is None:
        return None
    offered = DEFAULT_BATCH_BYTES if offer.batch_size is None else offer.batch_size
    agreed = DEFAULT_BATCH_BYTES if message.batch_size is None else message.batch_size
    return f"{agreed} bytes; offered were {offered}" if agreed > offered else None


@rule(
    "batch-size-tiny",
    WARNING,
    Init,
    text="A batch size of less than 16 bytes leaves no room for any fragment.",
    page="wire reference §5.3; SN-83",
)
def batch_size_tiny(message: Init, seen: Seen) -> str | None:
    size = message.batch_size
    return f"{size} bytes" if size is not None and size < _BATCH_BYTES_LEAST else None


@rule(
    "extension-not-offered",
    ERROR,
    Init,
    text="INIT_ACK agrees only to what INIT_SYN offered.",
    page="wire reference §5.3",
    whole=True,
)
def extension_not_offered(message: Init, seen: Seen) -> str | None:
    offer = _init_syn(message, seen)
    if offer is None:
        return None
    if message.compression and not offer.compression:
        return "compression was not offered"
    if message.lowlatency and not offer.lowlatency:
        return "low latency was not offered"
    if (message.qos or message.qos_link) and not (offer.qos or offer.qos_link):
        return "QoS was not offered"
    if message.multilink is not None and offer.multilink is None:
        return "several links were not offered"
    if message.shm is not None and offer.shm is None:
        return "shared memory was not offered"
    return None


@rule(
    "patch-raised",
    ERROR,
    Init,
    text="INIT_ACK selects a patch level that is no higher than the one offered.",
    page="wire reference §5.3",
    whole=True,
)
def patch_raised(message: Init, seen: Seen) -> str | None:
    offer = _init_syn(message, seen)
    if offer is None:
        return None
    agreed, offered = message.patch or 0, offer.patch or 0
    return f"patch {agreed}; offered was {offered}" if agreed > offered else None


@rule(
    "qos-twice",
    ERROR,
    Init,
    text="INIT has QoS or QoSLink, not both.",
    page="wire reference §5.3, §12.7 N6",
)
def qos_twice(message: Init, seen: Seen) -> str | None:
    return "QoS and QoSLink" if message.qos and message.qos_link is not None else None


@rule(
    "low-latency-with-qos",
    ERROR,
    Init,
    text="Low latency and QoS exclude each other.",
    page="wire reference §5.3, §9",
)
def low_latency_with_qos(message: Init, seen: Seen) -> str | None:
    if message.lowlatency and (message.qos or message.qos_link is not None):
        return "low latency and QoS"
    return None


@rule(
    "cookie-not-echoed",
    ERROR,
    Open,
    text="OPEN_SYN returns the cookie of INIT_ACK byte for byte.",
    page="Message Reference, OPEN; wire reference §5.5, §12.7 N10",
    whole=True,
)
def cookie_not_echoed(message: Open, seen: Seen) -> str | None:
    ack = seen.link_facts.init_ack
    if message.cookie is None or ack is None or ack.cookie == message.cookie:
        return None
    return f"a cookie of {len(message.cookie)} bytes that INIT_ACK does not have"


@rule(
    "initial-sn-outside",
    ERROR,
    Open,
    text="The first sequence number lies within the resolution agreed on.",
    page="Message Reference, OPEN; SN-32, SN-84",
    whole=True,
)
def initial_sn_outside(message: Open, seen: Seen) -> str | None:
    ack = seen.link_facts.init_ack
    if ack is None:
        return None
    mask = (ack.resolution or DEFAULT_RESOLUTION).sn_mask
    return f"{message.initial_sn} is above {mask}" if message.initial_sn > mask else None


@rule(
    "connection-to-self",
    ERROR,
    Open,
    text="A node does not accept its own id: it refuses with CLOSE 7.",
    page="wire reference §5.2",
    whole=True,
)
def connection_to_self(message: Open, seen: Seen) -> str | None:
    offer, ack = seen.link_facts.init_syn, seen.link_facts.init_ack
    if message.cookie is not None or offer is None or ack is None or offer.zid != ack.zid:
        return None
    return f"OPEN_ACK to {offer.zid}, which is its own id"


@rule(
    "clients-only",
    ERROR,
    Open,
    text="Two clients open no session with each other.",
    page="behaviour reference §3.1",
    whole=True,
)
def clients_only(message: Open, seen: Seen) -> str | None:
    if message.cookie is not None or seen.sender.role != "client":
        return None
    return "a client accepts a client" if seen.receiver.role == "client" else None


@rule(
    "lease-zero",
    ERROR,
    Open,
    Join,
    text="A lease is the longest silence of its sender, so it is not zero.",
    page="wire reference §5.7; SN-96",
)
def lease_zero(message: Open | Join, seen: Seen) -> str | None:
    return "a lease of 0" if message.lease == 0 else None


@rule(
    "lease-in-milliseconds",
    NOTE,
    Open,
    Join,
    text="A lease of whole seconds is written in seconds (T).",
    page="wire reference §5.7",
)
def lease_in_milliseconds(message: Open | Join, seen: Seen) -> str | None:
    if message.seconds or message.lease == 0 or message.lease % 1000:
        return None
    return f"{lease_ms(message)} ms"


def _init_syn(message: Init, seen: Seen) -> Init | None:
    """The INIT_SYN that an INIT_ACK answers."""
    return None if message.cookie is None else seen.link_facts.init_syn
