"""REQUEST, RESPONSE, RESPONSE_FINAL: the targets of a query and how it ends (§4.5)."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.chance import scaled
from tests.routing.playbook import (
    Play,
    alias,
    connected,
    final,
    interest,
    no_queryable,
    put,
    queryable,
    reply,
    request,
    response_final,
    subscriber,
    zid_of,
)
from zenlake.limits import FACE_QUERIES_MAX
from zenlake.routing.forwarding.queries import GRACE_S
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    Err,
    Interest,
    QoS,
    Query,
    QueryTarget,
    Request,
    ResponderId,
    Response,
    ResponseFinal,
    WireExpr,
)


@pytest.fixture
def play() -> Play:
    play = Play("peer", gossip=False)
    play.connects("app")
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    play.connects("p1", "peer")
    play.connects("p2", "peer")
    play.sends("p1", final(0))
    play.sends("p2", final(0))
    play.clear_received()
    return play


def asked(play: Play, target: QueryTarget | None, key: str = "q") -> str:
    """The faces that a query of c1 reaches, except c1."""
    play.clear_received()
    play.sends("c1", request(77, key, target))
    names = [name for name in play.outlets if name != "c1" and play.received(name)]
    for name in names:
        face = play.faces[name]
        play.sends(name, *(response_final(id) for id in list(face.branches)))
    assert play.received("c1") == [ResponseFinal(77)]
    return " ".join(names)


class TestTargets:
    def test_a_query_without_queryables_reaches_no_face(self, play: Play) -> None:
        assert asked(play, None) == ""
        assert asked(play, QueryTarget.ALL) == ""

    def test_a_query_is_not_sent_to_its_source(self, play: Play) -> None:
        play.sends("c1", queryable(1, "q", complete=True))
        assert asked(play, None) == ""

    def test_target_all_reaches_all_queryables(self, play: Play) -> None:
        play.sends("c2", queryable(1, "q", complete=True), queryable(2, "*"))
        play.sends("c3", queryable(1, "q"))
        play.sends("p1", queryable(1, "q", complete=True))
        play.sends("app", queryable(1, "**"))
        assert asked(play, QueryTarget.ALL) == "app c2 c3 p1"

    def test_target_all_complete_reaches_complete_queryables(self, play: Play) -> None:
        play.sends("c2", queryable(1, "q", complete=True))
        play.sends("c3", queryable(1, "q"))
        play.sends("p1", queryable(1, "*", complete=True))
        play.sends("p2", queryable(1, "q/*", complete=True))
        assert asked(play, QueryTarget.ALL_COMPLETE) == "c2 p1"

    def test_complete_means_for_the_whole_query(self, play: Play) -> None:
        play.sends("c2", queryable(1, "q/a", complete=True))
        play.sends("c3", queryable(1, "q/**", complete=True))
        assert asked(play, QueryTarget.ALL_COMPLETE, "q/*") == "c3"
        assert asked(play, None, "q/*") == "c3"
        assert asked(play, None, "**") == "c2 c3"

    @pytest.mark.parametrize("target", [None, QueryTarget.BEST_MATCHING])
    def test_best_matching_is_one_complete_queryable_in_each_region(
        self, play: Play, target: QueryTarget | None
    ) -> None:
        play.sends("c2", queryable(1, "q", complete=True))
        play.sends("c3", queryable(1, "q", complete=True))
        play.sends("p1", queryable(1, "q"))
        play.sends("p2", queryable(1, "q"))
        play.sends("app", queryable(1, "q", complete=True))
        assert asked(play, target) == "app c2 p1 p2"
        play.sends("p2", queryable(1, "q", complete=True))
        assert asked(play, target) == "app c2 p2"
        play.sends("c2", no_queryable(1))
        assert asked(play, target) == "app c3 p2"

    def test_queries_are_not_relayed_between_peers(self, play: Play) -> None:
        play.sends("p1", queryable(1, "q"))
        play.sends("p2", request(5, "q"))
        play.receives("p2", "RESPONSE_FINAL 5")
        play.receives("p1")

    def test_faces_with_incomplete_declarations_get_the_query(self, play: Play) -> None:
        play.connects("p3", "peer")
        play.connects("r", "router")
        assert asked(play, None) == "p3 r"
        assert asked(play, QueryTarget.ALL_COMPLETE) == "p3 r"
        play.sends("p1", queryable(1, "q", complete=True))
        assert asked(play, None) == "p1"
        assert asked(play, QueryTarget.ALL) == "p1 p3 r"

    def test_a_querier_asks_the_gateway_only_if_it_knows_one(self, play: Play) -> None:
        play.connects("r", "router")
        play.sends("c1", interest(1, "current_future", "KQ", "q"))
        assert asked(play, None) == "r"
        play.sends("r", final(1))
        play.clear_received()
        assert asked(play, None) == ""
        play.sends("r", queryable(1, "q"))
        assert asked(play, None) == "r"


class TestOneQuery:
    """c1 asks, c2 and p1 answer."""

    @pytest.fixture
    def asked(self, play: Play) -> Play:
        play.sends("c2", queryable(1, "q/*"))
        play.sends("p1", queryable(1, "q/**"))
        play.clear_received()
        play.sends("c1", request(9, "q/a", QueryTarget.ALL, qos=QoS(0x12)))
        play.receives("c2", "REQUEST 1 q/a")
        play.receives("p1", "REQUEST 1 [ours 1]/a")
        return play

    def test_replies_are_forwarded_at_once_and_one_final_ends_the_query(self, asked: Play) -> None:
        asked.sends("p1", alias(1, "q"), reply(1, WireExpr(1, "/a"), "one"))
        asked.receives("c1", "RESPONSE 9 PUT one q/a")
        asked.sends("p1", response_final(1))
        asked.sends("c2", reply(1, "q/a", "two"))
        asked.receives("c1", "RESPONSE 9 PUT two q/a")
        asked.sends("c2", response_final(1))
        asked.receives("c1", "RESPONSE_FINAL 9")
        assert asked.dispatcher.next_deadline() is None

    def test_the_answers_have_the_qos_of_the_request(self, asked: Play) -> None:
        asked.sends("p1", reply(1, "q/a"), response_final(1))
        asked.sends("c2", response_final(1))
        for message in asked.received("c1"):
            assert isinstance(message, Response | ResponseFinal)
            assert message.qos == QoS(0x12)

    def test_a_silent_face_is_reported_and_finished(self, asked: Play) -> None:
        """The error comes after the requester's own timeout: else it would get both errors."""
        asked.sends("c2", response_final(1))
        asked.time_passes(10 + 0.9 * GRACE_S)
        asked.nothing_received()
        asked.time_passes(0.1 * GRACE_S)
        error, ended = asked.received("c1")
        assert error == Response(
            9, WireExpr(0), Err(b"Timeout"), QoS(0x12), responder=ResponderId(zid_of("p1"), 0)
        )
        assert ended == ResponseFinal(9, QoS(0x12))
        asked.sends("p1", reply(1, "q/a"), response_final(1))
        asked.nothing_received()

    def test_a_dead_face_is_finished(self, asked: Play) -> None:
        asked.disconnects("c2")
        asked.receives("c1")
        asked.disconnects("p1")
        asked.receives("c1", "RESPONSE_FINAL 9")

    def test_a_dead_requester_gets_nothing(self, asked: Play) -> None:
        asked.disconnects("c1")
        asked.sends("c2", reply(1, "q/a"), response_final(1))
        asked.time_passes(11)
        asked.nothing_received()
        assert asked.dispatcher.counters.late_responses == 0

    # The six verdicts on the messages of a query.

    def test_response_after_final_is_counted(self, asked: Play) -> None:
        asked.sends("c2", response_final(1), reply(1, "q/a"))
        asked.nothing_received()
        assert asked.dispatcher.counters.late_responses == 1

    def test_second_final_is_counted_as_late(self, asked: Play) -> None:
        asked.sends("c2", response_final(1), response_final(1))
        asked.nothing_received()
        assert asked.dispatcher.counters.late_responses == 1

    def test_query_without_finals_times_out(self, asked: Play) -> None:
        asked.time_passes(10 + GRACE_S)
        received = [type(message) for message in asked.received("c1")]
        assert received == [Response, Response, ResponseFinal]
        assert asked.dispatcher.counters.timed_out_requests == 2

    def test_finals_without_replies_end_the_query(self, asked: Play) -> None:
        asked.sends("c2", response_final(1))
        asked.sends("p1", response_final(1))
        asked.receives("c1", "RESPONSE_FINAL 9")

    def test_replies_with_a_wrong_request_id_are_dropped(self, asked: Play) -> None:
        asked.sends("c2", reply(2, "q/a"), response_final(2))
        asked.sends("c3", reply(1, "q/a"), response_final(1))
        asked.nothing_received()
        assert asked.dispatcher.counters.late_responses == 4

    def test_reuse_of_an_open_request_id_is_counted(self, asked: Play) -> None:
        asked.sends("c1", request(9, "q/b"))
        asked.nothing_received()
        assert asked.dispatcher.counters.reused_request_ids == 1
        asked.sends("c2", response_final(1))
        asked.sends("p1", response_final(1))
        asked.receives("c1", "RESPONSE_FINAL 9")
        asked.sends("c1", request(9, "q/b"))
        asked.receives("c2", "REQUEST 2 q/b")


def test_all_fields_but_id_key_and_node_are_forwarded(play: Play) -> None:
    play.sends("c2", queryable(1, "q"))
    message = Request(
        4,
        WireExpr(0, "q"),
        Query(parameters="a=1"),
        QoS(0x0D),
        target=QueryTarget.ALL,
        budget=5,
        timeout_ms=1500,
        node_id=3,
    )
    play.sends("c1", message)
    (copy,) = play.received("c2")
    assert copy == Request(
        1,
        WireExpr(0, "q"),
        Query(parameters="a=1"),
        QoS(0x0D),
        target=QueryTarget.ALL,
        budget=5,
        timeout_ms=1500,
    )
    assert play.dispatcher.next_deadline() == 1.5 + GRACE_S


def test_a_query_that_cannot_be_forwarded_ends_at_once(play: Play) -> None:
    play.sends("c2", queryable(1, "**"))
    play.sends("c1", request(1, WireExpr(5, "/x")), request(2, "a//b"))
    play.receives("c1", "RESPONSE_FINAL 1", "RESPONSE_FINAL 2")
    play.receives("c2")


def test_replies_with_unreadable_keys_are_dropped(play: Play) -> None:
    play.sends("c2", queryable(1, "**"))
    play.sends("c1", request(1, "k"))
    play.sends("c2", reply(1, WireExpr(5, "/x")), reply(1, "a//b"))
    play.receives("c1")
    play.sends("c2", Response(1, WireExpr(0), Err(b"no")), response_final(1))
    play.receives("c1", "RESPONSE 1 ERR no ", "RESPONSE_FINAL 1")


def test_queries_from_a_group_are_dropped(play: Play) -> None:
    play.connects("g", "peer", group=True)
    play.sends("c2", queryable(1, "**"))
    play.clear_received()
    play.sends("g", request(1, "k"))
    play.nothing_received()
    play.sends("c1", request(1, "k", QueryTarget.ALL))
    play.receives("c2", "REQUEST 1 k")
    play.receives("g")


def test_open_queries_are_limited(play: Play) -> None:
    play.sends("c2", queryable(1, "q"))
    for id in range(FACE_QUERIES_MAX):
        play.sends("c1", request(id, "q"))
    play.receives("c1")
    play.sends("c1", request(FACE_QUERIES_MAX, "q"))
    play.receives(
        "c1",
        f"RESPONSE {FACE_QUERIES_MAX} ERR Too many open requests: {FACE_QUERIES_MAX} ",
        f"RESPONSE_FINAL {FACE_QUERIES_MAX}",
    )
    play.sends("c3", request(1, "q"))
    play.receives("c3")


def test_limits_for_neighbours_do_not_apply_to_the_own_session() -> None:
    """Requests, declarations and interests of the own application may exceed them."""
    play = Play("client", gossip=False, queries_max=2, declarations_max=2, interests_max=2)
    play.connects("app")
    play.connects("r", "router")
    count = 5
    for id in range(1, count + 1):
        play.sends("app", interest(id, "current_future", "Q", f"q/{id}"))
        play.sends("app", subscriber(10 + id, f"s/{id}"))
    messages = play.received("r")
    assert sum(isinstance(message, Interest) for message in messages) == count
    declared = [message.body for message in messages if isinstance(message, Declare)]
    assert sum(isinstance(body, DeclareSubscriber) for body in declared) == count
    for id in range(1, count + 1):
        play.sends("app", request(id, f"other/{id}"))
    assert sum(isinstance(message, Request) for message in play.received("r")) == count
    counters = play.dispatcher.counters
    refused = (counters.refused_requests, counters.refused_declarations, counters.refused_interests)
    assert refused == (0, 0, 0)


def test_many_queries_end_with_the_replier(play: Play) -> None:
    count = scaled(1_500, FACE_QUERIES_MAX)
    play.sends("c2", queryable(1, "q"), subscriber(2, "s"))
    play.sends("c1", request(0, "q", timeout_ms=60_000), put("s"))
    play.sends("c2", response_final(1))
    play.clear_received()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for id in range(count):
            play.sends("c1", request(id, "q", timeout_ms=60_000))
        play.disconnects("c2")
        finals = play.received("c1")
        found = [message.request_id for message in finals if isinstance(message, ResponseFinal)]
        assert found == list(range(count))
        del finals, found
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20 * count
    finally:
        tracemalloc.stop()
    assert play.dispatcher.next_deadline() is None


def test_a_reply_budget_does_not_end_a_query_that_reuses_the_id_of_an_ended_one(play: Play) -> None:
    """Request ids start again after 2^32 requests."""
    for name in ("c2", "c3"):
        play.sends(name, queryable(1, "q"))
    ask = request(1, "q")
    ask.budget = 1
    ask.target = QueryTarget.ALL
    play.sends("c1", ask)
    faces = [play.faces[name] for name in ("c2", "c3")]
    first, other = (next(iter(face.branches)) for face in faces)
    play.sends("c2", response_final(first))
    faces[0]._next_request_id = first
    play.sends("c1", request(2, "q"))
    assert first in faces[0].branches
    play.sends("c3", reply(other, "q"))
    assert first in faces[0].branches, "it belongs to the second query"
    assert other not in faces[1].branches


def test_the_application_may_answer_from_within_the_call() -> None:
    """A session without a matching queryable sends its final before other faces get the query."""
    play = connected("peer", {"app": "", "c1": "client", "c2": "client"}, gossip=False)
    play.sends("app", queryable(1, "q"))
    play.sends("c2", queryable(1, "q"))
    outlet = play.outlets["app"]
    pass_on = outlet.push

    def answering(message: Request, key: str, reliable: bool) -> None:
        pass_on(message, key, reliable)
        play.sends("app", response_final(message.request_id))

    outlet.push = answering  # type: ignore[assignment, method-assign]  # answers at once
    play.sends("c1", request(1, "q"))
    play.receives("c1")
    play.sends("c2", response_final(1))
    play.receives("c1", "RESPONSE_FINAL 1")
