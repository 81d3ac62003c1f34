"""Stories of routers that disappeared: all their sessions ended at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zenlake.why.dependents import dependents_of
from zenlake.why.formatting import apart, counted, packets_text
from zenlake.why.network import Network
from zenlake.why.records import Moment, SessionRecord
from zenlake.why.session_story import (
    end_moment,
    is_last,
    reason_text,
    session_cause,
    side_zid,
)
from zenlake.why.story import Story

_TOGETHER_NS: Final = 2_000_000_000
"""The connections of a dead process end within this time, also as captured at several places."""
_SESSIONS_SHOWN: Final = 5
_ENDS_MAX: Final = 1_000
"""Limit of the ended sessions of one router: each is compared with all others."""


def router_stories(network: Network, explained: set[str]) -> Iterator[Story]:
    """Stories of routers that disappeared. Adds their sessions to `explained`."""
    for zid in sorted(zid for zid, role in network.evidence.roles.items() if role == "router"):
        sessions = [one for one in network.sessions_of(zid) if one.is_open]
        ended = [one for one in sessions if one.closed_ns and _is_fault_of(zid, one)]
        ended.sort(key=lambda one: (one.closed_ns or 0, one.id))
        for first in ended[:_ENDS_MAX]:
            if first.id in explained:
                continue
            gone = _gone_with(zid, first, sessions)
            if len(gone) > 1:
                explained.update(one.id for one in gone)
                yield _story(network, zid, gone)


def _gone_with(
    zid: str, first: SessionRecord, sessions: list[SessionRecord]
) -> list[SessionRecord]:
    """All sessions of the router when the first one ended; empty if one of them continued."""
    assert first.closed_ns is not None
    gone = []
    for one in sessions:
        if one.start_ns > first.closed_ns or (one.closed_ns or first.closed_ns) < first.closed_ns:
            continue
        if one.closed_ns is None or one.closed_ns > first.closed_ns + _until_ns(one):
            return []
        if not _is_fault_of(zid, one):
            return []
        gone.append(one)
    return gone


def _until_ns(session: SessionRecord) -> int:
    end = session.end
    if end is None or session_cause(session) != "lease_exceeded":
        return _TOGETHER_NS
    leases = (end.opener_lease_ms, end.acceptor_lease_ms)
    return _TOGETHER_NS + int(max(lease or 0 for lease in leases) * 1e6)


def _is_fault_of(zid: str, session: SessionRecord) -> bool:
    """Whether this node ended the connection without CLOSE, or fell silent."""
    end = session.end
    if end is None or session_cause(session) not in ("session_lost", "lease_exceeded"):
        return False
    return side_zid(session, end.silent or end.ender) == zid


def _story(network: Network, zid: str, gone: list[SessionRecord]) -> Story:
    labels = network.labels
    gone.sort(key=lambda one: (one.closed_ns or 0, one.id))
    ends = [end_moment(one) for one in gone]
    at = ends[0]
    story = Story("session", "router_died", at, session=gone[0].id, culprit=zid)
    story.involve(zid)
    for session, end in list(zip(gone, ends, strict=True))[:_SESSIONS_SHOWN]:
        story.involve(session.other(zid))
        story.add_evidence(
            end, f"{labels.who(session.other(zid))}: {reason_text(network, session)}"
        )
    lost = dependents_of(network, {one.id for one in gone})
    lost.add_to(story, network, at.time_ns)
    back, is_back = _back(network, zid, gone, story)
    story.is_note = not lost.queries and not is_back and is_last(network, at.time_ns)
    with_it = f". This ended {lost.text()}" if lost else ""
    packets = [end.packet for end in ends if end.packet is not None]
    place = f", {packets_text(packets)}" if packets else ""
    silent = ""
    if any(session_cause(one) == "lease_exceeded" for one in gone):
        silent = "it was silent for longer than its lease, and "
    story.set_headline(
        f"{labels.who(zid)} disappeared at {labels.since(at.time_ns)}: {silent}"
        f"all of its {len(gone)} sessions ended without CLOSE within "
        f"{apart(at.time_ns, ends[-1].time_ns)}{place}{with_it}. {back}."
    )
    story.advice += [
        f"Look at {labels.who(zid)}: did it crash, was it killed, did its machine lose power?",
        "Give clients several endpoints (connect/endpoints), or connect routers by a second path.",
    ]
    return story


def _back(network: Network, zid: str, gone: list[SessionRecord], story: Story) -> tuple[str, bool]:
    """A sentence about nodes that connected to it again, and whether any did."""
    labels = network.labels
    again = [(one, new) for one in gone if (new := network.next_session(one)) is not None]
    for old, new in again[:_SESSIONS_SHOWN]:
        at = Moment(new.start_ns, None)
        story.add(at, f"{labels.who(old.other(zid))} and {labels.who(zid)} are connected again")
    if not again:
        return "No node connected to it again in this capture", False
    first_ns = min(new.start_ns for _, new in again)
    after = apart(gone[0].closed_ns or 0, first_ns)
    nodes = counted(len(again), "node was", "nodes were")
    return f"{nodes} connected to it again, the first after {after}", True
