"""Long answers are made in many short slices, are limited in number, and always end."""

from __future__ import annotations

import pytest

from tests.admin.admin_play import AdminPlay
from tests.routing.playbook import interest, subscriber
from zenlake.admin.query import REPLY_STEPS
from zenlake.limits import ADMIN_ANSWERS_MAX, ADMIN_ANSWERS_PER_SESSION_MAX
from zenlake.routing.work import SLICE_STEPS
from zenlake.wire import Err, Response, ResponseFinal

MANY = 3000


def crowded(*clients: str) -> AdminPlay:
    play = AdminPlay()
    for client in ("c0", *clients):
        play.connects(client, "client")
    play.sends("c0", *(subscriber(n, f"many/{n}") for n in range(1, MANY + 1)))
    return play


@pytest.mark.parametrize("name", ["c1", "app"])
def test_a_long_answer_is_made_in_short_slices(name: str) -> None:
    play = crowded()
    play.connects(name, "client" if name == "c1" else "")
    request_id = play.asks(name, f"{play.root}/subscriber/**")
    most = SLICE_STEPS // REPLY_STEPS + 1
    turns = 0
    replies = play.received(name)
    assert len(replies) <= most
    while play.long:
        play.goes_on(SLICE_STEPS)
        received = play.received(name)
        assert len(received) <= most + 1
        replies += received
        turns += 1
    assert turns > MANY // most - 2
    assert isinstance(replies.pop(), ResponseFinal)
    responses = [reply for reply in replies if isinstance(reply, Response)]
    assert {reply.request_id for reply in responses} == {request_id}
    assert len({reply.key.suffix for reply in responses}) == MANY
    assert len(replies) == len(responses) == MANY


def test_interests_are_listed_in_short_slices() -> None:
    play = AdminPlay()
    play.connects("c1", "client")
    play.sends("c1", *(interest(n, "future", "KS", f"many/{n}") for n in range(1, MANY + 1)))
    play.clear_received()
    request_id = play.asks("c1", f"{play.root}/publisher/**")
    assert play.long
    while play.long:
        play.goes_on(SLICE_STEPS)
    assert len(play.answers("c1", request_id)) == MANY


@pytest.mark.parametrize(
    ("name", "turns"), [("", 10), ("/metrics", 50), ("/zenlake/face/*", 50), ("/zenlake/face/x", 1)]
)
def test_many_transports_are_listed_in_short_slices(name: str, turns: int) -> None:
    play = AdminPlay()
    play.connects("c1", "client")
    play.facts.names = [f"n{number}" for number in range(MANY)]
    request_id = play.asks("c1", f"{play.root}{name}")
    count = 0
    while play.long:
        play.goes_on(SLICE_STEPS)
        count += 1
    assert count >= turns
    assert len(play.answers("c1", request_id)) == {
        "/zenlake/face/*": MANY,
        "/zenlake/face/x": 0,
    }.get(name, 1)


def test_many_sources_of_one_key_are_listed_in_short_slices() -> None:
    play = AdminPlay()
    play.slice_steps = 10
    count = 100
    for name in (f"n{number}" for number in range(count)):
        play.connects(name, "client")
        play.sends(name, subscriber(1, "same"), interest(2, "future", "KS", "same"))
    play.clear_received()
    for kind in ("subscriber", "publisher"):
        request_id = play.asks("n0", f"{play.root}/{kind}/same")
        turns = 1
        while play.long:
            play.goes_on(play.slice_steps)
            turns += 1
        assert turns >= count // play.slice_steps
        (answer,) = play.answers("n0", request_id).values()
        assert len(answer.json["clients"]) == count


def test_a_long_selector_makes_shorter_slices() -> None:
    play = AdminPlay()
    play.connects("c1", "client")
    play.facts.names = [f"n{number}" for number in range(500)]
    selector = f"{play.root}/zenlake/face/{'$*a' * 200}"
    play.asks("c1", selector)
    turns = 0
    while play.long:
        play.goes_on(SLICE_STEPS)
        turns += 1
    assert turns >= 500 * len(selector) // 8 // SLICE_STEPS - 1


def test_an_answer_ends_when_its_requester_is_gone() -> None:
    play = crowded("c1")
    play.asks("c1", f"{play.root}/subscriber/**")
    play.disconnects("c1")
    play.goes_on(SLICE_STEPS)
    assert play.long == []


def test_an_answer_ends_with_the_timeout_of_its_query() -> None:
    play = crowded("c1")
    play.asks("c1", f"{play.root}/subscriber/**")
    play.clear_received()
    play.time_passes(11.0)
    error, last = play.received("c1")
    assert isinstance(error, Response)
    assert isinstance(error.body, Err)
    assert isinstance(last, ResponseFinal)
    play.goes_on(SLICE_STEPS)
    assert play.long == []
    assert play.received("c1") == []
    assert play.dispatcher.counters.late_responses == 0


def test_declaration_that_ends_during_an_answer_is_left_out() -> None:
    play = crowded("c1")
    request_id = play.asks("c1", f"{play.root}/subscriber/**")
    play.disconnects("c0")
    while play.long:
        play.goes_on(SLICE_STEPS)
    assert len(play.answers("c1", request_id)) < MANY


def test_a_session_gets_few_long_answers_at_once() -> None:
    play = crowded("c1", "c2")
    for _ in range(ADMIN_ANSWERS_PER_SESSION_MAX):
        play.asks("c1", f"{play.root}/subscriber/**")
    play.clear_received()
    refused = play.asks("c1", f"{play.root}/subscriber/**")
    *_, error, last = play.received("c1")
    assert isinstance(error, Response)
    assert isinstance(error.body, Err)
    assert b"for this session" in error.body.payload
    assert isinstance(last, ResponseFinal)
    assert last.request_id == refused
    assert len(play.long) == ADMIN_ANSWERS_PER_SESSION_MAX
    play.asks("c2", f"{play.root}/subscriber/**")
    assert len(play.long) == ADMIN_ANSWERS_PER_SESSION_MAX + 1
    while play.long:
        play.goes_on(SLICE_STEPS)
    play.asks("c1", f"{play.root}/subscriber/**")
    assert len(play.long) == 1


def test_a_node_makes_a_bounded_number_of_long_answers() -> None:
    clients = [f"d{number}" for number in range(ADMIN_ANSWERS_MAX)]
    play = crowded(*clients)
    for client in clients:
        play.asks(client, f"{play.root}/subscriber/**")
    assert len(play.long) == ADMIN_ANSWERS_MAX
    play.asks("c0", f"{play.root}/subscriber/**")
    assert len(play.long) == ADMIN_ANSWERS_MAX
    assert "long answers of the admin space are being made" in play.reports[-1]
    play.clear_received()
    request_id = play.asks("c0", play.root)  # short answers are still made
    assert list(play.answers("c0", request_id)) == [play.root]
