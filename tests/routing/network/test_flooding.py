"""Link states that a router sends: which, and to which neighbours (behaviour reference §4.7)."""

from __future__ import annotations

from tests.routing.network.mesh import Router, state
from zenlake.wire import WhatAmI, ZenohId


def test_new_neighbour_gets_all_nodes_and_others_get_the_change() -> None:
    router = Router("a1", gossip=False)
    _, to_b2 = router.neighbour("b2")
    assert to_b2.texts() == ["0=a1 sn 2 links 1; 1=b2 sn 0"]
    _, to_c3 = router.neighbour("c3")
    assert to_b2.texts() == ["2=c3 sn 0; 0 sn 3 links 1,2"]
    assert to_c3.texts() == ["0=a1 sn 3 links 1,2; 1=b2 sn 0; 2=c3 sn 0"]


def test_new_nodes_go_to_all_links_updated_ones_to_the_others() -> None:
    router = Router("a1", gossip=False)
    b2, to_b2 = router.neighbour("b2")
    _, to_c3 = router.neighbour("c3")
    to_b2.texts()
    to_c3.texts()
    router.receive_link_of(b2)
    assert to_b2.texts() == ["1=b2 sn 2 links 0"]
    assert to_c3.texts() == ["1=b2 sn 2 links 0"]
    router.receive_states(b2, state(2, 1, 0, zid="d4"), state(0, 3, 1, 2))
    assert to_b2.texts() == ["3=d4 sn 1 links 1"]
    assert to_c3.texts() == ["3=d4 sn 1 links 1; 1 sn 3 links 0,3"]


def test_update_is_not_sent_to_the_node_it_describes() -> None:
    router = Router("a1", gossip=False)
    b2, to_b2 = router.neighbour("b2")
    _, to_c3 = router.neighbour("c3")
    router.receive_states(
        b2, state(0, 2, 1, zid="b2"), state(1, 2, 0, zid="a1"), state(2, 5, 1, zid="c3")
    )
    to_b2.texts()
    to_c3.texts()
    router.receive_states(b2, state(2, 6, 1, 0))
    assert to_b2.texts() == to_c3.texts() == []


def test_lost_link_is_announced_to_all() -> None:
    router = Router("a1", gossip=False)
    b2, _ = router.neighbour("b2")
    _, to_c3 = router.neighbour("c3")
    to_c3.texts()
    router.network.flooding.remove_link(b2, 0.0)
    assert to_c3.texts() == ["0 sn 4 links 2"]
    assert router.network.pop_departed() == [ZenohId.parse("b2")]


def test_weights_are_sent_where_one_is_set() -> None:
    router = Router("a1", gossip=False, link_weights={ZenohId.parse("c3"): 7})
    _, to_b2 = router.neighbour("b2")
    _, to_c3 = router.neighbour("c3")
    assert to_b2.texts() == ["0=a1 sn 2 links 1; 1=b2 sn 0", "2=c3 sn 0; 0 sn 3 links 1,2:7"]
    to_c3.texts()
    router.network.flooding.set_weights({ZenohId.parse("b2"): 9}, 0.0)
    assert to_b2.texts() == to_c3.texts() == ["0 sn 4 links 1:9,2"]
    router.network.flooding.set_weights({ZenohId.parse("b2"): 9, ZenohId.parse("e5"): 1}, 0.0)
    assert to_b2.texts() == []


def test_locators_of_neighbours_are_sent_and_of_others_only_if_multihop() -> None:
    for multihop, where in ((False, ""), (True, " at tcp/4:1")):
        router = Router("a1", gossip_multihop=multihop)
        router.network.flooding.own_locators.append("tcp/1:1")
        b2, _ = router.neighbour("b2")
        router.receive_states(
            b2,
            state(0, 2, 1, 2, zid="b2", locators=("tcp/2:1",)),
            state(1, 2, 0, zid="a1"),
            state(2, 4, 0, zid="d4", locators=("tcp/4:1",)),
        )
        _, to_c3 = router.neighbour("c3")
        assert to_c3.texts() == [
            "0=a1 sn 3 at tcp/1:1 links 1,3; 1=b2 sn 2 at tcp/2:1 links 0,2;"
            f" 2=d4 sn 4{where} links 1; 3=c3 sn 0"
        ]


def test_nodes_with_locators_are_discovered_unless_they_are_neighbours() -> None:
    router = Router("a1")
    b2, _ = router.neighbour("b2")
    router.receive_states(
        b2,
        state(0, 2, 1, 2, zid="b2", locators=("tcp/2:1",)),
        state(1, 2, 0, zid="a1"),
        state(2, 4, 0, zid="d4", locators=("tcp/4:1",), whatami=WhatAmI.PEER),
    )
    assert router.network.has_discoveries()
    assert [str(found) for found in router.network.pop_discoveries()] == [
        "GossipedNode(d4, peer, ('tcp/4:1',))"
    ]
    assert not router.network.has_discoveries()
