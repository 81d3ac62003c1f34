"""Stories of sessions, from real traffic: refused, lost, frozen, connected again, a dead router."""

from __future__ import annotations

from functools import cache

import pytest

from tests.trace.recorded_sessions import TRUTH, path_of
from tests.why.evidence_by_hand import ASKER, ROUTER, SERVER, A, B, declared, evidence
from zenlake.trace.session_ends import SessionEnd
from zenlake.why import CaptureStories, Evidence, Scope, Story, report
from zenlake.why.from_capture import read_capture
from zenlake.why.records import SessionRecord


@cache
def report_of(name: str) -> CaptureStories:
    return report(read_capture(path_of(name), Scope()), Scope())


def stories_of(name: str, cause: str) -> list[Story]:
    return [one for one in report_of(name).stories if one.cause == cause]


def test_wrong_credentials_are_reported_with_the_step() -> None:
    found = stories_of("refused_password", "refused_authentication")
    steps = ["OPEN_SYN", "OPEN_SYN", "INIT_SYN"]
    assert [f"refused at {step}:" in one.headline for one, step in zip(found, steps, strict=True)]
    assert [one.packets for one in found] == [[19], [31], [40]]
    assert all(one.failed for one in found)


def test_refusals_by_limit_and_version_are_explained() -> None:
    [limit] = stories_of("refused_sessions", "refused_limit")
    assert limit.packets == [19]
    assert any("has 1 open session" in step.text for step in limit.steps)
    versions = stories_of("refused_version", "refused_version")
    assert ["version 8" in versions[0].headline, "version 10" in versions[1].headline] == [
        True,
        True,
    ]


@pytest.mark.parametrize("name", ["killed_and_frozen", "killed_and_frozen_1_0"])
def test_a_killed_and_a_frozen_client_and_their_return(name: str) -> None:
    truth = TRUTH[name]
    [killed] = stories_of(name, "session_lost")
    assert (killed.culprit, killed.failed) == (truth["killed"], True)
    assert "1 token (t/a), 1 queryable (q/a) and 1 query in flight (q/a)" in killed.headline
    [frozen] = stories_of(name, "lease_exceeded")
    assert frozen.culprit == truth["frozen"]
    assert "its lease is 3,000 ms" in frozen.headline
    again = stories_of(name, "reconnected")
    assert [one.nodes[0] for one in again] == [truth["killed"], truth["frozen"]]
    assert not any(one.failed for one in again)


def test_a_dead_router_is_one_story_with_all_that_depended_on_it() -> None:
    truth = TRUTH["router_killed"]
    [first] = stories_of("router_killed", "router_died")
    assert report_of("router_killed").counts["session"]["router_died"] == 2, "in the end all died"
    assert (first.culprit, first.packets[-3:]) == (truth["killed"], [91, 93, 109])
    assert "all of its 2 sessions ended without CLOSE" in first.headline
    assert "1 token (t/a), 1 queryable (q/a)" in first.headline
    assert "and 1 query in flight (q/a)" in first.headline
    assert "2 nodes were connected to it again, the first after 7,0" in first.headline
    undeclared = [step.text for step in first.steps if "undeclares token t/a" in step.text]
    assert len(undeclared) == 1
    assert stories_of("router_killed", "session_lost") == []


def test_a_packet_and_a_key_choose_sessions() -> None:
    path = path_of("killed_and_frozen")
    at = report(read_capture(path, Scope(packet=70)), Scope(packet=70)).stories
    assert "session_lost" in {one.cause for one in at}
    key = Scope(key="t/b")
    causes = {one.cause for one in report(read_capture(path, key), key).stories}
    assert "lease_exceeded" in causes
    assert "session_lost" not in causes


END = SessionEnd(
    "lost", "OPEN_ACK", 9, "", "fin", "acceptor", 50, None, 1e4, 1e4, 10.0, 10.0, False
)


def session(id: str, zid: str, closed: float | None, end: SessionEnd | None) -> SessionRecord:
    closed_ns = None if closed is None else int(closed * 1e6)
    outcome = "open" if end is None else end.outcome
    made = SessionRecord(id, zid, ROUTER, 0, closed_ns, outcome, None, "tcp")
    made.end = end or END._replace(outcome="open", ended_by=None, ender=None)
    return made


def with_sessions(*sessions: SessionRecord, **more: object) -> Evidence:
    return evidence(sessions={one.id: one for one in sessions}, **more)


def failed(made: Evidence) -> set[str]:
    return {one.cause for one in report(made, Scope()).stories if one.subject == "session"}


def counts(made: Evidence) -> dict[str, int]:
    """Sessions whose end affected no other node are notes, which are only counted."""
    return dict(report(made, Scope()).counts.get("session", {}))


def test_one_session_of_two_does_not_kill_the_router() -> None:
    made = with_sessions(session(A, ASKER, 50, END), session(B, SERVER, None, None))
    assert (counts(made), failed(made)) == ({"session_lost": 1}, set())
    both = with_sessions(session(A, ASKER, 50, END), session(B, SERVER, 51, END))
    assert (counts(both), failed(both)) == ({"router_died": 1}, {"router_died"})


def test_two_clients_that_leave_at_once_do_not_kill_the_router() -> None:
    left = END._replace(ender="opener")
    made = with_sessions(session(A, ASKER, 50, left), session(B, SERVER, 51, left))
    assert (counts(made), failed(made)) == ({"session_lost": 2}, set())


def test_a_lost_session_has_failed_where_something_went_with_it() -> None:
    left = END._replace(ender="opener")
    entity = declared("queryable", "k/a", 5, ended=50)
    entity.ended_by = "session"
    made = with_sessions(session(B, SERVER, 50, left), declarations=[entity])
    assert failed(made) == {"session_lost"}
    made.last_ns = int(60e6)
    assert failed(made) == set(), "at the end of a recording programs are stopped"


def test_an_ordinary_close_is_no_story() -> None:
    closed = END._replace(outcome="closed", ended_by="close", close_reason="generic")
    assert counts(with_sessions(session(A, ASKER, 50, closed))) == {}
