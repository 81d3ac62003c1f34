"""A FaceMap behaves like a dictionary; a closed dispatcher leaves nothing behind."""

from __future__ import annotations

import gc

from hypothesis import given
from hypothesis import strategies as st

from tests.routing.playbook import Play, queryable, request, subscriber, token
from zenlake.routing.face import Face
from zenlake.routing.face_map import FaceMap


def faces(count: int) -> list[Face]:
    play = Play("peer", gossip=False)
    for n in range(count):
        play.connects(f"c{n}", "client")
    return list(play.faces.values())


FACES = faces(4)
actions = st.tuples(st.sampled_from(["put", "delete"]), st.integers(0, 3), st.integers(1, 9))


@given(st.lists(actions, max_size=40))
def test_a_face_map_behaves_like_a_dictionary(todo: list[tuple[str, int, int]]) -> None:
    model: dict[Face, int] = {}
    tried = FaceMap()
    for action, index, value in todo:
        face = FACES[index]
        if action == "put":
            model[face] = value
            tried.put(face, value)
        elif face in model:
            del model[face]
            del tried[face]
        assert list(tried) == tried.faces() == list(tried.each()) == list(model)
        assert len(tried) == len(model)
        assert bool(tried) == bool(model)
        for one in FACES:
            assert tried.value(one) == model.get(one)
            assert (one in tried) == (one in model)
    tried.clear()
    assert tried.faces() == []


def live_faces() -> int:
    gc.collect()
    return sum(isinstance(one, Face) for one in gc.get_objects())


def test_a_closed_dispatcher_is_freed() -> None:
    """Including the state of neighbours whose removal was not finished."""
    before = live_faces()
    play = Play("peer", gossip=False)
    for name in ("c1", "c2"):
        play.connects(name, "client")
        play.sends(name, *(subscriber(n, f"s/{n}") for n in range(50)))
        play.sends(name, *(queryable(n, f"q/{name}/{n}") for n in range(50)))
        play.sends(name, *(token(n, f"t/{n}") for n in range(50)))
    play.sends("c1", *(request(n, "q/c2/*") for n in range(50)))
    play.sends("c2", *(request(n, "q/c1/*") for n in range(50)))
    play.dispatcher.remove_face(play.faces["c1"], 0.0, 1)
    assert play.dispatcher.has_jobs
    assert live_faces() == before + 2
    play.dispatcher.close()
    del play
    assert live_faces() == before
