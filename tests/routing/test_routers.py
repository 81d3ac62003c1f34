"""Several routers: declarations, publications and queries along trees (§4.7)."""

from __future__ import annotations

import pytest

from tests.routing.playbook import (
    Play,
    end,
    interest,
    no_queryable,
    no_subscriber,
    no_token,
    put,
    queryable,
    reply,
    request,
    subscriber,
    token,
    zid_of,
)
from tests.routing.test_gossip import gossip
from tests.routing.web import Web
from zenlake.routing.work import UNLIMITED
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    Extension,
    LinkState,
    NetworkMessage,
    Push,
    QoS,
    QueryTarget,
    UndeclaredKey,
    UndeclareSubscriber,
    UndeclareToken,
    WhatAmI,
    WireExpr,
)


def web_of(*links: str) -> Web:
    """Routers by letters, a client on each: `web_of("abc", "ca")` is a triangle."""
    web = Web(*sorted(set("".join(links))), gossip=False)
    for link in links:
        web.link(*link)
    for name in web.routers:
        web.enters("c" + name, "client", name)
    web.forget()
    return web


# Declarations.


def test_a_publication_crosses_three_routers() -> None:
    web = web_of("abc")
    web.says("cc", subscriber(1, "k/*"))
    assert web.sent("c", "b") == ["D_SUB 0 k/*"]
    assert web.sent("b", "a") == ["D_SUB 0 k/* of 2"]
    web.says("ca", put("k/1"), put("j"))
    web.hears("cc", "PUT x k/1")
    assert web.sent("a", "b") == ["PUT x k/1"]
    assert web.sent("b", "c") == ["PUT x k/1 of 1"]
    web.says("cc", no_subscriber(1))
    assert web.sent("c", "b") == ["U_SUB 0"]
    assert web.sent("b", "a") == ["U_SUB 0 of 2"]
    web.says("ca", put("k/1"))
    assert web.sent("a", "b") == []


def test_a_router_declares_a_key_once_however_many_hold_it() -> None:
    web = web_of("ab")
    web.enters("ca2", "client", "a")
    web.enters("pa", "peer", "a")
    web.says("ca", subscriber(1, "k"))
    web.says("ca2", subscriber(1, "k"))
    web.says("pa", subscriber(1, "k"))
    assert web.sent("a", "b") == ["D_SUB 0 k"]
    web.says("ca", no_subscriber(1))
    web.leaves("ca2")
    assert web.sent("a", "b") == []
    web.leaves("pa")
    assert web.sent("a", "b") == ["U_SUB 0"]


def test_a_router_does_not_declare_what_other_routers_have() -> None:
    web = web_of("ab")
    web.says("ca", subscriber(1, "k"))
    web.forget()
    web.says("cb", subscriber(1, "k"))
    assert web.sent("b", "a") == ["D_SUB 0 k"]
    assert web.sent("a", "b") == []


def test_queryables_are_described_anew_when_they_change() -> None:
    web = web_of("abc")
    web.says("ca", queryable(1, "q"))
    web.says("ca", queryable(1, "q", complete=True))
    assert web.sent("b", "c") == ["D_QBL 0 q of 1", "D_QBL 0 q (complete, distance 0) of 1"]
    web.says("cc", interest(1, "current_future", "Q", "q"))
    web.hears("cc", "D_QBL 1 q (complete, distance 0) for 1", "D_FINAL for 1")
    web.says("ca", no_queryable(1))
    web.hears("cc", "U_QBL 1")


def test_interests_are_answered_from_what_the_network_declared() -> None:
    web = web_of("abc")
    web.says("ca", subscriber(1, "k"), token(1, "t"))
    web.says("cc", interest(1, "current_future", "KS", "k"), interest(2, "current", "KT", "t"))
    web.hears("cc", "D_SUB 1 k for 1", "D_FINAL for 1", "D_TOKEN 0 t for 2", "D_FINAL for 2")
    assert web.sent("c", "b") == []


def test_tokens_appear_and_disappear_across_the_network() -> None:
    web = web_of("abc")
    web.says("cc", interest(1, "current_future", "KT", "t/*"))
    web.says("ca", token(1, "t/1"))
    web.says("cb", token(1, "t/1"))
    web.hears("cc", "D_FINAL for 1", "D_TOKEN 1 t/1")
    web.says("ca", no_token(1))
    web.hears("cc")
    web.leaves("cb")
    web.hears("cc", "U_TOKEN 1")


def test_a_new_router_gets_everything_once() -> None:
    web = web_of("ab")
    web.says("ca", subscriber(1, "s"), token(2, "t"))
    web.says("cb", queryable(1, "q", complete=True))
    web.forget()
    web.starts("n")
    web.link("b", "n")
    assert sorted(web.sent("b", "n")) == [
        "D_QBL 0 q (complete, distance 0)",
        "D_SUB 0 s of 1",
        "D_TOKEN 0 t of 1",
    ]
    web.link("n", "a")
    declared = web.sent("b", "n") + web.sent("a", "n")
    assert all(line.startswith(("D_SUB", "D_TOKEN", "D_QBL")) for line in declared)


def test_what_a_router_declared_ends_with_it() -> None:
    web = web_of("abc")
    web.says("cc", subscriber(1, "k"), token(2, "t"))
    web.says("ca", interest(1, "current_future", "KST", None))
    web.forget()
    web.unlink("b", "c")
    web.hears("ca", "U_SUB 1", "U_TOKEN 2")
    assert web.sent("b", "a") == []
    web.says("ca", put("k"))
    assert web.sent("a", "b") == []
    web.link("b", "c")
    web.hears("ca", "D_SUB 3 k", "D_TOKEN 4 t")


def test_a_restarted_router_has_what_it_declares_now() -> None:
    web = web_of("abc")
    web.says("cc", subscriber(1, "old"))
    web.stops("c")
    web.starts("c")
    web.enters("cc", "client", "c")
    web.says("cc", subscriber(1, "new"))
    web.link("b", "c")
    web.says("ca", put("old"), put("new"))
    web.hears("cc", "PUT x new")


# Ways.


def test_one_copy_goes_over_each_link_of_a_ring() -> None:
    web = web_of("abcd", "da")
    for name in ("cb", "cc", "cd"):
        web.says(name, subscriber(1, "k"))
    web.forget()
    web.says("ca", put("k"))
    for name in ("cb", "cc", "cd"):
        web.hears(name, "PUT x k")
    pairs = [pair for pair in web.wires if web.wires[pair].log]
    assert len(pairs) == 3
    assert len({frozenset(pair) for pair in pairs}) == 3


def test_a_ring_that_breaks_still_delivers_once() -> None:
    web = web_of("abcd", "da")
    web.says("cc", subscriber(1, "k"))
    for one, other in ("ab", "bc", "cd", "da"):
        web.unlink(one, other)
        web.says("ca", put("k"))
        web.hears("cc", "PUT x k")
        web.link(one, other)
        web.says("ca", put("k"))
        web.hears("cc", "PUT x k")


def test_weights_decide_the_way() -> None:
    web = web_of("abc", "ca")
    web.says("cc", subscriber(1, "k"))
    web.forget()
    network = web.routers["a"].tables.routers
    assert network is not None
    network.network.set_weights({zid_of("c"): 1000}, web.now)
    web.settle()
    web.says("ca", put("k"))
    web.hears("cc", "PUT x k")
    assert "PUT x k" in web.sent("a", "b")
    assert "PUT x k" not in web.sent("a", "c")


def test_peers_of_different_routers_reach_each_other() -> None:
    web = web_of("ab")
    web.enters("pa", "peer", "a")
    web.enters("pb", "peer", "b")
    web.says("pa", subscriber(1, "k"), queryable(1, "q"), token(1, "t"))
    web.says("pb", put("k"), request(1, "q"), interest(1, "current", "KT", "t"))
    web.hears("pa", "PUT x k", "REQUEST 1 q")
    web.says("pa", reply(1, "q"), end(1))
    web.hears("pb", "D_TOKEN 0 t for 1", "D_FINAL for 1", "RESPONSE 1 PUT r q", "RESPONSE_FINAL 1")


# Queries.


@pytest.fixture
def star() -> Web:
    """Three routers around `m`, with queryables of every kind."""
    web = web_of("am", "bm", "cm")
    web.says("ca", queryable(1, "q/**", complete=True))
    web.says("cb", queryable(1, "q/**", complete=True))
    web.says("cc", queryable(1, "q/1"))
    web.forget()
    return web


@pytest.mark.parametrize(
    ("target", "count"),
    [
        (None, 1),
        (QueryTarget.ALL, 3),
        (QueryTarget.ALL_COMPLETE, 2),
        (QueryTarget.BEST_MATCHING, 1),
    ],
)
def test_targets_across_routers(star: Web, target: QueryTarget | None, count: int) -> None:
    star.says("cm", request(1, "q/*", target))
    asked = [name for name in ("ca", "cb", "cc") if star.takes(name)]
    assert len(asked) == count
    if target is not None and target == QueryTarget.ALL_COMPLETE:
        assert asked == ["ca", "cb"]
    for name in asked:
        star.hears("cm")
        star.says(name, end(1))
    star.hears("cm", "RESPONSE_FINAL 1")


def test_the_nearest_complete_queryable_is_asked() -> None:
    web = web_of("abc", "ad")
    for name in ("cb", "cc", "cd"):
        web.says(name, queryable(1, "q", complete=True))
    weights = web.routers["a"].tables.routers
    assert weights is not None
    weights.network.set_weights({zid_of("d"): 300}, web.now)
    web.settle()
    web.says("ca", request(1, "q"))
    web.hears("cd")
    web.hears("cb", "REQUEST 1 q")
    # The choice is made in each region again, and the next router is another region.
    web.hears("cc", "REQUEST 1 q")


def test_several_routers_behind_one_are_asked_by_one_request(star: Web) -> None:
    star.says("ca", no_queryable(1))
    star.forget()
    star.says("ca", request(1, "q/1", QueryTarget.ALL))
    assert star.sent("a", "m") == ["REQUEST 1 q/1"]
    assert star.sent("m", "b") == ["REQUEST 1 q/1 of 1"]
    assert star.sent("m", "c") == ["REQUEST 1 q/1 of 1"]
    star.says("cb", reply(1, "q/1", "b"), end(1))
    star.says("cc", reply(1, "q/1", "c"), end(1))
    star.hears("ca", "RESPONSE 1 PUT b q/1", "RESPONSE 1 PUT c q/1", "RESPONSE_FINAL 1")


def test_a_query_ends_when_the_way_to_the_answer_breaks() -> None:
    web = web_of("abc")
    web.says("cc", queryable(1, "q"))
    web.says("ca", request(1, "q"))
    web.unlink("b", "c")
    web.hears("ca", "RESPONSE_FINAL 1")


# What a router says that cannot be right.


def router_with_neighbour() -> Play:
    play = Play("router", gossip=False)
    play.enters("c", "client")
    play.enters("r", "router")
    play.says(
        "r", gossip(LinkState(0, 1, (1,), zid=zid_of("r")), LinkState(1, 1, (0,), zid=zid_of("x")))
    )
    play.passes(0.2)
    play.forget()
    return play


def sourced(node_id: int | None, key: str = "k") -> Declare:
    return Declare(DeclareSubscriber(0, WireExpr(0, key)), node_id=node_id)


def test_unknown_node_ids_are_dropped_and_counted() -> None:
    play = router_with_neighbour()
    play.says("c", subscriber(1, "k"))
    play.says("r", sourced(9), Push(WireExpr(0, "k"), put("k").body, node_id=9))
    play.says("r", request(1, "k"))
    unknown = request(2, "k")
    unknown.node_id = 9
    play.says("r", unknown)
    play.hears("c")
    assert play.dispatcher.counters.unknown_nodes == 3
    assert "RESPONSE_FINAL 2" in heard(play, "r")


def heard(play: Play, name: str) -> list[str]:
    from tests.routing.playbook import text_of

    return [text_of(message, key, False) for message, key, _ in play.ears[name].messages]


def test_node_ids_of_clients_are_ignored() -> None:
    play = router_with_neighbour()
    play.enters("c2", "client")
    play.says("c", subscriber(1, "k"))
    play.says("c2", Push(WireExpr(0, "k"), put("k").body, node_id=1))
    play.hears("c", "PUT x k")
    assert play.dispatcher.counters.unknown_nodes == 0


def test_a_declaration_that_is_no_news_is_not_passed_on() -> None:
    web = web_of("abc")
    web.says("ca", subscriber(1, "k"))
    web.forget()
    face = web.link_faces["b", "a"]
    web._receive("b", face, sourced(None), True)
    web.settle()
    assert web.sent("b", "c") == []


def test_an_undeclaration_of_what_was_not_declared_is_counted() -> None:
    play = router_with_neighbour()
    key = UndeclaredKey(WireExpr(0, "k"))
    play.says("r", Declare(UndeclareSubscriber(0, key)), Declare(UndeclareSubscriber(0)))
    assert play.dispatcher.counters.unknown_undeclarations == 1
    play.silence()


def test_extensions_of_a_sourced_declaration_are_passed_on() -> None:
    web = web_of("abc")
    body = DeclareSubscriber(0, WireExpr(0, "k"), extensions=(Extension(0x0E),))
    message = Declare(body, qos=QoS(8), extensions=(Extension(0x09),))
    web.says("ca")
    face = web.link_faces["b", "a"]
    seen: list[NetworkMessage] = []
    wire = web.wires["b", "c"]
    web._receive("b", face, message, True)
    seen += [message for message, _ in wire.messages]
    (copy,) = [one for one in seen if isinstance(one, Declare) and one.node_id]
    assert isinstance(copy.body, DeclareSubscriber)
    assert (copy.extensions, copy.body.extensions) == (message.extensions, body.extensions)
    web.settle()


def test_what_a_source_may_declare_is_limited() -> None:
    play = Play("router", gossip=False, declarations_max=2)
    play.enters("r", "router")
    play.forget()
    play.says("r", *(sourced(None, f"k/{number}") for number in range(3)))
    assert play.dispatcher.counters.refused_declarations == 1
    assert len(play.dispatcher._tables.entities[0]) == 2
    play.leaves("r")
    assert len(play.dispatcher._tables.entities[0]) == 0
    assert play.dispatcher._tables.memory.held_bytes == 0


def test_roles_of_neighbours() -> None:
    play = router_with_neighbour()
    assert play.faces["r"].role == WhatAmI.ROUTER
    assert [face.region.name for face in play.dispatcher.faces] == ["south:0:client", "north"]


def test_an_undeclaration_lost_on_a_dead_link_comes_over_another() -> None:
    web = web_of("abc", "ca")
    web.enters("watcher", "client", "c")
    web.says("ca", token(1, "k"))
    web.says("watcher", interest(1, "current_future", "KT", "k"))
    web.forget()
    web.loses("a", "c")
    web.says("ca", no_token(1))
    web.hears("watcher")
    web.unlink("a", "c")
    web.passes(1.0)
    web.hears("watcher", "U_TOKEN 1")


def test_what_a_restarted_router_had_is_forgotten() -> None:
    web = web_of("abc", "ca")
    web.says("ca", token(1, "k"), subscriber(2, "s"))
    web.says("cc", interest(1, "current_future", "KT", "k"))
    web.forget()
    web.loses("a", "c")
    web.loses("a", "b")
    again = LinkState(9, 1 << 62, (0,), zid=zid_of("a"), whatami=WhatAmI.ROUTER)
    web.wires["b", "c"].messages.append((gossip(again), True))
    web.settle()
    web.hears("cc", "U_TOKEN 1")


def test_the_end_of_a_token_of_two_routers_is_announced_once() -> None:
    """Although the work for one of them is not finished when the other ends."""
    for steps in (1, 30, UNLIMITED):
        web = web_of("ab", "bc")
        web.says("ca", token(1, "k"))
        web.says("cc", token(1, "k"))
        web.says("cb", interest(1, "future", "KT", "**"))
        web.forget()
        web.slice_steps = steps
        routers = web.routers["b"]
        for name in ("a", "c"):
            body = UndeclareToken(0, UndeclaredKey(WireExpr(0, "k")))
            end_of_k = Declare(body, qos=QoS(8))
            face = web.link_faces["b", name]
            routers.receive_run(face, [end_of_k], 0, 1, True, web.now, steps)
        web.settle()
        web.hears("cb", "U_TOKEN 0 k")
