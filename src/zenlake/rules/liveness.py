"""Rules about time: leases, keep-alives, and what comes after a CLOSE."""

from __future__ import annotations

from typing import Final

from zenlake.rules.facts import NEVER, OPENED, Seen, SeenBatch, SideFacts
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Irregular, TrackedBy
from zenlake.trace.link import LinkBatch
from zenlake.wire import Close, Declare, Frame
from zenlake.wire.values.choices import CloseReason

_NS_PER_MS: Final = 1_000_000
_MARGIN_MS: Final = 1_000
"""Timers of nodes and clocks of captures are not exact."""


def _silence_ms(seen: SeenBatch, direction: int) -> float | None:
    """How long a direction of an open unicast link has been silent, up to this batch."""
    link_facts = seen.link_facts
    if (
        link_facts.stage < OPENED
        or seen.facts.is_multicast
        or link_facts.last_batch_ns[direction] == NEVER
    ):
        return None
    if link_facts.closed[0] or link_facts.closed[1]:
        return None
    return (seen.batch.time_ns - link_facts.last_batch_ns[direction]) / _NS_PER_MS


def _lease_ms(side: SideFacts) -> int:
    node = side.node
    return 0 if node is None or node.lease_ms is None else node.lease_ms


@rule(
    "lease-exceeded",
    WARNING,
    LinkBatch,
    text="A node sends something within every lease that it announced; a suspended or overloaded"
    " node does not.",
    page="Message Reference, OPEN; wire reference §5.7",
    whole=True,
    screen=TrackedBy("silences"),
    unredacted=True,
)
def lease_exceeded(batch: LinkBatch, seen: SeenBatch) -> str | None:
    silence_ms, lease_ms = _silence_ms(seen, batch.direction), _lease_ms(seen.sender)
    if silence_ms is None or not lease_ms or silence_ms <= lease_ms + _MARGIN_MS:
        return None
    return f"silent for {silence_ms / 1000:.1f} s, its lease is {lease_ms / 1000:g} s"


@rule(
    "keep-alive-late",
    WARNING,
    LinkBatch,
    text="A node that has nothing to send sends KEEP_ALIVE several times in every lease.",
    page="wire reference §5.7, §13",
    whole=True,
    screen=TrackedBy("silences"),
    unredacted=True,
)
def keep_alive_late(batch: LinkBatch, seen: SeenBatch) -> str | None:
    silence_ms, lease_ms = _silence_ms(seen, batch.direction), _lease_ms(seen.sender)
    if silence_ms is None or not lease_ms or silence_ms > lease_ms + _MARGIN_MS:
        return None
    if 4 * silence_ms <= 3 * lease_ms + 4 * _MARGIN_MS:
        return None
    return f"silent for {silence_ms / 1000:.1f} s of a lease of {lease_ms / 1000:g} s"


@rule(
    "lease-not-enforced",
    WARNING,
    LinkBatch,
    text="A link that is silent for the lease of the other node is closed.",
    page="wire reference §5.7, §12.7 N21",
    whole=True,
    screen=TrackedBy("silences"),
    unredacted=True,
)
def lease_not_enforced(batch: LinkBatch, seen: SeenBatch) -> str | None:
    silence_ms, lease_ms = _silence_ms(seen, 1 - batch.direction), _lease_ms(seen.receiver)
    if silence_ms is None or not lease_ms or silence_ms <= 2 * lease_ms + _MARGIN_MS:
        return None
    return (
        f"it continues although the other node was silent for {silence_ms / 1000:.1f} s, "
        f"the other's lease is {lease_ms / 1000:g} s"
    )


@rule(
    "traffic-after-close",
    ERROR,
    LinkBatch,
    text="After CLOSE a node sends nothing more on that link.",
    page="Message Reference, CLOSE; wire reference §5.2",
    screen=Irregular("MESSAGE_OUT_OF_PLACE"),
)
def traffic_after_close(batch: LinkBatch, seen: SeenBatch) -> str | None:
    if _is_low_latency(seen) or _gave_up(batch, seen) or _is_declaring(batch):
        return None
    return _after_close(batch, seen)


@rule(
    "declared-after-close",
    NOTE,
    LinkBatch,
    text="After CLOSE a node sends nothing more. Deployed routers that are closed while many"
    " declare and ask send pending declarations; they are not read.",
    page="Message Reference, CLOSE; SN-107",
    screen=Irregular("MESSAGE_OUT_OF_PLACE"),
)
def declared_after_close(batch: LinkBatch, seen: SeenBatch) -> str | None:
    if _is_low_latency(seen) or _gave_up(batch, seen) or not _is_declaring(batch):
        return None
    return _after_close(batch, seen)


@rule(
    "low-latency-after-close",
    NOTE,
    LinkBatch,
    text="After CLOSE a node sends nothing more. On low-latency links deployed nodes send messages"
    " that were ready before it; they are not read.",
    page="Message Reference, CLOSE; wire reference §9; SN-102",
    screen=Irregular("MESSAGE_OUT_OF_PLACE"),
)
def low_latency_after_close(batch: LinkBatch, seen: SeenBatch) -> str | None:
    return _after_close(batch, seen) if _is_low_latency(seen) else None


@rule(
    "traffic-after-giving-up",
    NOTE,
    LinkBatch,
    text="After CLOSE a node sends nothing more. Deployed nodes that close a full link send the"
    " messages of other queues, and CLOSE again.",
    page="Message Reference, CLOSE; wire reference §6.6; SN-106",
    screen=Irregular("MESSAGE_OUT_OF_PLACE"),
)
def traffic_after_giving_up(batch: LinkBatch, seen: SeenBatch) -> str | None:
    if _is_low_latency(seen) or not _gave_up(batch, seen):
        return None
    return _after_close(batch, seen)


def _is_declaring(batch: LinkBatch) -> bool:
    """Whether a batch has declarations only."""
    for carrier in batch.messages:
        if not isinstance(carrier, Frame):
            return False
        for message in carrier.messages:
            if not isinstance(message, Declare):
                return False
    return True


def _gave_up(batch: LinkBatch, seen: SeenBatch) -> bool:
    return seen.link_facts.close_reason[batch.direction] == CloseReason.UNRESPONSIVE


def _after_close(batch: LinkBatch, seen: SeenBatch) -> str | None:
    packet = seen.link_facts.closed[batch.direction]
    if not packet or not batch.messages or seen.link_facts.is_datagrams:
        return None  # datagrams may be reordered
    return f"{batch.messages[0].NAME} after the CLOSE in packet {packet}"


def _is_low_latency(seen: SeenBatch) -> bool:
    session = seen.facts.session
    return session is not None and bool(session.lowlatency)


@rule(
    "close-reason-unknown",
    WARNING,
    Close,
    text="The reason of a CLOSE is one of those that are defined, 0 to 7.",
    page="wire reference §5.2; SN-37",
)
def close_reason_unknown(message: Close, seen: Seen) -> str | None:
    return None if message.reason < len(CloseReason) else f"reason {message.reason}"
