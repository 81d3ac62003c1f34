"""Details of stories: what counts as a reply, what to try, and what is shown once."""

from __future__ import annotations

from io import StringIO

import pytest

from tests.trace.sidecar import PATHS
from tests.why.evidence_by_hand import (
    ASKER,
    SERVER,
    A,
    asked,
    at,
    declared,
    error,
    evidence,
    lost,
    only,
    passed,
    reply,
    stories,
)
from zenlake.cli.why_text import ReportText
from zenlake.why import Evidence, Scope, report
from zenlake.why.formatting import answers_text
from zenlake.why.from_capture import read_capture
from zenlake.why.records import QueryHop


@pytest.mark.parametrize(
    ("replies", "errors", "text"),
    [(0, 0, "no reply"), (1, 0, "1 reply"), (2, 1, "2 replies and 1 error"), (0, 2, "2 errors")],
)
def test_errors_are_no_replies(replies: int, errors: int, text: str) -> None:
    assert answers_text(replies, errors) == text


def test_headline_counts_an_error_beside_a_reply() -> None:
    query = asked(10, replies=[reply(12), error(13, "no")], final=at(14))
    assert "answered with 1 reply and 1 error in 4.0 ms" in only(evidence(queries=[query])).headline


def test_node_that_answered_and_was_not_to_blame() -> None:
    query = asked(10, timeout_ms=100.0)
    good = passed(query, 11, replies=[reply(12), error(13, "no")], final=at(14))
    bad = passed(query, 11, request_id=2, responder="dddd04", session="other#1")
    story = only(evidence(queries=[query, good, bad]))
    assert "answered (1 reply and 1 error, packet 12) and finalised" in story.headline


def test_node_that_holds_a_query_sent_an_error() -> None:
    query = asked(10, timeout_ms=100.0)
    held = passed(query, 11, replies=[error(12, "no")])
    story = only(evidence(queries=[query, held]))
    assert story.cause == "final_missing"
    assert "answered (1 error, packet 12) and never sent its RESPONSE_FINAL" in story.headline


@pytest.mark.parametrize(
    ("kinds", "options"),
    [(["truncated"], ["-s 0"]), (["tcp_gap"], ["-B"]), (["truncated", "tcp_gap"], ["-s 0", "-B"])],
)
def test_cut_packets_need_another_remedy_than_lost_ones(
    kinds: list[str], options: list[str]
) -> None:
    """The answer to a query, and the link itself."""
    query = asked(10, timeout_ms=100.0)
    losses = [lost(A, 20 + number, kind) for number, kind in enumerate(kinds)]
    for story in stories(evidence(queries=[query], losses=losses)):
        assert story.cause == "capture_incomplete"
        found = [one for one in ("-s 0", "-B") if any(one in text for text in story.advice)]
        assert found == options


def test_advice_for_a_snap_length_names_the_option() -> None:
    made = report(read_capture(str(PATHS["snaplen"]), Scope()), Scope())
    advice = [text for story in made.stories for text in story.advice]
    assert any("-s 0" in text for text in advice)
    assert not any("-B" in text for text in advice)


def _slow_server() -> tuple[list[QueryHop], QueryHop]:
    """A query that is answered after 401 ms, and one with a timeout of 150 ms."""
    long = asked(10, timeout_ms=1_000.0, replies=[reply(411)], final=at(412))
    answered = passed(long, 11, replies=[reply(411)], final=at(412))
    short = asked(1_000, number=2, timeout_ms=150.0)
    return [long, answered, short], short


def test_timeout_shorter_than_the_answer_takes() -> None:
    queries, short = _slow_server()
    made = evidence(queries=[*queries, passed(short, 1_001, request_id=2, timeout_ms=150.0)])
    made.last_sent = {("server-router#1", SERVER): at(5_000)}
    [story] = [one for one in stories(made) if one.cause == "timeout"]
    assert "(packet 11) it answered the same selector in 401 ms" in story.headline
    assert "longer timeout than 150 ms" in story.advice[0]
    assert not any("blocked" in advice for advice in story.advice)


def test_advice_after_a_timeout_names_a_blocked_node() -> None:
    queries, short = _slow_server()
    queries[0].final = queries[1].final = at(30)
    made = evidence(queries=[*queries, passed(short, 1_001, request_id=2, timeout_ms=150.0)])
    made.last_sent = {("server-router#1", SERVER): at(5_000)}
    [story] = [one for one in stories(made) if one.cause == "timeout"]
    assert any("blocked" in advice for advice in story.advice)


def test_final_after_the_timeout_is_in_the_headline() -> None:
    query = asked(10, timeout_ms=150.0)
    late = passed(query, 11, final=at(412), timeout_ms=150.0)
    story = only(evidence(queries=[query, late]))
    assert "its final came in packet 412, after the timeout; it needed 401 ms" in story.headline
    assert "a timeout of 150 ms is short" in story.advice[0]


def _repeated() -> Evidence:
    """Seven queries without a queryable on two keys, and one on a key that nearly matches."""
    keys = ["k/a"] * 5 + ["k/b"] * 2
    queries = [
        asked(10 * number, key, number=number, final=at(10 * number + 1))
        for number, key in enumerate(keys, 1)
    ]
    return evidence(queries=queries, declarations=[declared("queryable", "far/away")])


def test_same_cause_node_and_key_are_one_story() -> None:
    made = report(_repeated(), Scope())
    by_key = {story.key: story for story in made.stories}
    assert {key: story.count for key, story in by_key.items()} == {"k/a": 5, "k/b": 2}
    assert made.counts["query"] == {"no_queryable": 7}
    first = by_key["k/a"]
    assert (first.at, first.last, first.request_id) == (at(10), at(50), 1)
    assert [moment.packet for moment in first.repeated] == [20, 30, 40, 50]
    assert first.as_json({})["count"] == 5
    assert first.as_json({})["last_packet"] == 50


def test_different_askers_have_different_stories() -> None:
    made = _repeated()
    for query in made.queries[5:]:
        query.key, query.requester = "k/a", "dddd04"
    assert sorted(story.count for story in report(made, Scope()).stories) == [2, 5]


def test_named_queries_are_never_grouped() -> None:
    made = _repeated()
    for query in made.queries:
        query.request_id = 1
    assert len(report(made, Scope(query="1")).stories) == 7


def test_text_says_how_often() -> None:
    made = report(_repeated(), Scope())
    lines = "\n".join(ReportText(made, Scope(), StringIO()).lines(10))
    assert "4 further stories have the same cause, node and key: packets 20, 30, 40 and 50" in lines
    assert "1 further story has the same cause, node and key: packet 70" in lines
    assert "7 queries: 7 no_queryable" in lines


def test_json_says_how_many_stories_it_left_out() -> None:
    made = report(_repeated(), Scope())
    shown, summary = ReportText(made, Scope(), StringIO()).json_values(1)
    assert (summary["stories"], summary["omitted"]) == (2, 1)
    assert shown["count"] == 5
    *_, summary = ReportText(made, Scope(), StringIO()).json_values(10)
    assert summary["omitted"] == 0
    assert ASKER in [node["zid"] for node in shown["nodes"]]
