"""Rules about messages in fragments."""

from __future__ import annotations

from typing import Final

from zenlake.rules.facts import Ending, OpenFragments, Seen, SeenGap
from zenlake.rules.rule import ERROR, NOTE, WARNING, rule
from zenlake.rules.screens import Condition, Irregular
from zenlake.trace.channel import channel_key
from zenlake.trace.events import Undecoded
from zenlake.wire import Fragment, Frame

_SENDING_NS: Final = 6_000_000_000
"""A node closes a link that was full for 5 s; timers are not exact."""


@rule(
    "fragment-without-first",
    ERROR,
    Fragment,
    text="With patch 1, the first fragment of a message has the extension First.",
    page="wire reference §7; SN-34",
    whole=True,
    screen=Irregular("FRAGMENTS"),
)
def fragment_without_first(message: Fragment, seen: Seen) -> str | None:
    if seen.link_facts.is_datagrams or seen.event.ignored != "its first fragment is not here":
        return None
    return f"fragment {message.sn} follows no first one"


@rule(
    "fragments-interrupted",
    ERROR,
    Frame,
    Fragment,
    text="Between the fragments of a message nothing else is sent in its channel.",
    page="wire reference §7",
    whole=True,
    screen=Irregular("FRAGMENTS"),
)
def fragments_interrupted(message: Frame | Fragment, seen: Seen) -> str | None:
    if not seen.sender.fragments or seen.sender.gave_up:
        return None
    waiting = _interrupted(message, seen)
    if waiting is None:
        return None
    packet = waiting.place.packet
    return f"{message.NAME} {message.sn} after the fragment in packet {packet}, which has more"


@rule(
    "fragments-abandoned",
    NOTE,
    Frame,
    Fragment,
    text="A sender that abandons a message in fragments sends Drop. Deployed nodes send an empty"
    " batch instead.",
    page="wire reference §7; SN-34",
    whole=True,
    screen=Irregular("EMPTY_BATCH"),
)
def fragments_abandoned(message: Frame | Fragment, seen: Seen) -> str | None:
    if not seen.sender.fragments or not seen.sender.gave_up:
        return None
    waiting = _interrupted(message, seen)
    return None if waiting is None else f"the message of packet {waiting.place.packet} has no end"


def _interrupted(message: Frame | Fragment, seen: Seen) -> OpenFragments | None:
    """The incomplete message in whose channel this FRAME or first fragment comes."""
    if seen.link_facts.is_datagrams or seen.event.ignored is not None:
        return None
    if isinstance(message, Fragment) and (not message.first or message.drop):
        return None
    return seen.sender.fragments.get(channel_key(message))


@rule(
    "fragment-out-of-order",
    ERROR,
    Fragment,
    text="The fragments of a message have consecutive sequence numbers.",
    page="wire reference §7",
    whole=True,
    screen=Irregular("SEQUENCE"),
)
def fragment_out_of_order(message: Fragment, seen: Seen) -> str | None:
    if seen.link_facts.is_datagrams or seen.event.ignored != "a fragment before it is missing":
        return None
    return f"fragment {message.sn} does not follow the one before"


@rule(
    "fragments-without-end",
    ERROR,
    OpenFragments,
    text="A message in fragments is sent completely or abandoned with Drop, at the latest when a"
    " node closes a full link.",
    page="wire reference §7; behaviour reference §2.10",
    whole=True,
    screen=Irregular("FRAGMENTS"),
)
def fragments_without_end(waiting: OpenFragments, end: Ending) -> str | None:
    waited_ns = _closed_after_ns(waiting, end)
    if waited_ns is None or waited_ns <= _SENDING_NS:
        return None
    return f"CLOSE came {waited_ns / 1e9:.1f} s later, before the last fragment"


@rule(
    "fragments-cut-by-close",
    NOTE,
    OpenFragments,
    text="A message in fragments is sent completely before CLOSE. Deployed nodes that close while"
    " they send do not complete it.",
    page="wire reference §7; SN-103",
    whole=True,
    screen=Irregular("FRAGMENTS"),
)
def fragments_cut_by_close(waiting: OpenFragments, end: Ending) -> str | None:
    waited_ns = _closed_after_ns(waiting, end)
    if waited_ns is None or waited_ns > _SENDING_NS:
        return None
    return "CLOSE came before the last fragment"


def _closed_after_ns(waiting: OpenFragments, end: Ending) -> int | None:
    """How long after the last fragment its sender sent CLOSE; None if it sent none."""
    if end.closed_by is None or end.closed_by is not waiting.place.node:
        return None
    return end.time_ns - waiting.place.time_ns


@rule(
    "fragments-undecodable",
    ERROR,
    Undecoded,
    text="The fragments of a message contain exactly one network message.",
    page="wire reference §7",
    whole=True,
    screen=Irregular("FRAGMENTS"),
)
def fragments_undecodable(undecoded: Undecoded, seen: SeenGap) -> str | None:
    if not undecoded.cause.startswith("in fragments"):
        return None
    return f"{undecoded.bytes} bytes {undecoded.cause}"


@rule(
    "fragment-empty",
    WARNING,
    Fragment,
    text="A fragment carries a part of a message.",
    page="Message Reference, FRAGMENT; wire reference §7",
    screen=Condition("payload_length == 0"),
    unredacted=True,
)
def fragment_empty(message: Fragment, seen: Seen) -> str | None:
    return None if message.payload or message.drop else f"fragment {message.sn} is empty"


@rule(
    "fragment-marked-without-patch",
    NOTE,
    Fragment,
    text="First and Drop are for sessions that agreed on patch 1. Deployed nodes always send"
    " First.",
    page="wire reference §5.3, §7; SN-34",
    whole=True,
    screen=Condition("(fragment_first or fragment_drop) and agreed.patch == 0"),
)
def fragment_marked_without_patch(message: Fragment, seen: Seen) -> str | None:
    session = seen.facts.session
    if not (message.first or message.drop) or session is None or session.patch != 0:
        return None
    return f"{'First' if message.first else 'Drop'} with patch 0"
