"""Multihop gossip: peers find each other however far apart they are (§4.7)."""

from __future__ import annotations

from tests.routing.gossip.test_gossip import gossip
from tests.routing.playbook import put, subscriber, zid_of
from tests.routing.web import Web
from zenlake.limits import NETWORK_NODES_MAX
from zenlake.routing.gossip.multihop_gossip import MultihopGossip
from zenlake.wire import LinkState, Oam, Push, WhatAmI, ZenohId


def web_of(*links: str, multihop: bool = True) -> Web:
    """Peers by letters; `r` and `v` are routers. Each listens at its own name."""
    web = Web(gossip_multihop=multihop)
    for name in sorted(set("".join(links))):
        web.starts(name, "router" if name in "rv" else "peer")
        web.routers[name].own_locators = [f"tcp/{name}:1"]
    for link in links:
        web.link(*link)
    return web


def discovered(web: Web, name: str) -> dict[str, str]:
    """The nodes that a node might connect to now, and where."""
    names = {zid_of(one): one for one in web.routers}
    found = web.routers[name].pop_discoveries()
    return {names[one.zid]: ",".join(one.locators) for one in found}


def test_a_peer_discovers_peers_that_are_far_away() -> None:
    web = web_of("pqst")
    assert discovered(web, "p") == {"s": "tcp/s:1", "t": "tcp/t:1"}
    assert discovered(web, "t") == {"p": "tcp/p:1", "q": "tcp/q:1"}


def test_without_multihop_only_neighbours_of_neighbours_are_discovered() -> None:
    web = web_of("pqst", multihop=False)
    assert discovered(web, "p") == {"s": "tcp/s:1"}


def test_neighbours_are_not_discovered() -> None:
    assert discovered(web_of("pq", "qs", "sp"), "p") == {}


def test_a_discovery_is_returned_again_only_after_a_change() -> None:
    web = web_of("pqs")
    assert discovered(web, "p") == {"s": "tcp/s:1"}
    assert not web.routers["p"].has_discoveries
    web.starts("t", "peer")
    web.routers["t"].own_locators = ["tcp/t:1"]
    web.link("s", "t")
    assert discovered(web, "p") == {"s": "tcp/s:1", "t": "tcp/t:1"}


def test_removed_nodes_leave_nothing_behind() -> None:
    web = web_of("pqs")
    for _ in range(3):
        web.unlink("q", "s")
        web.link("q", "s")
    gossip = web.routers["p"]._gossip
    assert isinstance(gossip, MultihopGossip)
    assert gossip._network.pop_forgotten() == []


def test_nothing_is_routed_along_the_network() -> None:
    web = web_of("pqs")
    web.connects("cp", "client", "p")
    web.connects("cs", "client", "s")
    web.sends("cs", subscriber(1, "k"))
    web.clear_received()
    web.sends("cp", put("k"))
    assert not [message for message in web.received("cs") if isinstance(message, Push)]


def test_a_router_takes_part_and_learns_the_gateways_of_its_peers() -> None:
    web = web_of("prq", "pvr")
    assert discovered(web, "q") == {"p": "tcp/p:1", "v": "tcp/v:1"}
    both = frozenset((zid_of("r"), zid_of("v")))
    assert web.link_faces["r", "p"].gateways == both
    assert web.link_faces["v", "p"].gateways == both
    assert [web.link_faces[name, "p"].is_primary for name in "rv"] == [False, True]
    assert web.link_faces["r", "q"].gateways == frozenset((zid_of("r"),))
    web.unlink("v", "p")
    assert web.link_faces["r", "p"].is_primary


def test_a_neighbour_that_is_no_target_gets_no_locators() -> None:
    web = Web(gossip_multihop=True, gossip_targets=int(WhatAmI.ROUTER))
    for name in "pqs":
        web.starts(name, "peer")
        web.routers[name].own_locators = [f"tcp/{name}:1"]
    web.link("p", "q", "s")
    assert discovered(web, "p") == {}


def test_a_client_gets_no_gossip() -> None:
    web = web_of("pq")
    web.connects("c", "client", "p")
    assert not [message for message in web.received("c") if isinstance(message, Oam)]
    web.sends("c", gossip(LinkState(0, 1, (), zid=zid_of("c"))))
    assert web.routers["p"].counters.unexpected_messages == 1


def test_a_network_is_charged_and_limited() -> None:
    web = web_of("pq")
    face = web.link_faces["p", "q"]
    before = face.account.held_bytes
    count = NETWORK_NODES_MAX + 10
    states = [
        LinkState(number, 5, (), zid=ZenohId.from_int(10_000 + number), locators=("tcp/x:1",))
        for number in range(1, count)
    ]
    listed = LinkState(0, 1 << 40, tuple(range(count)), zid=zid_of("q"), whatami=WhatAmI.PEER)
    web.routers["p"].receive(face, gossip(listed, *states), True, web.now)
    held = face.account.held_bytes
    assert before < held
    assert web.routers["p"].counters.refused_link_states > 0
    web.unlink("p", "q")
    assert face.account.held_bytes == 0
