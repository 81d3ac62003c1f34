"""Routing in slices: each slice is short, whatever a message requires."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    connected,
    interest,
    no_subscriber,
    no_token,
    put,
    queryable,
    request,
    response_final,
    subscriber,
    token,
)
from zenlake.routing.timers import TIMERS_PER_SLICE
from zenlake.routing.work import SEND_STEPS, SLICE_STEPS
from zenlake.wire import Declare, DeclareToken, NetworkMessage, UndeclareToken

MANY = 5_000
SENT_IN_A_TURN = SLICE_STEPS // SEND_STEPS + 1


def begin(play: Play, name: str, *messages: NetworkMessage) -> int:
    """Receive messages for one slice; return how many were processed."""
    count = len(messages)
    return play.dispatcher.receive_run(
        play.faces[name], list(messages), 0, count, True, play.now, SLICE_STEPS
    )


def sent(play: Play, name: str) -> int:
    return len(play.outlets[name].messages)


@pytest.fixture
def play() -> Play:
    """A peer with two clients."""
    made = Play("peer")
    made.connects("c1", "client")
    made.connects("c2", "client")
    return made


def test_the_answer_to_an_interest_is_sent_in_short_slices(play: Play) -> None:
    play.sends("c1", *(token(n + 1, f"t/{n}") for n in range(MANY)))
    begin(play, "c2", interest(1, "current_future", "T", "**"))
    face = play.faces["c2"]
    slices = 1
    while face.job is not None:
        assert sent(play, "c2") <= slices * SENT_IN_A_TURN
        play.dispatcher.resume(face, SLICE_STEPS)
        slices += 1
    assert sent(play, "c2") == MANY + 1
    assert slices > MANY // SENT_IN_A_TURN


def test_a_declaration_made_during_an_answer_is_announced_once(play: Play) -> None:
    play.sends("c1", *(token(n + 1, f"t/{n}") for n in range(MANY)))
    begin(play, "c2", interest(1, "current_future", "T", "**"))
    play.sends("c1", token(MANY + 1, "late"), no_token(1))
    play.work(play.faces["c2"])
    received = [(key, message) for message, key, _ in play.outlets["c2"].messages]
    keys = [key for key, _ in received]
    assert keys[-1] == ""  # D_FINAL
    assert keys.count("late") == 1
    last = [message for key, message in received if key == "t/0"][-1]
    assert isinstance(last, Declare)
    assert isinstance(last.body, UndeclareToken)


def test_messages_behind_an_unfinished_answer_wait_for_it(play: Play) -> None:
    play.sends("c1", *(token(n + 1, f"t/{n}") for n in range(MANY)))
    messages = [interest(1, "current", "T", "**"), subscriber(1, "x")]
    assert begin(play, "c2", *messages) == 1
    assert begin(play, "c2", *messages) == 0
    play.work(play.faces["c2"])
    assert begin(play, "c2", subscriber(1, "x")) == 1


def test_a_declaration_that_concerns_many_interests_does_not_block_its_face(play: Play) -> None:
    for n in range(MANY):
        play.sends("c2", interest(n + 1, "future", "S", ("**", "a/**", "a/*", "*/b")[n % 4]))
    play.clear_received()
    assert begin(play, "c1", subscriber(1, "a/b")) == 1
    assert play.dispatcher.has_jobs
    assert begin(play, "c1", put("z")) == 1
    play.work()
    play.receives("c2", "D_SUB 1 a/b")


def test_messages_with_long_keys_take_more_of_a_slice(play: Play) -> None:
    deep = "/".join(["a"] * 127)
    assert begin(play, "c1", *(subscriber(n, f"s/{n}") for n in range(500))) > 200
    assert begin(play, "c1", *(subscriber(n, f"{n}/{deep}") for n in range(500, 1_000))) < 70
    assert begin(play, "c1", *(request(n, f"{n}/{deep}") for n in range(500))) < 70


def test_a_key_declared_again_while_its_end_is_announced_stays_declared(play: Play) -> None:
    """The jobs of the first declaration end after the second one was made."""
    for n in range(MANY):
        play.sends("c2", interest(n + 1, "future", "S", ("**", "a/**", "a/*", "*/b")[n % 4]))
    begin(play, "c1", subscriber(1, "a/b"))
    begin(play, "c1", no_subscriber(1))
    entities = play.dispatcher.tables.entities[0]
    while entities.get("a/b") is not None:
        assert play.dispatcher.has_jobs
        play.dispatcher.run_jobs(64)
    assert play.dispatcher.has_jobs, "the end is still being announced"
    begin(play, "c1", subscriber(2, "a/b"))
    play.work()
    play.clear_received()
    play.sends("c2", put("a/b"))
    play.receives("c1", "PUT x a/b")
    play.sends("c1", no_subscriber(2), subscriber(3, "a/b"), no_subscriber(3))
    play.work()
    assert entities.get("a/b") is None
    assert not play.faces["c2"].announced[0]


def test_a_token_declared_again_while_its_end_is_announced_does_not_end(play: Play) -> None:
    names = [f"w{n}" for n in range(300)]
    for name in names:
        play.connects(name, "client")
        play.sends(name, interest(1, "future", "T", "**"))
    begin(play, "c1", token(1, "a/b"))
    begin(play, "c1", no_token(1))
    entities = play.dispatcher.tables.entities[2]
    while entities.get("a/b") is not None:
        play.dispatcher.run_jobs(24)
    assert play.dispatcher.has_jobs, "the end is still being announced"
    play.sends("c1", token(2, "a/b"))
    for name in names:
        last = play.received(name)[-1]
        assert isinstance(last, Declare)
        assert isinstance(last.body, DeclareToken), name


def test_the_end_of_a_token_that_two_faces_held_is_announced_once(play: Play) -> None:
    """Both faces are removed at the same time, each in many slices."""
    play.connects("c3", "client")
    play.sends("c3", interest(1, "current_future", "T", "**"))
    for name in ("c1", "c2"):
        play.sends(name, *(token(n + 1, f"t/{n}") for n in range(20)))
    play.clear_received()
    for name in ("c1", "c2"):
        play.dispatcher.remove_face(play.faces.pop(name), play.now, 1)
    while play.dispatcher.has_jobs:
        play.dispatcher.run_jobs(1)
    assert sent(play, "c3") == 20


def test_a_face_with_many_declarations_is_removed_in_short_slices(play: Play) -> None:
    play.connects("p1", "peer")
    play.sends("c1", *(subscriber(n + 1, f"s/{n}") for n in range(MANY)))
    play.clear_received()
    face = play.faces.pop("c1")
    play.dispatcher.remove_face(face, play.now, SLICE_STEPS)
    assert sent(play, "p1") <= SENT_IN_A_TURN
    slices = 1
    while play.dispatcher.has_jobs:
        play.dispatcher.run_jobs(SLICE_STEPS)
        slices += 1
        assert sent(play, "p1") <= slices * SENT_IN_A_TURN
    assert sent(play, "p1") == MANY
    assert face.account.held_bytes == 0


def test_a_face_that_is_being_removed_gets_nothing_any_more(play: Play) -> None:
    play.sends("c1", *(subscriber(n + 1, f"s/{n}") for n in range(MANY)), queryable(1, "q"))
    play.clear_received()
    face = play.faces.pop("c1")
    play.dispatcher.remove_face(face, play.now, 1)
    assert face.held[0], "its removal takes more than a slice"
    play.sends("c2", put(f"s/{MANY - 1}"), request(1, "q"))
    play.receives("c1")
    play.receives("c2", "RESPONSE_FINAL 1")


def test_a_node_that_comes_back_while_its_old_face_is_removed_keeps_its_declarations(
    play: Play,
) -> None:
    play.sends("c2", interest(1, "current_future", "T", "**"))
    play.sends("c1", *(token(n + 1, f"t/{n}") for n in range(MANY)))
    old = play.faces.pop("c1")
    play.dispatcher.remove_face(old, play.now, 1)
    play.connects("c1", "client")
    play.clear_received()
    face = play.faces["c1"]
    for n in range(MANY):
        play.dispatcher.receive_run(face, [token(n + 1, f"t/{n}")], 0, 1, True, 0.0)
    play.work()
    assert len(play.faces["c2"].announced[2]) == MANY


def test_a_search_that_takes_many_slices_ends_in_the_same_route(play: Play) -> None:
    deep = ["/".join([str(n)] + ["a"] * 60) for n in range(2_000)]
    play.sends("c1", *(subscriber(n + 1, key) for n, key in enumerate(deep)))
    play.clear_received()
    wild = "/".join(["**", "a"] * 40)
    face = play.faces["c2"]
    assert begin(play, "c2", put(wild), put(deep[0])) == 1
    assert face.job is not None
    slices = 1
    while face.job is not None:
        play.sends("c1", subscriber(9_999, "other"))  # routes are removed meanwhile
        play.dispatcher.resume(face, SLICE_STEPS)
        slices += 1
    assert slices > 10
    play.receives("c1", f"PUT x {wild}")


def test_a_query_whose_targets_take_many_slices_gets_one_final(play: Play) -> None:
    deep = ["/".join([str(n)] + ["a"] * 60) for n in range(2_000)]
    play.sends("c1", *(queryable(n + 1, key) for n, key in enumerate(deep)))
    play.clear_received()
    begin(play, "c2", request(7, "/".join(["**", "a"] * 40)))
    assert play.faces["c2"].job is not None
    play.work(play.faces["c2"])
    asked = play.received("c1")
    assert len(asked) == 1
    play.sends("c1", response_final(1))
    play.receives("c2", "RESPONSE_FINAL 7")


def test_queries_that_time_out_together_are_ended_in_short_slices(play: Play) -> None:
    play.sends("c1", queryable(1, "q"))
    play.sends("c2", *(request(n + 1, "q") for n in range(1_000)))
    play.clear_received()
    play.now = 60.0
    slices = 0
    while play.dispatcher.next_deadline() is not None:
        play.dispatcher.handle_timeout(play.now)
        slices += 1
        assert sent(play, "c2") <= slices * 2 * TIMERS_PER_SLICE
    assert sent(play, "c2") == 2_000


def test_a_new_peer_gets_everything_in_short_slices(play: Play) -> None:
    play.sends("c1", *(subscriber(n + 1, f"s/{n}") for n in range(MANY)))
    play.slice_steps = 1
    face = play.connects("p1", "peer")
    assert face.job is None
    assert sent(play, "p1") >= MANY + 1


def test_the_route_of_many_subscribers_is_found_in_short_slices() -> None:
    play = Play("router")
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    count = 400
    play.sends("c1", *(subscriber(id, f"a/{id}") for id in range(1, count + 1)))
    play.sends("c2", *(subscriber(id, f"a/{id}") for id in range(1, count + 1)))
    source = play.faces["c3"]
    steps = 50
    play.dispatcher.receive_run(source, [put("a/*")], 0, 1, True, play.now, steps)
    slices = 0
    while source.job is not None:
        if slices == 12:
            play.disconnects("c2")  # chosen already, and removed before the route is complete
        play.dispatcher.resume(source, steps)
        slices += 1
    assert slices > 2 * count // steps
    play.receives("c1", "PUT x a/*")
    assert source.origin.routes == {}  # something changed meanwhile


def test_an_application_that_gets_all_tokens_does_not_hold_the_lock() -> None:
    play = connected("router", {"app": "", "c1": "client"}, gossip=False)
    count = 3 * SLICE_STEPS // SEND_STEPS
    play.sends("c1", *(token(number, f"t/{number}") for number in range(1, count + 1)))
    ask = interest(1, "current", "T", "t/*")
    play.dispatcher.receive(play.faces["app"], ask, True, 0.0)
    sent = len(play.received("app"))
    assert 0 < sent < count
    assert play.dispatcher.has_jobs
    play.slice_steps = SLICE_STEPS
    play.work()
    assert sent + len(play.received("app")) == count + 1  # with the final
