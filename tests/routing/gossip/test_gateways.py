"""A peer with several gateways: one of them carries its messages (§4.4)."""

from __future__ import annotations

from tests.routing.gossip.test_gossip import gossip
from tests.routing.playbook import (
    ROLES,
    Play,
    interest,
    no_token,
    put,
    queryable,
    request,
    response_final,
    subscriber,
    token,
    zid_of,
)
from tests.routing.web import Web
from zenlake.wire import LinkState, NetworkMessage, Oam, QueryTarget


def links_of(*routers: str, sn: int = 2, peer: str = "p", flag: bool = True) -> Oam:
    """The link states that a peer sends to each gateway: its own first, then its neighbours'."""
    psids = {name: number for number, name in enumerate(routers, 1)}
    own = LinkState(0, sn, tuple(psids.values()), zid=zid_of(peer), whatami=ROLES["peer"])
    return gossip(
        own,
        *(
            LinkState(psids[name], 0, (), gateway=flag, zid=zid_of(name), whatami=ROLES["router"])
            for name in routers
        ),
    )


def peer_between() -> Web:
    """The peer is linked to `a` and `b`, which are linked to each other and to `c`."""
    web = Web("a", "b", "c")
    web.link("a", "b", "c", "a")
    for router in "ab":
        web.connects("p" + router, "peer", router)
        web.connects("c" + router, "client", router)
        web.sends("p" + router, subscriber(1, "k"), queryable(1, "q"))
    web.connects("cc", "client", "c")
    web.clear_received()
    return web


def send_links(web: Web, *routers: str, sn: int = 2) -> None:
    for router in "ab":
        # The two faces are one peer.
        web.sends("p" + router, links_of(*routers, sn=sn, peer="p" + router))
    web.clear_received()


def publication_receivers(web: Web, *names: str) -> set[str]:
    return {name for name in names if data(web.received(name))}


def data(messages: list[NetworkMessage]) -> list[NetworkMessage]:
    return [message for message in messages if not isinstance(message, Oam)]


def test_without_gossip_both_gateways_deliver() -> None:
    web = peer_between()
    web.sends("cc", put("k"))
    assert publication_receivers(web, "pa", "pb") == {"pa", "pb"}


def test_the_gateway_with_the_greatest_id_delivers() -> None:
    web = peer_between()
    send_links(web, "a", "b")
    web.sends("cc", put("k"))
    assert publication_receivers(web, "pa", "pb") == {"pb"}
    web.sends("cc", request(1, "q", QueryTarget.ALL))
    assert publication_receivers(web, "pa", "pb") == {"pb"}
    web.sends("pb", response_final(1))
    web.receives("cc", "RESPONSE_FINAL 1")


def test_routers_are_gateways_of_old_peers_which_have_no_flag_for_it() -> None:
    web = peer_between()
    for router in "ab":
        web.sends("p" + router, links_of("a", "b", peer="p" + router, flag=False))
    web.clear_received()
    web.sends("cc", put("k"))
    assert publication_receivers(web, "pa", "pb") == {"pb"}


def test_a_publication_from_another_gateway_is_not_delivered_again() -> None:
    web = peer_between()
    send_links(web, "a", "b")
    web.sends("ca", put("k"))
    assert publication_receivers(web, "pa", "pb") == {"pa"}


def test_only_the_primary_gateway_forwards_messages_of_the_peer() -> None:
    web = peer_between()
    send_links(web, "a", "b")
    web.sends("cc", subscriber(1, "x"), queryable(1, "y"))
    web.sends("pa", put("x"), request(1, "y"))
    assert publication_receivers(web, "cc") == set()
    web.receives("pa", "RESPONSE_FINAL 1")
    web.sends("pb", put("x"), request(1, "y"))
    web.receives("cc", "PUT x x", "REQUEST 1 y")


def test_a_client_of_the_other_gateway_gets_messages_of_the_peer_once() -> None:
    """Deployed routers deliver it twice."""
    web = peer_between()
    send_links(web, "a", "b")
    web.sends("ca", subscriber(1, "x"))
    web.clear_received()
    web.sends("pa", put("x"))
    web.sends("pb", put("x"))
    web.receives("ca", "PUT x x")


def test_a_gateway_that_cannot_reach_the_primary_serves_its_clients() -> None:
    web = peer_between()
    send_links(web, "a", "b")
    web.sends("ca", subscriber(1, "x"))
    web.clear_received()
    web.unlink("a", "b")
    web.unlink("c", "a")
    web.sends("pa", put("x"))
    web.receives("ca", "PUT x x")
    web.link("a", "b")
    web.sends("pa", put("x"))
    web.receives("ca")


def test_another_gateway_takes_over_when_the_peer_describes_it() -> None:
    web = peer_between()
    send_links(web, "a", "b")
    web.disconnects("pb")
    web.sends("pa", links_of("a", sn=3, peer="pa"))
    web.clear_received()
    web.sends("cc", put("k"))
    assert publication_receivers(web, "pa") == {"pa"}
    web.sends("cc", subscriber(1, "x"))
    web.sends("pa", put("x"))
    web.receives("cc", "PUT x x")


# Tokens.


def watched() -> Web:
    """The peer watches tokens, and has one itself."""
    web = Web("a", "b", "c")
    web.link("a", "b", "c", "a")
    for router in "ab":
        # The two faces are one peer, for each router the one with this id.
        web.connects("p" + router, "peer", router)
        web.connects("c" + router, "client", router)
        web.sends("p" + router, links_of("a", "b", peer="p" + router))
        web.sends("p" + router, interest(1, "current_future", "KT"))
    web.connects("cc", "client", "c")
    web.sends("cc", interest(1, "current_future", "KT"))
    web.clear_received()
    return web


def test_a_peer_does_not_get_its_own_token_from_its_gateways() -> None:
    web = watched()
    web.send_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.receives("pa")
    web.receives("pb")
    web.receives("cc", "D_TOKEN 1 t")
    web.disconnects("pb")  # it is still on a
    web.receives("cc")
    web.receives("pa")
    web.sends("pa", no_token(1))
    web.receives("cc", "U_TOKEN 1")


def test_a_peer_does_not_get_the_end_of_its_own_token() -> None:
    """Not even if a gateway received the token from the other gateway long before."""
    web = watched()
    web.sends("pa", token(1, "t"))
    web.time_passes(1.0)
    web.receives("pb", "D_TOKEN 1 t")
    web.sends("pb", token(1, "t"))
    web.receives("pb")


def test_a_peer_does_not_get_a_token_that_it_declares_a_little_later() -> None:
    """On a busy machine a gateway receives a token of the peer from the other gateway first.

    A deployed peer that got the token considers it ended when the gateway dies.
    """
    web = watched()
    web.sends("pb", interest(3, "current_future", "KT"))
    web.sends("pa", token(1, "t"))
    web.sends("pb", interest(4, "current_future", "KT"))
    web.time_passes(0.5)
    web.sends("pb", token(1, "t"))
    web.time_passes(2.0)
    web.receives("pb", "D_FINAL for 3", "D_FINAL for 4")
    web.receives("pa")


def test_a_token_that_a_peer_got_stays_when_the_other_gateway_ends() -> None:
    web = watched()
    web.sends("pb", token(1, "t"))
    web.time_passes(1.0)
    web.receives("pa", "D_TOKEN 1 t")
    web.sends("pa", token(1, "t"))
    web.stops("b")
    web.sends("pa", links_of("a", sn=3, peer="pa"))
    web.receives("pa")
    web.receives("cc", "D_TOKEN 1 t")
    web.sends("pa", no_token(1))
    web.receives("pa", "U_TOKEN 1")
    web.receives("cc", "U_TOKEN 1")


def test_a_current_interest_gets_all_tokens() -> None:
    web = watched()
    web.send_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.clear_received()
    web.sends("pa", interest(2, "current", "KT"))
    web.receives("pa", "D_TOKEN 0 t for 2", "D_FINAL for 2")


def test_all_gateways_announce_tokens_of_others_to_a_peer() -> None:
    """Else the peer would consider a token ended when the only gateway that announced it ends.

    A token of the other gateway is announced a little later: it might be the peer's own.
    """
    web = watched()
    web.sends("cc", token(1, "u"))
    web.sends("ca", token(1, "v"))
    web.receives("pa", "D_TOKEN 1 u", "D_TOKEN 2 v")
    web.receives("pb", "D_TOKEN 1 u")
    web.time_passes(1.0)
    web.receives("pb", "D_TOKEN 2 v")


def test_a_router_announces_its_own_token_to_a_peer() -> None:
    """Although the peer has the same token."""
    web = watched()
    web.connects("application", "", "a")
    web.send_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.clear_received()
    web.sends("application", token(1, "t"))
    web.receives("pa", "D_TOKEN 1 t")


def test_a_peer_gets_the_token_of_a_router_when_its_own_has_ended() -> None:
    """A gateway does not know whether the other one has the token only from the peer."""
    web = watched()
    web.connects("application", "", "b")
    web.send_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.sends("application", token(1, "t"))
    web.clear_received()
    web.send_at_once({"pa": no_token(1), "pb": no_token(1)})
    web.time_passes(0.5)
    web.receives("pa")
    web.time_passes(0.6)
    web.receives("pa", "D_TOKEN 1 t")
    web.sends("application", no_token(1))
    web.receives("pa", "U_TOKEN 1")


def test_a_peer_does_not_get_its_token_again_when_the_other_gateway_is_slow() -> None:
    web = watched()
    web.send_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.clear_received()
    web.sends("pa", no_token(1))
    web.time_passes(0.5)
    web.sends("pb", no_token(1))
    web.time_passes(2.0)
    web.receives("pa")


def test_an_old_description_changes_nothing() -> None:
    web = peer_between()
    send_links(web, "a", "b", sn=5)
    send_links(web, "a", sn=5)
    web.sends("cc", put("k"))
    assert publication_receivers(web, "pa", "pb") == {"pb"}


def test_a_peer_asks_its_primary_gateway_for_the_best_match() -> None:
    play = Play("peer")
    play.connects("app")
    for router in ("r1", "r3", "r2"):
        play.connects(router, "router")
        play.sends(router, queryable(1, "q", complete=True))
    play.clear_received()
    play.sends("app", request(1, "q"))
    play.receives("r1")
    play.receives("r2")
    assert len(play.received("r3")) == 1
