"""The stories of queries, cause by cause."""

from __future__ import annotations

import pytest

from tests.why.evidence_by_hand import (
    ASKER,
    ROUTER,
    SERVER,
    A,
    B,
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
from zenlake.why.records import QueryHop, SessionRecord


def test_answered_query_has_no_failure() -> None:
    query = asked(10, replies=[reply(12)], final=at(13))
    story = only(evidence(queries=[query]))
    assert (story.cause, story.failed) == ("answered", False)
    assert "answered with 1 reply in 3.0 ms" in story.headline


def test_query_with_only_errors_has_failed() -> None:
    query = asked(10, replies=[error(12, "no such map")], final=at(13))
    story = only(evidence(queries=[query]))
    assert (story.cause, story.culprit, story.failed) == ("error", SERVER, True)
    assert '"no such map" (packet 12)' in story.headline


def test_replies_for_other_keys_are_not_delivered() -> None:
    query = asked(10, replies=[reply(12, "other/key")], final=at(13))
    story = only(evidence(queries=[query]))
    assert (story.cause, story.failed) == ("reply_key_outside", True)
    assert "1 reply arrived, 0 delivered" in story.headline
    query.replies.append(reply(12.5))
    story = only(evidence(queries=[query]))
    assert (story.cause, story.failed) == ("partly_dropped", False)
    query.parameters = "_anyke"
    assert only(evidence(queries=[query])).cause == "answered"


def test_closed_session_of_the_asker_is_the_cause() -> None:
    closed = SessionRecord(A, ASKER, ROUTER, 0, int(50e6), "closed", "generic", "tcp", ASKER, 50)
    story = only(evidence(queries=[asked(10)], sessions={A: closed}))
    assert (story.cause, story.culprit) == ("session_closed", ASKER)
    assert "40.0 ms after the request (packet 50)" in story.headline


def test_lost_session_blames_the_router() -> None:
    gone = SessionRecord(A, ASKER, ROUTER, 0, int(50e6), "lost", None, "tcp")
    story = only(evidence(queries=[asked(10)], sessions={A: gone}))
    assert (story.cause, story.culprit) == ("router_lost", ROUTER)


def test_the_node_that_was_asked_is_lost() -> None:
    """The router finishes for it, without a reply (behaviour reference §4.5)."""
    made = evidence()
    made.sessions[B] = SessionRecord(B, SERVER, ROUTER, 0, int(30e6), "lost", None, "tcp")
    query = asked(10, final=at(31))
    made.queries = [query, passed(query, 11)]
    story = only(made)
    assert (story.cause, story.culprit, story.failed) == ("responder_lost", SERVER, True)
    assert "19.0 ms later" in story.headline


def test_query_without_an_answer_in_time_is_a_timeout() -> None:
    query = asked(10)
    story = only(evidence(queries=[query, passed(query, 11)]))
    assert (story.cause, story.culprit) == ("timeout", SERVER)
    assert "timed out after 1,000 ms" in story.headline
    assert "client bbbb received it (packet 11)" in story.headline.replace("Client", "client")


def test_the_node_is_dead_or_only_its_queryable_is() -> None:
    query = asked(100)
    made = evidence(queries=[query, passed(query, 101)], last_sent={(B, SERVER): at(50)})
    story = only(made)
    assert "has sent nothing since packet 50, 1,051 ms before the timeout" in story.headline
    made.last_sent[B, SERVER] = at(500)
    assert "has sent nothing" not in only(made).headline


def test_query_without_a_timeout_field_times_out_by_default() -> None:
    query = asked(10, timeout_ms=None)
    story = only(evidence(queries=[query]))
    assert story.cause == "timeout"
    assert "no timeout was sent" in story.headline
    assert only(evidence(queries=[asked(15_000, timeout_ms=None)])).cause == "capture_ended"


def test_a_node_gives_up_before_the_timeout() -> None:
    query = asked(10, timeout_ms=10_000.0)
    gave_up = [error(2_011, "Timeout")]
    onward = passed(query, 11, timeout_ms=10_000.0, replies=gave_up, final=at(2_012))
    query.replies = [error(2_013, "Timeout")]
    query.final = at(2_014)
    story = only(evidence(queries=[query, onward]))
    assert (story.cause, story.culprit) == ("timeout", SERVER)
    given_up = "given up after 2,001 ms (packet 2011), although its timeout is 10,000 ms"
    assert given_up in story.headline


def test_the_router_has_all_finals_and_sends_none() -> None:
    query = asked(10)
    onward = passed(query, 11, replies=[reply(12)], final=at(13))
    story = only(evidence(queries=[query, onward]))
    assert (story.cause, story.culprit) == ("final_missing", ROUTER)
    assert "has all final responses and did not send its own" in story.headline


def test_the_number_is_used_again() -> None:
    first = asked(10, reused=True, timeout_ms=None)
    second = asked(500, replies=[reply(501)], final=at(502))
    causes = [story.cause for story in stories(evidence(queries=[first, second]))]
    assert causes == ["final_missing", "answered"]


def test_frames_with_the_final_were_lost() -> None:
    query = asked(10)
    onward = passed(query, 11)
    made = evidence(queries=[query, onward], losses=[lost(B, 20, "sn_gap", SERVER)])
    story = next(one for one in stories(made) if one.subject == "query")
    assert story.cause == "lost_on_link"
    assert {11, 20} <= set(story.packets)


def test_a_late_reply_blames_the_node_further_on() -> None:
    query = asked(10, replies=[reply(12)], final=at(14))
    onward = passed(query, 11, replies=[reply(12), reply(20, late=True)], final=at(13))
    story = only(evidence(queries=[query, onward]))
    assert (story.cause, story.culprit) == ("reply_after_final", SERVER)
    assert set(story.packets) == {10, 13, 20}


def test_the_error_of_a_second_timer_is_no_late_reply() -> None:
    late = error(1_020, "Timeout")
    late.after_final = True
    query = asked(10, replies=[error(1_010, "Timeout"), late], final=at(1_011))
    assert only(evidence(queries=[query])).cause == "timeout"


EMPTY = asked(100, final=at(101))


@pytest.mark.parametrize(
    ("life", "cause"),
    [
        (None, "no_queryable"),
        (declared("queryable", "k/a", 200), "not_yet_declared"),
        (declared("queryable", "k/a", 5, ended=50), "gone"),
        (declared("queryable", "k/A", 5), "key_mismatch"),
        (declared("queryable", "k/a/b", 5), "key_mismatch"),
        (declared("queryable", "k/@a", 5), "key_mismatch"),
        (declared("queryable", "other/x", 5), "no_queryable"),
        (declared("queryable", "k/@v/a", 5), "key_mismatch"),
        (declared("queryable", "k/*", 5), "not_passed_on"),
        (declared("queryable", "k/a", 5, sender=ASKER, session=A), "own_queryable"),
    ],
)
def test_query_without_a_reply_has_its_cause(life: object, cause: str) -> None:
    story = only(evidence(queries=[EMPTY], declarations=[] if life is None else [life]))
    assert story.cause == cause
    assert story.failed == (cause != "own_queryable")


def test_query_with_an_unknown_key_has_no_visible_cause() -> None:
    query: QueryHop = asked(10, final=at(11))
    query.key = None
    story = only(evidence(queries=[query]))
    assert story.cause == "not_visible"
    assert "its key is not known" in story.headline.lower()


def test_two_queries_with_one_number_are_two_stories() -> None:
    other = asked(300, number=1, replies=[reply(301)], final=at(302))
    assert len(stories(evidence(queries=[EMPTY, other]))) == 2
