"""Linkstate peers: a network of peers and routers beside that of the routers (§4.9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.routing.playbook import (
    Play,
    interest,
    no_queryable,
    no_subscriber,
    no_token,
    put,
    queryable,
    reply,
    request,
    response_final,
    subscriber,
    token,
    zid_of,
)
from tests.routing.web import Web, web_of
from zenlake.routing.declarations.entity import KINDS
from zenlake.routing.forwarding.route_notes import NOT_ELECTED, SENT
from zenlake.wire import NetworkMessage, Push, QueryTarget, Request

PEERS = "pqst"


def linkstate_web(*links: str, **settings: Any) -> Web:
    """Nodes by letters, those of `PEERS` are peers; a client on each."""
    return web_of(*links, peers=PEERS, **settings)


def listeners(web: Web) -> list[str]:
    """The clients that received a publication since the last call, and how many."""
    found = []
    for name in web.outlets:
        count = sum(isinstance(message, Push) for message in web.received(name))
        if count:
            found.append(name if count == 1 else f"{name} {count} times")
    return sorted(found)


# One network of peers.


def test_peers_forward_declarations_and_publications_of_other_peers() -> None:
    web = linkstate_web("pqs")
    web.sends("cs", subscriber(1, "k/*"))
    assert web.sent("s", "q") == ["D_SUB 0 k/*"]
    assert web.sent("q", "p") == ["D_SUB 0 k/* of 2"]
    web.sends("cp", put("k/1"), put("j"))
    web.receives("cs", "PUT x k/1")
    assert web.sent("q", "s") == ["PUT x k/1 of 1"]
    web.sends("cs", no_subscriber(1))
    web.clear_received()
    web.sends("cp", put("k/1"))
    assert web.sent("p", "q") == []


def test_peers_do_not_send_the_initial_final_of_peers_without_a_network() -> None:
    web = linkstate_web("pq")
    for pair in web.wires:
        assert web.sent(*pair) == []


def test_a_router_forwards_between_peers() -> None:
    web = linkstate_web("paq")
    web.sends("cq", subscriber(1, "k"), queryable(1, "q"), token(1, "t"))
    web.clear_received()
    web.sends("cp", put("k"))
    assert listeners(web) == ["cq"]
    assert web.sent("a", "q") == ["PUT x k of 1"]
    web.sends("cp", request(1, "q"))
    assert [type(message) for message in web.received("cq")] == [Request]
    web.sends("cq", reply(1, "q"), response_final(1))
    web.receives("cp", "RESPONSE 1 PUT r q", "RESPONSE_FINAL 1")
    web.sends("cp", interest(1, "current_future", "KT", "t"))
    web.receives("cp", "D_TOKEN 1 t for 1", "D_FINAL for 1")
    web.sends("cq", no_token(1))
    web.receives("cp", "U_TOKEN 1")


def test_interests_of_a_linkstate_peer_stay_with_it() -> None:
    web = linkstate_web("pa")
    web.sends("ca", subscriber(1, "k"))
    web.clear_received()
    web.sends("cp", interest(1, "current_future", "KS", "k"))
    web.receives("cp", "D_SUB 1 k for 1", "D_FINAL for 1")
    assert web.sent("p", "a") == []


def test_declarations_of_a_peer_end_when_it_leaves() -> None:
    web = linkstate_web("paq")
    web.sends("ca", interest(1, "current_future", "KS", "k"))
    web.sends("cp", subscriber(1, "k"))
    web.clear_received()
    web.unlink("p", "a")
    web.receives("ca", "U_SUB 1")
    web.receives("cq")
    assert web.sent("a", "q") == []  # known from the link states


# The network of peers and that of the routers.


def test_a_router_announces_each_network_to_the_other() -> None:
    web = linkstate_web("pabq")
    web.sends("cp", subscriber(1, "k"))
    assert web.sent("a", "b") == ["D_SUB 0 k"]
    assert web.sent("b", "q") == ["D_SUB 0 k"]
    assert web.sent("b", "a") == []
    web.sends("cq", put("k"))
    assert listeners(web) == ["cp"]
    for pair in ("qb", "ba", "ap"):
        # In each network the source of the message is the node that sends it into that network.
        assert web.sent(*pair) == ["PUT x k"]
    web.sends("cp", no_subscriber(1))
    assert web.sent("a", "b") == ["U_SUB 0"]
    assert web.sent("b", "q") == ["U_SUB 0"]


def two_ways() -> Web:
    """The peer `p` is linked to the routers `a` and `b`, which are linked to each other."""
    return linkstate_web("pabp")


@pytest.mark.parametrize("key", ["k/1", "k/2", "k/3", "k/4", "k/5", "k/6"])
@pytest.mark.parametrize("settings", [{}, {"wall_ns": None}], ids=["ours", "as deployed"])
def test_every_node_gets_a_publication_once(settings: dict[str, Any], key: str) -> None:
    web = linkstate_web("pabp", "bc", "pq", **settings)
    clients = sorted(web.outlets)
    for name in clients:
        web.sends(name, subscriber(1, "k/*"))
    web.clear_received()
    for name in clients:
        web.sends(name, put(key))
        assert listeners(web) == [other for other in clients if other != name], name


@pytest.mark.parametrize("key", ["k/1", "k/2", "k/3", "k/4", "k/5", "k/6"])
def test_every_node_gets_a_query_once(key: str) -> None:
    web = linkstate_web("pabp", "bc", "pq")
    clients = sorted(web.outlets)
    for name in clients:
        web.sends(name, queryable(1, "k/*"))
    web.clear_received()
    for number, name in enumerate(clients, 1):
        web.sends(name, request(number, key, QueryTarget.ALL))
        for other in clients:
            if other != name:
                (asked,) = web.received(other)
                assert isinstance(asked, Request)
                web.sends(other, response_final(asked.request_id))
        web.receives(name, f"RESPONSE_FINAL {number}")


def test_both_routers_are_elected_for_some_keys() -> None:
    web = two_ways()
    web.sends("cp", subscriber(1, "k/*"))
    web.clear_received()
    carriers = set()
    for number in range(20):
        web.sends("ca", put(f"k/{number}"))
        assert listeners(web) == ["cp"]
        carriers |= {router for router in "ab" if web.sent(router, "p")}
        web.clear_received()
    assert carriers == {"a", "b"}


def test_the_explanation_names_another_router_as_elected() -> None:
    web = two_ways()
    web.sends("cp", subscriber(1, "k/*"))
    for number in range(10):
        verdicts = []
        for router in "ab":
            dispatcher = web.routers[router]
            source = web.faces["c" + router][1]
            job = dispatcher.explainer.explain_publication(source, None, f"k/{number}")
            explained = None
            while explained is None:
                try:
                    next(job)
                except StopIteration as end_of_job:
                    explained = end_of_job.value
            notes = [note for note in explained.notes.notes if note.holder.zid == zid_of("p")]
            verdicts += [note.verdict for note in notes]
        assert sorted(verdicts) == [NOT_ELECTED, SENT]


def test_a_router_relays_between_peers_although_another_one_is_elected() -> None:
    """Real routers lose such publications (SN-116)."""
    web = linkstate_web("pabp", "aq")
    web.sends("cq", subscriber(1, "k/*"))
    for number in range(10):
        web.clear_received()
        web.sends("cp", put(f"k/{number}"))
        assert listeners(web) == ["cq"], number


def test_the_remaining_router_forwards_everything() -> None:
    web = two_ways()
    web.sends("cp", subscriber(1, "k/*"))
    web.unlink("a", "p")
    for number in range(6):
        web.clear_received()
        web.sends("ca", put(f"k/{number}"))
        assert listeners(web) == ["cp"]
    web.link("a", "p")
    web.unlink("a", "b")
    for number in range(6):
        web.clear_received()
        web.sends("ca", put(f"k/{number}"))
        assert listeners(web) == ["cp"]


DECLARED: list[tuple[Callable[[int, str], NetworkMessage], Callable[[int], NetworkMessage]]] = [
    (subscriber, no_subscriber),
    (queryable, no_queryable),
    (token, no_token),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("settings", [{}, {"wall_ns": None}], ids=["ours", "as deployed"])
def test_no_declaration_stays_after_its_end(settings: dict[str, Any], kind: int) -> None:
    """Two routers that repeat each other would keep a declaration for ever (SN-116)."""
    declare, undeclare = DECLARED[kind]
    web = linkstate_web("pabp", "bc", **settings)
    for name in list(web.outlets):
        web.sends(name, declare(1, "k"))
        assert all(knows(web, node, kind) for node in web.routers)
        web.sends(name, undeclare(1))
        assert not [node for node in web.routers if knows(web, node, kind)], name


@pytest.mark.parametrize("kind", KINDS)
def test_no_declaration_stays_when_routers_disconnect_and_connect_again(kind: int) -> None:
    declare, undeclare = DECLARED[kind]
    web = two_ways()
    web.sends("ca", declare(1, "k"))
    for _ in range(2):
        web.unlink("a", "b")
        assert all(knows(web, node, kind) for node in web.routers)
        web.link("a", "b")
        assert all(knows(web, node, kind) for node in web.routers)
    web.unlink("a", "b")
    web.sends("ca", undeclare(1))
    web.link("a", "b")
    assert not [node for node in web.routers if knows(web, node, kind)]


def knows(web: Web, node: str, kind: int) -> bool:
    entity = web.routers[node].tables.entities[kind].get("k")
    return entity is not None and len(entity.holders) > 0


def test_slices_of_one_step_make_no_difference() -> None:
    web = two_ways()
    web.slice_steps = 1
    web.sends("cp", subscriber(1, "k"), queryable(1, "k"), token(1, "k"))
    web.sends("ca", put("k"))
    web.sends("cb", put("k"))
    assert listeners(web) == ["cp 2 times"]
    web.unlink("a", "p")
    web.unlink("b", "p")
    for kind in KINDS:
        assert not knows(web, "a", kind)
        assert not knows(web, "b", kind)


# The election.


def test_routers_without_a_network_of_peers_elect_nobody() -> None:
    play = Play("router")
    assert play.dispatcher.tables.barred_region("k") is None


def test_a_network_is_charged_to_the_peer_that_describes_it() -> None:
    web = linkstate_web("pa")
    face = web.link_faces["a", "p"]
    before = face.account.held_bytes
    web.starts("q", "peer")
    web.link("p", "q")
    assert face.account.held_bytes > before
