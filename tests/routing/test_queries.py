"""REQUEST, RESPONSE, RESPONSE_FINAL: whom a query reaches and how it ends (§4.5)."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.faults import scaled
from tests.routing.playbook import (
    Play,
    alias,
    end,
    final,
    interest,
    no_queryable,
    put,
    queryable,
    reply,
    request,
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
    play.enters("app")
    for name in ("c1", "c2", "c3"):
        play.enters(name, "client")
    play.enters("p1", "peer")
    play.enters("p2", "peer")
    play.says("p1", final(0))
    play.says("p2", final(0))
    play.forget()
    return play


def asked(play: Play, target: QueryTarget | None, key: str = "q") -> str:
    """The faces that a query of c1 reaches, other than itself."""
    play.forget()
    play.says("c1", request(77, key, target))
    names = [name for name in play.ears if name != "c1" and play.takes(name)]
    for name in names:
        face = play.faces[name]
        play.says(name, *(end(id) for id in list(face.branches)))
    assert play.takes("c1") == [ResponseFinal(77)]
    return " ".join(names)


class TestTargets:
    def test_nobody(self, play: Play) -> None:
        assert asked(play, None) == ""
        assert asked(play, QueryTarget.ALL) == ""

    def test_not_back_to_the_source(self, play: Play) -> None:
        play.says("c1", queryable(1, "q", complete=True))
        assert asked(play, None) == ""

    def test_all_of_them(self, play: Play) -> None:
        play.says("c2", queryable(1, "q", complete=True), queryable(2, "*"))
        play.says("c3", queryable(1, "q"))
        play.says("p1", queryable(1, "q", complete=True))
        play.says("app", queryable(1, "**"))
        assert asked(play, QueryTarget.ALL) == "app c2 c3 p1"

    def test_only_complete_ones(self, play: Play) -> None:
        play.says("c2", queryable(1, "q", complete=True))
        play.says("c3", queryable(1, "q"))
        play.says("p1", queryable(1, "*", complete=True))
        play.says("p2", queryable(1, "q/*", complete=True))
        assert asked(play, QueryTarget.ALL_COMPLETE) == "c2 p1"

    def test_complete_means_for_the_whole_query(self, play: Play) -> None:
        play.says("c2", queryable(1, "q/a", complete=True))
        play.says("c3", queryable(1, "q/**", complete=True))
        assert asked(play, QueryTarget.ALL_COMPLETE, "q/*") == "c3"
        assert asked(play, None, "q/*") == "c3"
        assert asked(play, None, "**") == "c2 c3"

    @pytest.mark.parametrize("target", [None, QueryTarget.BEST_MATCHING])
    def test_the_best_is_one_complete_in_each_region(
        self, play: Play, target: QueryTarget | None
    ) -> None:
        play.says("c2", queryable(1, "q", complete=True))
        play.says("c3", queryable(1, "q", complete=True))
        play.says("p1", queryable(1, "q"))
        play.says("p2", queryable(1, "q"))
        play.says("app", queryable(1, "q", complete=True))
        assert asked(play, target) == "app c2 p1 p2"
        play.says("p2", queryable(1, "q", complete=True))
        assert asked(play, target) == "app c2 p2"
        play.says("c2", no_queryable(1))
        assert asked(play, target) == "app c3 p2"

    def test_peers_are_not_relayed_between(self, play: Play) -> None:
        play.says("p1", queryable(1, "q"))
        play.says("p2", request(5, "q"))
        play.hears("p2", "RESPONSE_FINAL 5")
        play.hears("p1")

    def test_faces_with_incomplete_declarations_get_the_query(self, play: Play) -> None:
        play.enters("p3", "peer")
        play.enters("r", "router")
        assert asked(play, None) == "p3 r"
        assert asked(play, QueryTarget.ALL_COMPLETE) == "p3 r"
        play.says("p1", queryable(1, "q", complete=True))
        assert asked(play, None) == "p1"
        assert asked(play, QueryTarget.ALL) == "p1 p3 r"

    def test_a_querier_asks_the_gateway_only_if_it_knows_one(self, play: Play) -> None:
        play.enters("r", "router")
        play.says("c1", interest(1, "current_future", "KQ", "q"))
        assert asked(play, None) == "r"
        play.says("r", final(1))
        play.forget()
        assert asked(play, None) == ""
        play.says("r", queryable(1, "q"))
        assert asked(play, None) == "r"


class TestOneQuery:
    """c1 asks, c2 and p1 answer."""

    @pytest.fixture
    def asked(self, play: Play) -> Play:
        play.says("c2", queryable(1, "q/*"))
        play.says("p1", queryable(1, "q/**"))
        play.forget()
        play.says("c1", request(9, "q/a", QueryTarget.ALL, qos=QoS(0x12)))
        play.hears("c2", "REQUEST 1 q/a")
        play.hears("p1", "REQUEST 1 [ours 1]/a")
        return play

    def test_replies_pass_at_once_and_one_final_ends_all(self, asked: Play) -> None:
        asked.says("p1", alias(1, "q"), reply(1, WireExpr(1, "/a"), "one"))
        asked.hears("c1", "RESPONSE 9 PUT one q/a")
        asked.says("p1", end(1))
        asked.says("c2", reply(1, "q/a", "two"))
        asked.hears("c1", "RESPONSE 9 PUT two q/a")
        asked.says("c2", end(1))
        asked.hears("c1", "RESPONSE_FINAL 9")
        assert asked.dispatcher.next_deadline() is None

    def test_the_answers_have_the_qos_of_the_request(self, asked: Play) -> None:
        asked.says("p1", reply(1, "q/a"), end(1))
        asked.says("c2", end(1))
        for message in asked.takes("c1"):
            assert isinstance(message, Response | ResponseFinal)
            assert message.qos == QoS(0x12)

    def test_a_silent_face_is_reported_and_finished(self, asked: Play) -> None:
        """After whoever asked had time to give up by himself: else he gets both errors."""
        asked.says("c2", end(1))
        asked.passes(10 + 0.9 * GRACE_S)
        asked.silence()
        asked.passes(0.1 * GRACE_S)
        error, ended = asked.takes("c1")
        assert error == Response(
            9, WireExpr(0), Err(b"Timeout"), QoS(0x12), responder=ResponderId(zid_of("p1"), 0)
        )
        assert ended == ResponseFinal(9, QoS(0x12))
        asked.says("p1", reply(1, "q/a"), end(1))
        asked.silence()

    def test_a_dead_face_is_finished(self, asked: Play) -> None:
        asked.leaves("c2")
        asked.hears("c1")
        asked.leaves("p1")
        asked.hears("c1", "RESPONSE_FINAL 9")

    def test_a_dead_requester_gets_nothing(self, asked: Play) -> None:
        asked.leaves("c1")
        asked.says("c2", reply(1, "q/a"), end(1))
        asked.passes(11)
        asked.silence()
        assert asked.dispatcher.counters.late_responses == 0

    # The six verdicts of a requester's conversation.

    def test_response_after_final(self, asked: Play) -> None:
        asked.says("c2", end(1), reply(1, "q/a"))
        asked.silence()
        assert asked.dispatcher.counters.late_responses == 1

    def test_two_finals(self, asked: Play) -> None:
        asked.says("c2", end(1), end(1))
        asked.silence()
        assert asked.dispatcher.counters.late_responses == 1

    def test_no_final(self, asked: Play) -> None:
        asked.passes(10 + GRACE_S)
        heard = [type(message) for message in asked.takes("c1")]
        assert heard == [Response, Response, ResponseFinal]
        assert asked.dispatcher.counters.timed_out_requests == 2

    def test_final_only(self, asked: Play) -> None:
        asked.says("c2", end(1))
        asked.says("p1", end(1))
        asked.hears("c1", "RESPONSE_FINAL 9")

    def test_wrong_request_id(self, asked: Play) -> None:
        asked.says("c2", reply(2, "q/a"), end(2))
        asked.says("c3", reply(1, "q/a"), end(1))
        asked.silence()
        assert asked.dispatcher.counters.late_responses == 4

    def test_id_reuse(self, asked: Play) -> None:
        asked.says("c1", request(9, "q/b"))
        asked.silence()
        assert asked.dispatcher.counters.reused_request_ids == 1
        asked.says("c2", end(1))
        asked.says("p1", end(1))
        asked.hears("c1", "RESPONSE_FINAL 9")
        asked.says("c1", request(9, "q/b"))
        asked.hears("c2", "REQUEST 2 q/b")


def test_everything_but_id_key_and_node_is_passed_on(play: Play) -> None:
    play.says("c2", queryable(1, "q"))
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
    play.says("c1", message)
    (copy,) = play.takes("c2")
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


def test_what_cannot_be_asked_ends_at_once(play: Play) -> None:
    play.says("c2", queryable(1, "**"))
    play.says("c1", request(1, WireExpr(5, "/x")), request(2, "a//b"))
    play.hears("c1", "RESPONSE_FINAL 1", "RESPONSE_FINAL 2")
    play.hears("c2")


def test_replies_with_unreadable_keys_are_dropped(play: Play) -> None:
    play.says("c2", queryable(1, "**"))
    play.says("c1", request(1, "k"))
    play.says("c2", reply(1, WireExpr(5, "/x")), reply(1, "a//b"))
    play.hears("c1")
    play.says("c2", Response(1, WireExpr(0), Err(b"no")), end(1))
    play.hears("c1", "RESPONSE 1 ERR no ", "RESPONSE_FINAL 1")


def test_a_group_does_not_ask(play: Play) -> None:
    play.enters("g", "peer", group=True)
    play.says("c2", queryable(1, "**"))
    play.forget()
    play.says("g", request(1, "k"))
    play.silence()
    play.says("c1", request(1, "k", QueryTarget.ALL))
    play.hears("c2", "REQUEST 1 k")
    play.hears("g")


def test_open_queries_are_limited(play: Play) -> None:
    play.says("c2", queryable(1, "q"))
    for id in range(FACE_QUERIES_MAX):
        play.says("c1", request(id, "q"))
    play.hears("c1")
    play.says("c1", request(FACE_QUERIES_MAX, "q"))
    play.hears(
        "c1",
        f"RESPONSE {FACE_QUERIES_MAX} ERR Too many open requests: {FACE_QUERIES_MAX} ",
        f"RESPONSE_FINAL {FACE_QUERIES_MAX}",
    )
    play.says("c3", request(1, "q"))
    play.hears("c3")


def test_limits_for_neighbours_do_not_apply_to_the_own_session() -> None:
    """Its requests, declarations and interests are the application's own, above them too."""
    play = Play("client", gossip=False, queries_max=2, declarations_max=2, interests_max=2)
    play.enters("app")
    play.enters("r", "router")
    count = 5
    for id in range(1, count + 1):
        play.says("app", interest(id, "current_future", "Q", f"q/{id}"))
        play.says("app", subscriber(10 + id, f"s/{id}"))
    said = play.takes("r")
    assert sum(isinstance(message, Interest) for message in said) == count
    declared = [message.body for message in said if isinstance(message, Declare)]
    assert sum(isinstance(body, DeclareSubscriber) for body in declared) == count
    for id in range(1, count + 1):
        play.says("app", request(id, f"other/{id}"))
    assert sum(isinstance(message, Request) for message in play.takes("r")) == count
    counters = play.dispatcher.counters
    refused = (counters.refused_requests, counters.refused_declarations, counters.refused_interests)
    assert refused == (0, 0, 0)


def test_many_queries_end_with_the_replier(play: Play) -> None:
    count = scaled(1_500, FACE_QUERIES_MAX)
    play.says("c2", queryable(1, "q"), subscriber(2, "s"))
    play.says("c1", request(0, "q", timeout_ms=60_000), put("s"))
    play.says("c2", end(1))
    play.forget()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for id in range(count):
            play.says("c1", request(id, "q", timeout_ms=60_000))
        play.leaves("c2")
        finals = play.takes("c1")
        found = [message.request_id for message in finals if isinstance(message, ResponseFinal)]
        assert found == list(range(count))
        del finals, found
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20 * count
    finally:
        tracemalloc.stop()
    assert play.dispatcher.next_deadline() is None


def test_a_budget_does_not_end_what_got_the_number_of_an_ended_branch(play: Play) -> None:
    """Numbers begin again after 2^32 requests."""
    for name in ("c2", "c3"):
        play.says(name, queryable(1, "q"))
    ask = request(1, "q")
    ask.budget = 1
    ask.target = QueryTarget.ALL
    play.says("c1", ask)
    faces = [play.faces[name] for name in ("c2", "c3")]
    first, other = (next(iter(face.branches)) for face in faces)
    play.says("c2", end(first))
    faces[0]._next_request_id = first
    play.says("c1", request(2, "q"))
    assert first in faces[0].branches
    play.says("c3", reply(other, "q"))
    assert first in faces[0].branches, "it belongs to the second query"
    assert other not in faces[1].branches


def test_the_application_may_answer_from_within_the_call() -> None:
    """A session without a fitting queryable ends its part before the next face is asked."""
    play = Play("peer", gossip=False)
    play.enters("app")
    play.enters("c1", "client")
    play.enters("c2", "client")
    play.says("app", queryable(1, "q"))
    play.says("c2", queryable(1, "q"))
    ear = play.ears["app"]
    send = ear.send

    def answering(message: Request, key: str, reliable: bool) -> None:
        send(message, key, reliable)
        play.says("app", end(message.request_id))

    ear.send = answering  # type: ignore[assignment, method-assign]
    play.says("c1", request(1, "q"))
    play.hears("c1")
    play.says("c2", end(1))
    play.hears("c1", "RESPONSE_FINAL 1")
