"""Declarations and faces that end leave nothing behind, and one neighbour cannot fill the node."""

from __future__ import annotations

import gc
import tracemalloc

from tests.routing.playbook import (
    Play,
    connected,
    end_interest,
    final,
    interest,
    no_queryable,
    no_subscriber,
    no_token,
    put,
    queryable,
    subscriber,
    token,
)
from zenlake.limits import FACE_DECLARATIONS_MAX, FACE_INTERESTS_MAX

ROUNDS = 300


def churn(play: Play, start: int) -> None:
    """Declare and undeclare, with keys without an alias: aliases stay as long as their face."""
    for n in range(start, start + ROUNDS):
        key = f"*/{n}"
        play.sends("c1", subscriber(1, key), queryable(2, key, complete=True), token(3, key))
        play.sends("c2", interest(4, "current_future", "KSQT", key), put(key))
        play.sends("c2", end_interest(4))
        play.sends("c1", no_subscriber(1), no_queryable(2), no_token(3))
        play.clear_received()


def test_undeclared_declarations_leave_nothing_behind() -> None:
    play = Play("peer", gossip=False)
    play.connects("app")
    for name, role in (("c1", "client"), ("c2", "client"), ("p", "peer"), ("r", "router")):
        play.connects(name, role)
    play.sends("app", interest(1, "current_future", "KSQT"))
    play.sends("r", final(1))
    play.clear_received()
    churn(play, 0)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        churn(play, ROUNDS)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 50_000
    finally:
        tracemalloc.stop()
    tables = play.dispatcher.tables
    assert [len(table) for table in tables.entities] == [0, 0, 0]
    for face in play.dispatcher.faces:
        assert [len(kind) for kind in face.announced] == [0, 0, 0]
        assert [len(held) for held in face.held] == [0, 0, 0]
        assert len(face.aliased_keys) == 0
    router = play.faces["r"]
    assert len(router.up_by_id) == len(router.up_interests) == 1


def test_removed_faces_leave_nothing_behind() -> None:
    play = Play("peer")
    play.connects("app")
    for n in range(300):
        for role in ("client", "peer", "router"):
            name = f"{role[0]}{n}"
            play.connects(name, role)
            play.sends(name, subscriber(1, f"k/{n}"), token(2, f"t/{n}"))
            if role == "client":
                play.sends(name, interest(3, "current_future", "KS", f"k/{n}"))
            play.sends(name, put(f"k/{n}"))
        for name in (f"r{n}", f"c{n}", f"p{n}"):
            play.disconnects(name)
    tables = play.dispatcher.tables
    assert [len(table) for table in tables.entities] == [0, 0, 0]
    assert len(tables.interests) == 0
    assert len(play.dispatcher._gossip._neighbours) == 0
    assert play.dispatcher.next_deadline() is None


def test_declarations_of_one_neighbour_are_limited() -> None:
    play = Play("peer")
    play.connects("c1", "client")
    face = play.faces["c1"]
    face.declaration_count = FACE_DECLARATIONS_MAX - 1
    play.sends("c1", subscriber(1, "a"), subscriber(2, "b"), token(3, "c"), subscriber(1, "a"))
    assert len(face.held[0]) == 1
    assert play.dispatcher.counters.refused_declarations == 2
    play.sends("c1", no_subscriber(1), token(3, "c"))
    assert len(face.held[2]) == 1


def test_interests_of_one_neighbour_are_limited() -> None:
    play = Play("peer")
    play.connects("c1", "client")
    play.sends("c1", interest(0, "future", "S", "k"))
    interests = play.faces["c1"].interests
    interests.update(dict.fromkeys(range(FACE_INTERESTS_MAX), interests[0]))
    play.clear_received()
    play.sends("c1", interest(FACE_INTERESTS_MAX, "future", "S", "k"))
    play.receives("c1")
    assert play.dispatcher.counters.refused_interests == 1


def test_an_id_in_use_does_not_move_to_another_key() -> None:
    play = connected("peer", {"c1": "client", "c2": "client"})
    play.sends("c1", subscriber(1, "a"), subscriber(1, "b"))
    play.sends("c2", put("b", "1"), put("a", "2"))
    play.receives("c1", "PUT 2 a")
    assert play.dispatcher.counters.reused_ids == 1
