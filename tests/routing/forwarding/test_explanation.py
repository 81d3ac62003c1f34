"""Explanations of routes agree with what is forwarded, and have the right reasons."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import TypeVar

import pytest

from tests.chance import IS_FULL
from tests.routing.playbook import (
    Play,
    connected,
    final,
    put,
    queryable,
    request,
    subscriber,
    zid_of,
)
from zenlake.limits import ROUTE_NOTES_MAX
from zenlake.routing.forwarding.explanation import RouteExplanation
from zenlake.routing.work import SLICE_STEPS, UNLIMITED, Work
from zenlake.wire import Push, QueryTarget, Request

SEEDS = range(1_000 if IS_FULL else 60)
KEYS = ["a", "a/b", "a/*", "a/**", "**", "*/b", "a/@b", "c"]
T = TypeVar("T")


def result_of(job: Generator[None, None, T], work: Work, steps: int = UNLIMITED) -> T:
    while True:
        work.steps = steps
        try:
            next(job)
        except StopIteration as end:
            found: T = end.value
            return found


def explained(play: Play, source: str, key: str) -> RouteExplanation:
    explainer = play.dispatcher.explainer
    job = explainer.explain_publication(play.faces[source], None, key)
    return result_of(job, play.dispatcher.tables.work)


def asked(play: Play, source: str, key: str, target: QueryTarget) -> RouteExplanation:
    explainer = play.dispatcher.explainer
    job = explainer.explain_query(play.faces[source], None, key, target)
    return result_of(job, play.dispatcher.tables.work)


def verdicts(play: Play, explanation: RouteExplanation) -> dict[tuple[str, str], str]:
    names = {face: name for name, face in play.faces.items()}
    return {(names[note.holder], note.key): note.verdict for note in explanation.notes.notes}


def random_play(seed: int) -> tuple[Play, random.Random]:
    chance = random.Random(seed)
    play = Play(chance.choice(["peer", "router"]))
    play.connects("app")
    roles = ["client", "peer"] + (["router"] if play.dispatcher.role.name == "PEER" else [])
    for number in range(chance.randint(1, 5)):
        role = chance.choice(roles)
        play.connects(f"n{number}", role)
        if role == "peer" and play.dispatcher.role.name == "PEER" and chance.random() < 0.7:
            play.sends(f"n{number}", final(0))
    for id in range(1, chance.randint(1, 12)):
        name = chance.choice(list(play.faces))
        play.sends(name, subscriber(2 * id, chance.choice(KEYS)))
        name = chance.choice(list(play.faces))
        play.sends(name, queryable(2 * id + 1, chance.choice(KEYS), chance.random() < 0.5))
    play.clear_received()
    return play, chance


@pytest.mark.parametrize("seed", SEEDS)
def test_explanations_agree_with_what_is_forwarded(seed: int) -> None:
    play, chance = random_play(seed)
    for number in range(8):
        source, key = chance.choice(list(play.faces)), chance.choice(KEYS)
        publication = explained(play, source, key)
        target = chance.choice(list(QueryTarget))
        query = asked(play, source, key, target)
        play.nothing_received()
        play.sends(source, put(key))
        receivers = {name for name in play.faces if Push in map(type, play.received(name))}
        assert {face.zid for face in publication.faces if not face.is_local} == {
            zid_of(name) for name in receivers if name != "app"
        }
        assert any(face.is_local for face in publication.faces) == ("app" in receivers)
        assert sum(publication.notes.counts.values()) == len(publication.notes.notes)
        play.sends(source, request(100 + number, key, target))
        receivers = {name for name in play.faces if Request in map(type, play.received(name))}
        assert {play.faces[name] for name in receivers} == set(query.faces)
        play.clear_received()


def test_the_verdicts_of_a_publication() -> None:
    play = Play("router")
    for name, role in (("c1", "client"), ("c2", "client"), ("p1", "peer"), ("p2", "peer")):
        play.connects(name, role)
    play.sends("c1", subscriber(1, "a/**"))
    play.sends("c2", subscriber(1, "b"))
    play.sends("p1", subscriber(1, "a/b"))
    explanation = explained(play, "p2", "a/b")
    assert [face.zid for face in explanation.faces] == [zid_of("c1")]
    assert verdicts(play, explanation) == {("c1", "a/**"): "sent", ("p1", "a/b"): "same_region"}
    assert explanation.root == play.dispatcher.zid
    explanation = explained(play, "c1", "a/b")
    assert verdicts(play, explanation) == {("c1", "a/**"): "is_source", ("p1", "a/b"): "sent"}
    explanation = explained(play, "c1", "nobody")
    assert explanation.faces == []
    assert explanation.notes.counts == {}


def test_a_neighbour_with_incomplete_declarations_gets_it() -> None:
    play = connected("peer", {"app": "", "r1": "router", "p1": "peer"})
    explanation = explained(play, "app", "a")
    assert verdicts(play, explanation) == {("r1", ""): "unknown", ("p1", ""): "unknown"}
    assert explanation.root is None
    play.sends("p1", final(0))
    assert verdicts(play, explained(play, "app", "a")) == {("r1", ""): "unknown"}


def test_the_verdicts_of_a_query() -> None:
    play = Play("router")
    for name in ("c1", "c2", "c3"):
        play.connects(name, "client")
    play.sends("c1", queryable(1, "a/**"))
    play.sends("c2", queryable(1, "a/*", complete=True))
    best = asked(play, "c3", "a/b", QueryTarget.BEST_MATCHING)
    assert verdicts(play, best) == {("c1", "a/**"): "other_is_best", ("c2", "a/*"): "sent"}
    complete = asked(play, "c3", "a/b", QueryTarget.ALL_COMPLETE)
    assert verdicts(play, complete) == {("c1", "a/**"): "not_complete", ("c2", "a/*"): "sent"}
    assert {note.key for note in complete.notes.notes if note.is_complete} == {"a/*"}
    every = asked(play, "c3", "a/**", QueryTarget.ALL_COMPLETE)
    assert verdicts(play, every) == {("c1", "a/**"): "not_complete", ("c2", "a/*"): "not_complete"}
    assert every.faces == []


def test_an_explanation_changes_nothing() -> None:
    play = connected("router", {"c1": "client", "c2": "client"})
    play.sends("c1", subscriber(1, "a"))
    explained(play, "c2", "a")
    asked(play, "c2", "a", QueryTarget.ALL)
    origin = play.faces["c2"].origin
    assert origin.routes == {}
    assert origin.query_routes == {}
    play.nothing_received()


def test_an_explanation_takes_many_slices_and_lists_the_first_of_each_kind() -> None:
    play = connected("router", {"c1": "client", "c2": "client"})
    count = ROUTE_NOTES_MAX + 50
    play.sends("c1", *(subscriber(id, f"a/{id}") for id in range(1, count + 1)))
    job = play.dispatcher.explainer.explain_publication(play.faces["c2"], None, "a/*")
    explanation = result_of(job, play.dispatcher.tables.work, SLICE_STEPS // 64)
    assert explanation.notes.counts == {"sent": count}
    assert len(explanation.notes.notes) == ROUTE_NOTES_MAX
    assert [face.zid for face in explanation.faces] == [zid_of("c1")]
