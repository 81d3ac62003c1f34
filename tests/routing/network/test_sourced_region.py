"""Declarations with the node id of their source: unknown, repeated, lost, after a restart."""

from __future__ import annotations

from tests.routing.gossip.test_gossip import gossip
from tests.routing.playbook import (
    Play,
    connected,
    interest,
    no_token,
    put,
    request,
    subscriber,
    token,
    zid_of,
)
from tests.routing.web import web_of
from zenlake.routing.work import UNLIMITED
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    Extension,
    LinkState,
    NetworkMessage,
    Push,
    QoS,
    UndeclaredKey,
    UndeclareSubscriber,
    UndeclareToken,
    WhatAmI,
    WireExpr,
)


def router_with_neighbour() -> Play:
    play = connected("router", {"c": "client", "r": "router"}, gossip=False)
    play.sends(
        "r", gossip(LinkState(0, 1, (1,), zid=zid_of("r")), LinkState(1, 1, (0,), zid=zid_of("x")))
    )
    play.time_passes(0.2)
    play.clear_received()
    return play


def sourced(node_id: int | None, key: str = "k") -> Declare:
    return Declare(DeclareSubscriber(0, WireExpr(0, key)), node_id=node_id)


def test_unknown_node_ids_are_dropped_and_counted() -> None:
    play = router_with_neighbour()
    play.sends("c", subscriber(1, "k"))
    play.sends("r", sourced(9), Push(WireExpr(0, "k"), put("k").body, node_id=9))
    play.sends("r", request(1, "k"))
    unknown = request(2, "k")
    unknown.node_id = 9
    play.sends("r", unknown)
    play.receives("c")
    assert play.dispatcher.counters.unknown_nodes == 3
    assert "RESPONSE_FINAL 2" in received_texts(play, "r")


def received_texts(play: Play, name: str) -> list[str]:
    from tests.routing.playbook import text_of

    return [text_of(message, key, False) for message, key, _ in play.outlets[name].messages]


def test_node_ids_of_clients_are_ignored() -> None:
    play = router_with_neighbour()
    play.connects("c2", "client")
    play.sends("c", subscriber(1, "k"))
    play.sends("c2", Push(WireExpr(0, "k"), put("k").body, node_id=1))
    play.receives("c", "PUT x k")
    assert play.dispatcher.counters.unknown_nodes == 0


def test_a_repeated_declaration_is_not_forwarded() -> None:
    web = web_of("abc")
    web.sends("ca", subscriber(1, "k"))
    web.clear_received()
    face = web.link_faces["b", "a"]
    web._receive("b", face, sourced(None), True)
    web.settle()
    assert web.sent("b", "c") == []


def test_an_undeclaration_of_what_was_not_declared_is_counted() -> None:
    play = router_with_neighbour()
    key = UndeclaredKey(WireExpr(0, "k"))
    play.sends("r", Declare(UndeclareSubscriber(0, key)), Declare(UndeclareSubscriber(0)))
    assert play.dispatcher.counters.unknown_undeclarations == 1
    play.nothing_received()


def test_extensions_of_a_sourced_declaration_are_forwarded() -> None:
    web = web_of("abc")
    body = DeclareSubscriber(0, WireExpr(0, "k"), extensions=(Extension(0x0E),))
    message = Declare(body, qos=QoS(8), extensions=(Extension(0x09),))
    web.sends("ca")
    face = web.link_faces["b", "a"]
    seen: list[NetworkMessage] = []
    wire = web.wires["b", "c"]
    web._receive("b", face, message, True)
    seen += [message for message, _ in wire.messages]
    (copy,) = [one for one in seen if isinstance(one, Declare) and one.node_id]
    assert isinstance(copy.body, DeclareSubscriber)
    assert (copy.extensions, copy.body.extensions) == (message.extensions, body.extensions)
    web.settle()


def test_declarations_of_a_source_are_limited() -> None:
    play = Play("router", gossip=False, declarations_max=2)
    play.connects("r", "router")
    play.clear_received()
    play.sends("r", *(sourced(None, f"k/{number}") for number in range(3)))
    assert play.dispatcher.counters.refused_declarations == 1
    assert len(play.dispatcher.tables.entities[0]) == 2
    play.disconnects("r")
    assert len(play.dispatcher.tables.entities[0]) == 0
    assert play.dispatcher.tables.memory.held_bytes == 0


def test_roles_of_neighbours() -> None:
    play = router_with_neighbour()
    assert play.faces["r"].role == WhatAmI.ROUTER
    assert [face.region.name for face in play.dispatcher.faces] == ["south:0:client", "north"]


def test_an_undeclaration_lost_on_a_dead_link_comes_over_another() -> None:
    web = web_of("abc", "ca")
    web.connects("watcher", "client", "c")
    web.sends("ca", token(1, "k"))
    web.sends("watcher", interest(1, "current_future", "KT", "k"))
    web.clear_received()
    web.loses("a", "c")
    web.sends("ca", no_token(1))
    web.receives("watcher")
    web.unlink("a", "c")
    web.time_passes(1.0)
    web.receives("watcher", "U_TOKEN 1")


def test_earlier_declarations_of_a_restarted_router_are_removed() -> None:
    web = web_of("abc", "ca")
    web.sends("ca", token(1, "k"), subscriber(2, "s"))
    web.sends("cc", interest(1, "current_future", "KT", "k"))
    web.clear_received()
    web.loses("a", "c")
    web.loses("a", "b")
    again = LinkState(9, 1 << 62, (0,), zid=zid_of("a"), whatami=WhatAmI.ROUTER)
    web.wires["b", "c"].messages.append((gossip(again), True))
    web.settle()
    web.receives("cc", "U_TOKEN 1")


def test_the_end_of_a_token_of_two_routers_is_announced_once() -> None:
    """Although the work for one of them is not finished when the other ends."""
    for steps in (1, 30, UNLIMITED):
        web = web_of("ab", "bc")
        web.sends("ca", token(1, "k"))
        web.sends("cc", token(1, "k"))
        web.sends("cb", interest(1, "future", "KT", "**"))
        web.clear_received()
        web.slice_steps = steps
        routers = web.routers["b"]
        for name in ("a", "c"):
            body = UndeclareToken(0, UndeclaredKey(WireExpr(0, "k")))
            end_of_k = Declare(body, qos=QoS(8))
            face = web.link_faces["b", name]
            routers.receive_run(face, [end_of_k], 0, 1, True, web.now, steps)
        web.settle()
        web.receives("cb", "U_TOKEN 0 k")
