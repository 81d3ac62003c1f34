"""Rules about batches: their size, whether they can be decoded, and their encoding."""

from __future__ import annotations

from typing import Final

from zenlake.rules import noncanonical
from zenlake.rules.facts import OPENED, SeenBatch
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition, Irregular, TrackedBy
from zenlake.trace.link import LinkBatch
from zenlake.wire import Close, Fragment

_GRACE_NS: Final = 1_000_000_000
"""For so long messages may be in flight."""


def _agreed_bytes(seen: SeenBatch) -> int | None:
    """The batch size that was agreed on; None during the handshake or where it is unknown."""
    session = seen.facts.session
    if session is None or seen.link_facts.stage < OPENED:
        return None
    return session.batch_size


def _prefix_bytes(seen: SeenBatch) -> int:
    session = seen.facts.session
    is_stream = seen.batch.link.protocol == "tcp"
    return 2 if is_stream and session is not None and not session.lowlatency else 0


@rule(
    "batch-too-large",
    ERROR,
    LinkBatch,
    text="A batch, with its length before it and the header of compression, is no larger than"
    " the batch size agreed on; nor is a unit of a low-latency link.",
    page="wire reference §6.1, §9; SN-29",
    screen=Condition("unit.bytes > agreed.batch_size"),
    unredacted=True,
)
def batch_too_large(batch: LinkBatch, seen: SeenBatch) -> str | None:
    agreed = _agreed_bytes(seen)
    size = len(batch.data) + _prefix_bytes(seen)
    if agreed is None or batch.state != "ok" or size <= agreed or seen.facts.is_multicast:
        return None
    return f"a batch of {size} bytes, {agreed} are agreed"


@rule(
    "group-batch-large",
    NOTE,
    LinkBatch,
    text="No batch is larger than the size that JOIN announces. Deployed nodes send datagrams as"
    " large as the link carries.",
    page="Message Reference, JOIN; SN-87",
    screen=Irregular("NOT_TCP"),
    unredacted=True,
)
def group_batch_large(batch: LinkBatch, seen: SeenBatch) -> str | None:
    agreed = _agreed_bytes(seen)
    if agreed is None or not seen.facts.is_multicast or len(batch.data) <= agreed:
        return None
    return f"a datagram of {len(batch.data)} bytes, JOIN announces {agreed}"


@rule(
    "batch-empty",
    NOTE,
    LinkBatch,
    text="A batch holds one or more messages. Deployed nodes send an empty one where they"
    " abandoned a message in fragments.",
    page="packets, Batch; SN-31, SN-34",
    screen=Irregular("EMPTY_BATCH"),
)
def batch_empty(batch: LinkBatch, seen: SeenBatch) -> str | None:
    if batch.data or batch.state != "ok" or batch.link.protocol == "scouting":
        return None
    return "a batch without a message"


@rule(
    "batch-undecodable",
    ERROR,
    LinkBatch,
    text="A batch consists of messages to its last byte; one that cannot be decoded ends the link.",
    page="wire reference §6.4, §12.7 N14",
    whole=True,
    screen=Irregular("MALFORMED"),
)
def batch_undecodable(batch: LinkBatch, seen: SeenBatch) -> str | None:
    if batch.state != "malformed" or batch.error is None:
        return None
    if _unknown_mandatory(batch) is not None or batch.error.message == "low-latency unit":
        return None
    return f"{batch.lost_bytes} bytes cannot be read: {batch.error}"


@rule(
    "low-latency-kind",
    ERROR,
    LinkBatch,
    text="A low-latency link carries network messages, KEEP_ALIVE and CLOSE, and no frames.",
    page="wire reference §9; SN-28",
    whole=True,
    screen=Irregular("MALFORMED"),
)
def low_latency_kind(batch: LinkBatch, seen: SeenBatch) -> str | None:
    error = batch.error
    if batch.state != "malformed" or error is None or error.message != "low-latency unit":
        return None
    return error.cause


@rule(
    "low-latency-batched",
    NOTE,
    LinkBatch,
    text="On a low-latency link every unit has one message.",
    page="wire reference §9",
    screen=Condition("unit.is_low_latency and unit.messages > 1"),
)
def low_latency_batched(batch: LinkBatch, seen: SeenBatch) -> str | None:
    session = seen.facts.session
    is_one = session is not None and session.lowlatency and seen.link_facts.stage == OPENED
    if not is_one or len(batch.messages) < 2:
        return None
    return f"{len(batch.messages)} messages in one unit"


def _unknown_mandatory(batch: LinkBatch) -> str | None:
    error = batch.error
    if error is None or not error.cause.startswith("unknown extension"):
        return None
    return f"{error.message}: {error.cause}"


@rule(
    "mandatory-extension-unknown",
    WARNING,
    LinkBatch,
    text="The message defines each of its mandatory extensions; a receiver that does not know"
    " one must end the link.",
    page="packets, Extension Header; wire reference §2.1; SN-13",
    screen=Irregular("MALFORMED"),
)
def mandatory_extension_unknown(batch: LinkBatch, seen: SeenBatch) -> str | None:
    return _unknown_mandatory(batch)


@rule(
    "mandatory-extension-accepted",
    ERROR,
    LinkBatch,
    text="A receiver of an unknown mandatory extension ends the link: it sends nothing but CLOSE"
    " after it.",
    page="wire reference §2.1, §12.7 N2, N15; SN-13",
    screen=Irregular("MALFORMED"),
)
def mandatory_extension_accepted(batch: LinkBatch, seen: SeenBatch) -> str | None:
    other, link_facts = 1 - batch.direction, seen.link_facts
    what = link_facts.refusable[other]
    if not what or seen.facts.is_multicast or not batch.messages:
        return None
    since_ns = batch.time_ns - link_facts.refusable_ns[other]
    if since_ns < _GRACE_NS or isinstance(batch.messages[0], Close):
        return None
    return f"it still sends {since_ns / 1e9:.1f} s after it got {what}"


# --- noncanonical encodings ------------------------------------------------------------------


@rule(
    "reserved-bits",
    ERROR,
    LinkBatch,
    text="Reserved bits are sent as zero.",
    page="Message Reference, boxes; wire reference §1.1; SN-8",
    screen=TrackedBy("noncanonical"),
)
def reserved_bits(batch: LinkBatch, seen: SeenBatch) -> str | None:
    return seen.deviation(noncanonical.RESERVED)


@rule(
    "integer-not-minimal",
    ERROR,
    LinkBatch,
    text="A variable-length integer is written in as few bytes as it needs.",
    page="packets, VLE; wire reference §1.2; SN-2",
    screen=TrackedBy("noncanonical"),
)
def integer_not_minimal(batch: LinkBatch, seen: SeenBatch) -> str | None:
    return seen.deviation(noncanonical.OVERLONG)


@rule(
    "extension-repeated",
    WARNING,
    LinkBatch,
    text="An extension comes once in a message; of several, only the last counts.",
    page="wire reference §2.1; SN-16",
    screen=TrackedBy("noncanonical"),
)
def extension_repeated(batch: LinkBatch, seen: SeenBatch) -> str | None:
    return seen.deviation(noncanonical.REPEATED)


@rule(
    "suffix-empty",
    WARNING,
    LinkBatch,
    text="N announces a suffix, so the suffix is not empty.",
    page="Message Reference, N; wire reference §1.10; SN-50",
    screen=TrackedBy("noncanonical"),
)
def suffix_empty(batch: LinkBatch, seen: SeenBatch) -> str | None:
    return seen.deviation(noncanonical.EMPTY_SUFFIX)


@rule(
    "zid-zeros",
    WARNING,
    LinkBatch,
    text="An id is written without zero bytes at its high end.",
    page="wire reference §1.4; SN-4",
    screen=TrackedBy("noncanonical"),
)
def zid_zeros(batch: LinkBatch, seen: SeenBatch) -> str | None:
    return seen.deviation(noncanonical.ZID_ZEROS)


@rule(
    "compression-header",
    ERROR,
    LinkBatch,
    text="All bits but the lowest are zero in the header of a compressed batch.",
    page="wire reference §6.2",
    screen=Irregular("TERMS"),
)
def compression_header(batch: LinkBatch, seen: SeenBatch) -> str | None:
    session = seen.facts.session
    if session is None or not session.compression or seen.link_facts.stage < OPENED:
        return None
    if not batch.data or batch.data[0] < 2 or batch.state != "ok":
        return None
    if isinstance(batch.messages[0] if batch.messages else None, Close):
        return None  # a batch of a handshake that failed, which is never compressed
    return f"the header is {batch.data[0]:#04x}"


@rule(
    "fragment-small",
    NOTE,
    LinkBatch,
    text="All fragments but the last fill their batch.",
    page="wire reference §7",
    screen=Condition("fragment_more and 2 * unit.bytes <= agreed.batch_size"),
)
def fragment_small(batch: LinkBatch, seen: SeenBatch) -> str | None:
    agreed = _agreed_bytes(seen)
    session = seen.facts.session
    if agreed is None or session is None or session.compression or session.is_multicast:
        return None
    first = batch.messages[0] if batch.messages else None
    size = len(batch.data) + _prefix_bytes(seen)
    if not isinstance(first, Fragment) or not first.more or 2 * size > agreed:
        return None
    return f"a fragment that others follow, in a batch of {size} bytes of {agreed}"
