"""Tokens that end while jobs still announce their declaration, or the end of an earlier one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.routing.playbook import Play, interest, no_token, subscriber, token
from zenlake.wire import Declare, DeclareToken, NetworkMessage, UndeclareToken

SLICES = range(10)
"""The number of slices of one step after which the declaration is announced to all faces."""

HISTORIES = [[], ["D_TOKEN", "U_TOKEN"]]
"""What a face may receive for a token that was declared and undeclared after its interest."""


@pytest.fixture
def play() -> Play:
    """A peer with clients and another peer: announcements reach some faces before others."""
    made = Play("peer")
    made.connects("app")
    for name in ("c1", "c2", "c3"):
        made.connects(name, "client")
    made.connects("p1", "peer")
    return made


def begin(play: Play, name: str, message: NetworkMessage, slices: int) -> None:
    """Receive one message and run only some short slices."""
    play.dispatcher.receive_run(play.faces[name], [message], 0, 1, True, play.now, 1)
    for _ in range(slices):
        play.dispatcher.run_jobs(1)


def end_token(play: Play, name: str, how: str) -> None:
    """A face ends its token 1, and all jobs run to their end."""
    play.slice_steps = 1
    if how == "leaves":
        play.disconnects(name)
    else:
        play.sends(name, no_token(1))
    assert len(play.dispatcher._announcer._endings) == 0


def received_texts(play: Play, name: str) -> list[str]:
    """Tokens and ends of tokens, without numbers and keys."""
    found = []
    for message in play.received(name):
        if isinstance(message, Declare) and isinstance(message.body, DeclareToken):
            found.append("D_TOKEN")
        if isinstance(message, Declare) and isinstance(message.body, UndeclareToken):
            found.append("U_TOKEN")
    return found


@pytest.mark.parametrize("mode", ["future", "current_future"])
@pytest.mark.parametrize("how", ["leaves", "undeclares"])
@pytest.mark.parametrize("slices", SLICES)
def test_a_face_that_did_not_get_a_new_token_does_not_get_its_end(
    play: Play, mode: str, how: str, slices: int
) -> None:
    """Seed 8185 of the simulator: an application received the end of the same token twice."""
    for name in ("app", "c2"):
        play.sends(name, interest(1, mode, "KT", "t"))
    play.clear_received()
    begin(play, "c1", token(1, "t"), slices)
    end_token(play, "c1", how)
    for name in ("app", "c2", "p1"):
        assert received_texts(play, name) in HISTORIES


@pytest.mark.parametrize("how", ["leaves", "undeclares"])
@pytest.mark.parametrize("slices", SLICES)
def test_an_interest_after_the_beginning_of_a_token_gets_its_end(
    play: Play, how: str, slices: int
) -> None:
    """The node may know the token from a get, although earlier interests do not."""
    play.sends("app", interest(1, "future", "KT", "t"))
    begin(play, "c1", token(1, "t"), slices)
    begin(play, "c2", interest(1, "future", "KT", "t"), 0)
    play.clear_received()
    end_token(play, "c1", how)
    assert received_texts(play, "c2")[-1:] == ["U_TOKEN"]


@pytest.mark.parametrize("how", ["leaves", "undeclares"])
@pytest.mark.parametrize("slices", SLICES)
def test_a_token_that_begins_and_ends_while_its_end_is_announced_ends_once(
    play: Play, how: str, slices: int
) -> None:
    """The first token was never announced to interests in the future only."""
    play.sends("c3", token(1, "t"))
    for name in ("app", "c2"):
        play.sends(name, interest(1, "future", "KT", "t"))
    play.clear_received()
    begin(play, "c3", no_token(1), slices)
    begin(play, "c1", token(1, "t"), 0)
    end_token(play, "c1", how)
    for name in ("app", "c2"):
        history = received_texts(play, name)
        assert history[-1:] == ["U_TOKEN"]
        assert all(one != two for one, two in pairwise(history))


def test_the_removal_of_one_of_several_holders_leaves_no_ending_behind(play: Play) -> None:
    """The job was to announce the end, but two others hold the token when it runs."""
    play.sends("app", interest(1, "future", "KT", "t"))
    play.sends("c1", token(1, "t"))
    play.sends("c3", *(subscriber(n, f"s/{n}") for n in range(1, 50)), token(50, "t"))
    begin(play, "c1", no_token(1), 0)
    play.dispatcher.remove_face(play.faces.pop("c3"), play.now, 1)
    for _ in range(30):
        play.dispatcher.run_jobs(1)
    begin(play, "c1", token(1, "t"), 0)
    begin(play, "c2", token(1, "t"), 0)
    play.work()
    assert len(play.dispatcher._announcer._endings) == 0
