"""Stories of multicast groups: members that are refused, silent for too long, or back again.

Nobody answers a JOIN. That a member is refused shows in what it says of itself: the others ignore
a JOIN whose version, resolution or batch size is not their own (wire reference §8).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zenlake.why.network import Network
from zenlake.why.records import Moment
from zenlake.why.stays import Stay
from zenlake.why.story import Story
from zenlake.why.words import apart, counted, listed
from zenlake.wire.defaults import PROTOCOL_VERSION

_OTHERS_MAX: Final = 1_000
"""Members that one is compared with."""
_NAMED_MAX: Final = 3
_ATTEMPTS_SHOWN: Final = 5


def group_stories(network: Network) -> Iterator[Story]:
    groups: dict[str, list[Stay]] = {}
    for stay in network.evidence.stays:
        groups.setdefault(stay.session, []).append(stay)
    for stays in groups.values():
        yield from _refused(network, stays)
        by_node: dict[str | None, list[Stay]] = {}
        for stay in stays:
            by_node.setdefault(stay.zid, []).append(stay)
        for several in by_node.values():
            yield from _of_member(network, several)


def _of_member(network: Network, stays: list[Stay]) -> Iterator[Story]:
    for stay, again in zip(stays, [*stays[1:], None], strict=True):
        if stay.is_silent:
            yield _silent(network, stay, again)
        if again is not None and stay.ended is not None:
            yield _back(network, stay, stay.ended, again)


def _silent(network: Network, stay: Stay, again: Stay | None) -> Story:
    words = network.words
    assert stay.ended is not None
    story = Story("session", "lease_exceeded", "", stay.ended, session=stay.session)
    story.involve(stay.zid)
    story.culprit = stay.zid
    story.add(stay.joined, f"{words.who(stay.zid)} joins the group {stay.session}")
    story.add(stay.heard, f"{words.who(stay.zid)} is heard for the last time")
    story.add(stay.ended, f"its lease of {stay.terms.lease_ms:,} ms is over: it is no member now")
    story.show(stay.joined, stay.heard)
    if again is not None:
        story.add(again.joined, f"{words.who(stay.zid)} joins again")
        story.show(again.joined)
    until_ns = network.evidence.last_ns if again is None else again.joined.time_ns
    story.advice.append(
        "Was the silent node frozen, overloaded, or cut off? Did its program end without "
        "session.close()?"
    )
    story.tell(
        f"Session of {words.who(stay.zid)} with the group {stay.session} ended after "
        f"{apart(stay.joined.time_ns, stay.ended.time_ns)}: {_why(network, stay, until_ns)}."
    )
    return story


def _why(network: Network, stay: Stay, until_ns: int) -> str:
    who = network.words.who(stay.zid)
    if stay.is_silent:
        return (
            f"{who} sent nothing for {apart(stay.heard.time_ns, until_ns)}, and its lease is "
            f"{stay.terms.lease_ms:,} ms"
        )
    packet = stay.heard.packet
    return f"{who} sent CLOSE" + ("" if packet is None else f" (packet {packet})")


def _back(network: Network, old: Stay, ended: Moment, new: Stay) -> Story:
    words = network.words
    story = Story("session", "reconnected", "", new.joined, session=new.session)
    story.involve(new.zid)
    story.add(old.heard, _why(network, old, new.joined.time_ns))
    story.add(new.joined, f"{words.who(new.zid)} joins the group {new.session} again")
    story.show(old.heard, new.joined)
    story.tell(
        f"{_capital(words.who(new.zid))} and the group {new.session} are connected again after "
        f"{apart(ended.time_ns, new.joined.time_ns)}. Why: "
        f"{_why(network, old, new.joined.time_ns)}."
    )
    return story


def _refused(network: Network, stays: list[Stay]) -> Iterator[Story]:
    """One story for each member and difference; as a rule all have the same terms."""
    if len({one.terms.common for one in stays}) == 1:
        return
    told: dict[tuple[str | None, str], list[Stay]] = {}
    against: dict[tuple[str | None, str], list[Stay]] = {}
    for stay in stays[:_OTHERS_MAX]:
        others = [one for one in stays[:_OTHERS_MAX] if one.zid != stay.zid and one.overlaps(stay)]
        for what in ("version", "resolution", "batch_size"):
            same = [stay, *(one for one in others if _value(one, what) == _value(stay, what))]
            refusing = [one for one in others if _value(one, what) != _value(stay, what)]
            if refusing and _is_odd(same, refusing, what):
                told.setdefault((stay.zid, what), []).append(stay)
                against.setdefault((stay.zid, what), []).extend(refusing)
                break
    for place, attempts in told.items():
        yield _told_refused(network, place[1], attempts, against[place])


def _value(stay: Stay, what: str) -> int | str:
    value: int | str = getattr(stay.terms, what)
    return value


def _is_odd(same: list[Stay], refusing: list[Stay], what: str) -> bool:
    """Whether these are the ones to look at: another version than ours, fewer members, or later."""
    if what == "version":
        return same[0].terms.version != PROTOCOL_VERSION
    if len(same) != len(refusing):
        return len(same) < len(refusing)
    return min(one.joined for one in same) > min(one.joined for one in refusing)


def _told_refused(network: Network, what: str, attempts: list[Stay], refusing: list[Stay]) -> Story:
    words, first = network.words, attempts[0]
    cause = "refused_version" if what == "version" else "refused"
    story = Story("session", cause, "", first.joined, session=first.session)
    zids = list(dict.fromkeys(one.zid for one in refusing))
    story.involve(first.zid, *zids)
    story.culprit = first.zid
    for stay in attempts[:_ATTEMPTS_SHOWN]:
        story.add(stay.joined, f"{words.who(stay.zid)} sends JOIN: {_terms(stay, what)}")
        story.show(stay.joined)
    for zid in zids[:_NAMED_MAX]:
        other = next(one for one in refusing if one.zid == zid)
        story.add(other.joined, f"{words.who(zid)} sends JOIN: {_terms(other, what)}")
        story.show(other.joined)
    names = [words.who(zid) for zid in zids[:_NAMED_MAX]]
    if len(zids) > _NAMED_MAX:
        names.append(counted(len(zids) - _NAMED_MAX, "other"))
    times = "" if len(attempts) == 1 else f" {counted(len(attempts), 'time')}"
    story.advice.append(_ADVICE[what])
    place = "" if first.joined.packet is None else f" (packet {first.joined.packet})"
    verb = "has" if len(zids) == 1 else "have"
    story.tell(
        f"Session of {words.who(first.zid)} with the group {first.session} was refused{times} at "
        f"JOIN{place}: its JOIN says {_terms(first, what)}, and {listed(names)} {verb} "
        f"{_terms(refusing[0], what)}. They ignore each other."
    )
    return story


def _terms(stay: Stay, what: str) -> str:
    if what == "version":
        return f"version {stay.terms.version} of the protocol"
    if what == "batch_size":
        return f"batches of {stay.terms.batch_size:,} bytes"
    return f"a resolution of {stay.terms.resolution}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


_ADVICE: Final = {
    "version": "Use a release of Zenoh 1.x: its protocol has version 9.",
    "resolution": "All members need the same transport/link/tx/sequence_number_resolution.",
    "batch_size": "All members need the same transport/link/tx/batch_size (zenoh-pico: "
    "Z_BATCH_MULTICAST_SIZE).",
}
