"""Explanations across routers: followed from one to the next, they lead to all receivers."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from tests.chance import IS_FULL
from tests.routing.forwarding.test_explanation import KEYS, result_of
from tests.routing.gossip.test_gateways import peer_between, send_links
from tests.routing.playbook import put, queryable, request, subscriber, zid_of
from tests.routing.web import Web
from zenlake.routing.face import Face
from zenlake.routing.forwarding.explanation import RouteExplanation
from zenlake.routing.region import BESIDE
from zenlake.routing.work import UNLIMITED
from zenlake.wire import Push, QueryTarget, Request, ZenohId

SEEDS = range(500 if IS_FULL else 40)


def random_web(seed: int) -> tuple[Web, random.Random]:
    chance = random.Random(seed)
    names = "wxyz"[: chance.randint(2, 4)]
    web = Web(*names)
    pairs = list(combinations(names, 2))
    for one, other in chance.sample(pairs, chance.randint(1, len(pairs))):
        web.link(one, other)
    for number in range(chance.randint(2, 6)):
        web.connects(f"n{number}", chance.choice(["client", "peer", ""]), chance.choice(names))
    for id in range(1, chance.randint(2, 10)):
        web.sends(chance.choice(list(web.faces)), subscriber(2 * id, chance.choice(KEYS)))
        node = chance.choice(list(web.faces))
        web.sends(node, queryable(2 * id + 1, chance.choice(KEYS), chance.random() < 0.5))
    web.clear_received()
    return web, chance


def explain(
    web: Web, router: str, source: Face, root: ZenohId | None, key: str, target: QueryTarget | None
) -> RouteExplanation:
    dispatcher = web.routers[router]
    explainer = dispatcher.explainer
    job = (
        explainer.explain_publication(source, root, key)
        if target is None
        else explainer.explain_query(source, root, key, target)
    )
    return result_of(job, dispatcher.tables.work, UNLIMITED)


def followed(web: Web, node: str, key: str, target: QueryTarget | None) -> set[str]:
    """The nodes that get a message, according to the explanation of each router on the way."""
    router, source = web.faces[node]
    names = {zid_of(name): name for name in web.routers}
    nodes = {face: name for name, (_, face) in web.faces.items()}
    waiting: list[tuple[str, Face, ZenohId | None]] = [(router, source, None)]
    found: set[str] = set()
    while waiting:
        router, source, root = waiting.pop()
        explained = explain(web, router, source, root, key, target)
        assert explained.root is not None
        for face in explained.faces:
            if face.position == BESIDE:
                after = names[face.zid]
                waiting.append((after, web.link_faces[after, router], explained.root))
            else:
                assert nodes[face] not in found
                found.add(nodes[face])
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_following_explanations_finds_all_receivers(seed: int) -> None:
    web, chance = random_web(seed)
    for number in range(6):
        node, key = chance.choice(list(web.faces)), chance.choice(KEYS)
        target = chance.choice(list(QueryTarget))
        publication = followed(web, node, key, None)
        query = followed(web, node, key, target)
        web.sends(node, put(key))
        assert {name for name in web.faces if Push in map(type, web.received(name))} == publication
        web.sends(node, request(100 + number, key, target))
        assert {name for name in web.faces if Request in map(type, web.received(name))} == query
        web.clear_received()


def test_a_gateway_that_is_not_the_primary_is_explained() -> None:
    web = peer_between()
    send_links(web, "a", "b")
    web.sends("cc", subscriber(1, "x"))
    for source, router, key, holder in (
        (web.link_faces["a", "c"], "a", "k", "pa"),  # towards the peer
        (web.faces["pa"][1], "a", "x", "c"),  # from the peer
    ):
        explained = explain(web, router, source, None, key, None)
        found = {note.holder.zid: note.verdict for note in explained.notes.notes}
        assert found[zid_of(holder)] == "other_gateway"


def test_a_router_without_a_route_is_explained() -> None:
    web = Web("w", "x")
    web.link("w", "x")
    web.connects("c1", "client", "x")
    web.connects("c2", "client", "w")
    web.sends("c1", subscriber(1, "a"))
    explained = explain(web, "w", web.faces["c2"][1], None, "a", None)
    (note,) = explained.notes.notes
    assert (note.verdict, note.holder.zid) == ("sent", zid_of("x"))
    assert note.hop is web.link_faces["w", "x"]
    # A tree that this router does not know leads nowhere.
    stranger = explain(web, "w", web.link_faces["w", "x"], ZenohId.parse("ff"), "a", None)
    (note,) = stranger.notes.notes
    assert note.verdict == "no_way"
    assert stranger.faces == []
