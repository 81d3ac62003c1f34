"""Stories of multicast groups: members that are refused, silent for too long, or back again.

No message answers a JOIN. A refusal follows from its content: members ignore a JOIN whose
version, resolution or batch size differs from their own (wire reference §8).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zenlake.why.formatting import apart, counted, in_packet, listed
from zenlake.why.group_memberships import Membership
from zenlake.why.network import Network
from zenlake.why.records import Moment
from zenlake.why.story import Story
from zenlake.wire.defaults import PROTOCOL_VERSION

_OTHERS_MAX: Final = 1_000
"""Limit of the members that are compared with each other."""
_NAMED_MAX: Final = 3
_ATTEMPTS_SHOWN: Final = 5


def group_stories(network: Network) -> Iterator[Story]:
    groups: dict[str, list[Membership]] = {}
    for membership in network.evidence.memberships:
        groups.setdefault(membership.session, []).append(membership)
    for memberships in groups.values():
        yield from _refused(network, memberships)
        by_node: dict[str | None, list[Membership]] = {}
        for membership in memberships:
            by_node.setdefault(membership.zid, []).append(membership)
        for several in by_node.values():
            yield from _member_stories(network, several)


def _member_stories(network: Network, memberships: list[Membership]) -> Iterator[Story]:
    for membership, again in zip(memberships, [*memberships[1:], None], strict=True):
        if membership.is_silent:
            yield _silent(network, membership, again)
        if again is not None and membership.ended is not None:
            yield _back(network, membership, membership.ended, again)


def _silent(network: Network, membership: Membership, again: Membership | None) -> Story:
    labels = network.labels
    assert membership.ended is not None
    story = Story("session", "lease_exceeded", membership.ended, session=membership.session)
    story.involve(membership.zid)
    story.culprit = membership.zid
    story.add(
        membership.joined, f"{labels.who(membership.zid)} joins the group {membership.session}"
    )
    story.add(membership.last_sent, f"{labels.who(membership.zid)} sends its last message")
    story.add(
        membership.ended,
        f"its lease of {membership.terms.lease_ms:,} ms is over: it is no longer a member",
    )
    story.cite(membership.joined, membership.last_sent)
    if again is not None:
        story.add_evidence(again.joined, f"{labels.who(membership.zid)} joins again")
    until_ns = network.evidence.last_ns if again is None else again.joined.time_ns
    story.advice.append(
        "Was the silent node frozen, overloaded, or cut off? Did its program end without "
        "session.close()?"
    )
    story.set_headline(
        f"Session of {labels.who(membership.zid)} with the group {membership.session} ended after "
        f"{apart(membership.joined.time_ns, membership.ended.time_ns)}: "
        f"{_why(network, membership, until_ns)}."
    )
    return story


def _why(network: Network, membership: Membership, until_ns: int) -> str:
    who = network.labels.who(membership.zid)
    if membership.is_silent:
        return (
            f"{who} sent nothing for {apart(membership.last_sent.time_ns, until_ns)}, and "
            f"its lease is {membership.terms.lease_ms:,} ms"
        )
    return f"{who} sent CLOSE{in_packet(membership.last_sent)}"


def _back(network: Network, old: Membership, ended: Moment, new: Membership) -> Story:
    labels = network.labels
    story = Story("session", "reconnected", new.joined, session=new.session)
    story.involve(new.zid)
    story.add(old.last_sent, _why(network, old, new.joined.time_ns))
    story.add(new.joined, f"{labels.who(new.zid)} joins the group {new.session} again")
    story.cite(old.last_sent, new.joined)
    story.set_headline(
        f"{labels.who(new.zid)} and the group {new.session} are connected again after "
        f"{apart(ended.time_ns, new.joined.time_ns)}. Why: "
        f"{_why(network, old, new.joined.time_ns)}."
    )
    return story


def _refused(network: Network, memberships: list[Membership]) -> Iterator[Story]:
    """One story for each member and difference. Usually all have the same terms."""
    if len({one.terms.common for one in memberships}) == 1:
        return
    refused: dict[tuple[str | None, str], list[Membership]] = {}
    against: dict[tuple[str | None, str], list[Membership]] = {}
    for membership in memberships[:_OTHERS_MAX]:
        others = [
            one
            for one in memberships[:_OTHERS_MAX]
            if one.zid != membership.zid and one.overlaps(membership)
        ]
        for what in ("version", "resolution", "batch_size"):
            same = [
                membership,
                *(one for one in others if _value(one, what) == _value(membership, what)),
            ]
            refusing = [one for one in others if _value(one, what) != _value(membership, what)]
            if refusing and _is_odd(same, refusing, what):
                refused.setdefault((membership.zid, what), []).append(membership)
                against.setdefault((membership.zid, what), []).extend(refusing)
                break
    for place, attempts in refused.items():
        yield _refused_story(network, place[1], attempts, against[place])


def _value(membership: Membership, what: str) -> int | str:
    value: int | str = getattr(membership.terms, what)
    return value


def _is_odd(same: list[Membership], refusing: list[Membership], what: str) -> bool:
    """Whether `same` are to blame: another protocol version, the minority, or the later ones."""
    if what == "version":
        return same[0].terms.version != PROTOCOL_VERSION
    if len(same) != len(refusing):
        return len(same) < len(refusing)
    return min(one.joined for one in same) > min(one.joined for one in refusing)


def _refused_story(
    network: Network, what: str, attempts: list[Membership], refusing: list[Membership]
) -> Story:
    labels, first = network.labels, attempts[0]
    cause = "refused_version" if what == "version" else "refused"
    story = Story("session", cause, first.joined, session=first.session)
    zids = list(dict.fromkeys(one.zid for one in refusing))
    story.involve(first.zid, *zids)
    story.culprit = first.zid
    for membership in attempts[:_ATTEMPTS_SHOWN]:
        story.add_evidence(
            membership.joined,
            f"{labels.who(membership.zid)} sends JOIN: {_terms(membership, what)}",
        )
    for zid in zids[:_NAMED_MAX]:
        other = next(one for one in refusing if one.zid == zid)
        story.add_evidence(other.joined, f"{labels.who(zid)} sends JOIN: {_terms(other, what)}")
    names = [labels.who(zid) for zid in zids[:_NAMED_MAX]]
    if len(zids) > _NAMED_MAX:
        names.append(counted(len(zids) - _NAMED_MAX, "other"))
    times = "" if len(attempts) == 1 else f" {counted(len(attempts), 'time')}"
    story.advice.append(_ADVICE[what])
    verb = "has" if len(zids) == 1 else "have"
    story.set_headline(
        f"Session of {labels.who(first.zid)} with the group {first.session} was refused{times} at "
        f"JOIN{in_packet(first.joined)}: its JOIN says {_terms(first, what)}, and {listed(names)} "
        f"{verb} {_terms(refusing[0], what)}. They ignore each other."
    )
    return story


def _terms(membership: Membership, what: str) -> str:
    if what == "version":
        return f"version {membership.terms.version} of the protocol"
    if what == "batch_size":
        return f"batches of {membership.terms.batch_size:,} bytes"
    return f"a resolution of {membership.terms.resolution}"


_ADVICE: Final = {
    "version": "Use a release of Zenoh 1.x: its protocol has version 9.",
    "resolution": "All members need the same transport/link/tx/sequence_number_resolution.",
    "batch_size": "All members need the same transport/link/tx/batch_size (zenoh-pico: "
    "Z_BATCH_MULTICAST_SIZE).",
}
