"""Stories of sessions: refused, lost, silent for too long, connected again.

`trace/session_ends.py` determines the cause from a single session, for the tables too. This module
adds what other sessions show, and the declarations and queries that depended on the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zenlake.trace.session_ends import OPENER, SessionEnd, cause_of, reason_of
from zenlake.why.dependents import dependents_of
from zenlake.why.formatting import apart, counted
from zenlake.why.network import Network
from zenlake.why.records import Moment, SessionRecord
from zenlake.why.story import Story

_ATTEMPTS_SHOWN: Final = 5
_OTHERS_MAX: Final = 1_000
"""Limit of the sessions of a node that are counted for each refused one."""
_LAST_NS: Final = 1_000_000_000


def session_cause(session: SessionRecord) -> str | None:
    return None if session.end is None else cause_of(session.end)


def side_zid(session: SessionRecord, side: str | None) -> str | None:
    """The node on one side of a session."""
    if side is None:
        return None
    return session.opener if side == OPENER else session.acceptor


def reason_text(network: Network, session: SessionRecord) -> str:
    def who(side: str) -> str:
        zid = side_zid(session, side)
        return f"the {side}" if zid is None else network.labels.who(zid)

    assert session.end is not None
    return reason_of(session.end, who) or "it is open"


def session_stories(network: Network, explained: set[str]) -> Iterator[Story]:
    """Stories of all sessions that are not in `explained`."""
    refused: dict[tuple[str | None, ...], list[SessionRecord]] = {}
    for session in in_order(network):
        cause = session_cause(session)
        if session.id in explained or cause is None:
            continue
        if session.outcome == "refused":
            place = (cause, session.opener, session.acceptor, _step(session))
            refused.setdefault(place, []).append(session)
        else:
            yield _ended(network, session, cause)
    for attempts in refused.values():
        yield _refused(network, attempts)
    yield from _reconnected(network)


def in_order(network: Network) -> list[SessionRecord]:
    found = network.evidence.sessions.values()
    return sorted(found, key=lambda one: (one.start_ns, one.id))


def _step(session: SessionRecord) -> str | None:
    return None if session.end is None else session.end.step


def end_moment(session: SessionRecord) -> Moment:
    packet = None if session.end is None else session.end.end_packet
    return Moment(session.closed_ns or session.start_ns, packet)


def _refused(network: Network, attempts: list[SessionRecord]) -> Story:
    """One story for all attempts that were refused in the same way."""
    labels, first = network.labels, attempts[0]
    cause = session_cause(first) or "refused"
    at = end_moment(first)
    story = Story("session", cause, at, session=first.id)
    story.involve(first.opener, first.acceptor)
    for session in attempts[:_ATTEMPTS_SHOWN]:
        end = end_moment(session)
        story.add(Moment(session.start_ns, None), f"{labels.who(session.opener)} connects")
        story.add_evidence(end, reason_text(network, session))
    assert first.end is not None
    story.culprit = first.opener if cause != "refused" else side_zid(first, first.end.ender)
    story.advice += _ADVICE.get(cause, ())
    if cause == "refused_limit" and len(network.sessions_of(first.acceptor)) <= _OTHERS_MAX:
        _add_other_sessions(network, first, story)
    elif cause == "refused" and _had_left(network, first):
        story.is_note = True  # a client that retries while its router is down
    times = "" if len(attempts) == 1 else f" {counted(len(attempts), 'time')}"
    target = "the acceptor" if first.acceptor is None else labels.who(first.acceptor)
    story.set_headline(
        f"Session of {labels.who(first.opener)} with {target} was refused{times} at "
        f"{first.end.step or 'its start'}: {reason_text(network, first)}."
    )
    return story


def _add_other_sessions(network: Network, session: SessionRecord, story: Story) -> None:
    """Adds how many sessions the acceptor had, and whether the same id was connected already."""
    others = [
        one
        for one in network.sessions_of(session.acceptor)
        if one.is_open
        and one.start_ns < session.start_ns
        and (one.closed_ns is None or one.closed_ns > session.start_ns)
    ]
    who = network.labels.who(session.acceptor)
    at = Moment(session.start_ns, None)
    story.add(at, f"{who} has {counted(len(others), 'open session')} in this capture")
    if any(session.opener in (one.opener, one.acceptor) for one in others):
        story.advice.insert(
            0,
            f"{network.labels.who(session.opener)} is connected already: are two ids the same?",
        )


def _had_left(network: Network, session: SessionRecord) -> bool:
    """Whether the opener had a session before that another node ended."""
    before = network.sessions_of(session.opener)[:_OTHERS_MAX]
    return any(
        one.closed_ns is not None and one.is_open and one.closed_ns <= session.start_ns
        for one in before
    )


def _ended(network: Network, session: SessionRecord, cause: str) -> Story:
    labels, end = network.labels, end_moment(session)
    story = Story("session", cause, end, session=session.id)
    story.involve(session.opener, session.acceptor)
    known = session.end
    assert known is not None
    story.culprit = side_zid(session, known.silent or known.ender)
    pair = f"{labels.who(session.opener)} with {labels.who(session.acceptor)}"
    story.add(Moment(session.start_ns, None), f"the session of {pair} begins")
    _add_last_message(network, session, known, story)
    story.add_evidence(end, reason_text(network, session))
    lost = dependents_of(network, {session.id})
    lost.add_to(story, network, end.time_ns)
    again = network.next_session(session)
    if again is not None:
        story.add(Moment(again.start_ns, None), f"{labels.who(session.opener)} connects again")
    # A program that exits without closing its session cannot be distinguished from a crash.
    is_missed = again is not None or (lost and not is_last(network, end.time_ns))
    story.is_note = cause == "session_lost" and not lost.queries and not is_missed
    story.advice += _ADVICE.get(cause, ())
    lasted = apart(session.start_ns, end.time_ns)
    with_it = f". This ended {lost.text()}" if lost else ""
    story.set_headline(
        f"Session of {pair} ended after {lasted}: {reason_text(network, session)}{with_it}."
    )
    return story


def is_last(network: Network, time_ns: int) -> bool:
    """Whether the capture ends soon after: programs are often stopped together with the capture."""
    return network.evidence.last_ns - time_ns <= _LAST_NS


def _add_last_message(
    network: Network, session: SessionRecord, known: SessionEnd, story: Story
) -> None:
    zid = side_zid(session, known.silent)
    silence = known.opener_silent_ms if known.silent == OPENER else known.acceptor_silent_ms
    if zid is not None and silence is not None and session.closed_ns is not None:
        at = Moment(session.closed_ns - int(silence * 1e6), None)
        story.add(at, f"{network.labels.who(zid)} sends its last message")


def _reconnected(network: Network) -> Iterator[Story]:
    """Sessions of two nodes that had one before."""
    labels = network.labels
    for old in in_order(network):
        new = network.next_session(old) if old.is_open else None
        if new is None or old.end is None or old.closed_ns is None:
            continue
        story = Story("session", "reconnected", Moment(new.start_ns, None), session=new.id)
        story.involve(new.opener, new.acceptor)
        end = end_moment(old)
        story.add_evidence(end, reason_text(network, old))
        pair = f"{labels.who(new.opener)} to {labels.who(new.acceptor)}"
        story.add(Moment(new.start_ns, None), f"{pair}: connected again")
        before = {
            (one.sender, one.entity, one.key)
            for one in network.declared_in(old.id)
            if one.ended_by == "session"
        }
        after = {(one.sender, one.entity, one.key) for one in network.declared_in(new.id)}
        again = f"; {len(before & after):,} of {counted(len(before), 'declaration')} made again"
        story.set_headline(
            f"{labels.who(new.opener)} and {labels.who(new.acceptor)} are connected again "
            f"after {apart(old.closed_ns, new.start_ns)}. Why: {reason_text(network, old)}"
            f"{again if before else ''}."
        )
        yield story


_ADVICE: Final[dict[str, tuple[str, ...]]] = {
    "refused_authentication": (
        "Compare transport/auth/usrpwd on both sides: user, password, dictionary_file.",
    ),
    "refused_version": ("Use a release of Zenoh 1.x: its protocol has version 9.",),
    "refused_limit": (
        "Look at transport/unicast/max_sessions and max_links of the acceptor, and for nodes that "
        "have the same id.",
    ),
    "refused": ("Is a node listening there? Look at the logs of both nodes for the reason.",),
    "lease_exceeded": (
        "Was the silent node frozen, overloaded, or cut off? Compare transport/link/tx/lease and "
        "keep_alive on both sides.",
    ),
    "unresponsive": ("A node reads too slowly: see wait_before_close, or send less.",),
    "session_lost": (
        "Did the program crash, or end without session.close()? Look at its log at this time.",
    ),
    "capture_incomplete": (),
}
