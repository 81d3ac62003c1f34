"""A peer with several gateways: one of them carries its messages (§4.4)."""

from __future__ import annotations

from tests.routing.playbook import (
    ROLES,
    Play,
    end,
    interest,
    no_token,
    put,
    queryable,
    request,
    subscriber,
    token,
    zid_of,
)
from tests.routing.test_gossip import gossip
from tests.routing.web import Web
from zenlake.wire import LinkState, NetworkMessage, Oam, QueryTarget


def links_of(*routers: str, sn: int = 2, peer: str = "p", flag: bool = True) -> Oam:
    """What a peer tells each of its gateways: itself first, then whom it is linked to."""
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
        web.enters("p" + router, "peer", router)
        web.enters("c" + router, "client", router)
        web.says("p" + router, subscriber(1, "k"), queryable(1, "q"))
    web.enters("cc", "client", "c")
    web.forget()
    return web


def tell_links(web: Web, *routers: str, sn: int = 2) -> None:
    for router in "ab":
        # The two faces are one peer.
        web.says("p" + router, links_of(*routers, sn=sn, peer="p" + router))
    web.forget()


def heard(web: Web, *names: str) -> set[str]:
    return {name for name in names if data(web.takes(name))}


def data(messages: list[NetworkMessage]) -> list[NetworkMessage]:
    return [message for message in messages if not isinstance(message, Oam)]


def test_without_gossip_both_gateways_deliver() -> None:
    web = peer_between()
    web.says("cc", put("k"))
    assert heard(web, "pa", "pb") == {"pa", "pb"}


def test_the_gateway_with_the_greatest_id_delivers() -> None:
    web = peer_between()
    tell_links(web, "a", "b")
    web.says("cc", put("k"))
    assert heard(web, "pa", "pb") == {"pb"}
    web.says("cc", request(1, "q", QueryTarget.ALL))
    assert heard(web, "pa", "pb") == {"pb"}
    web.says("pb", end(1))
    web.hears("cc", "RESPONSE_FINAL 1")


def test_routers_are_gateways_of_old_peers_which_have_no_flag_for_it() -> None:
    web = peer_between()
    for router in "ab":
        web.says("p" + router, links_of("a", "b", peer="p" + router, flag=False))
    web.forget()
    web.says("cc", put("k"))
    assert heard(web, "pa", "pb") == {"pb"}


def test_what_begins_at_another_gateway_is_not_delivered_again() -> None:
    web = peer_between()
    tell_links(web, "a", "b")
    web.says("ca", put("k"))
    assert heard(web, "pa", "pb") == {"pa"}


def test_only_the_primary_gateway_forwards_messages_of_the_peer() -> None:
    web = peer_between()
    tell_links(web, "a", "b")
    web.says("cc", subscriber(1, "x"), queryable(1, "y"))
    web.says("pa", put("x"), request(1, "y"))
    assert heard(web, "cc") == set()
    web.hears("pa", "RESPONSE_FINAL 1")
    web.says("pb", put("x"), request(1, "y"))
    web.hears("cc", "PUT x x", "REQUEST 1 y")


def test_a_client_of_the_other_gateway_gets_messages_of_the_peer_once() -> None:
    """Unlike with deployed routers, which deliver it twice."""
    web = peer_between()
    tell_links(web, "a", "b")
    web.says("ca", subscriber(1, "x"))
    web.forget()
    web.says("pa", put("x"))
    web.says("pb", put("x"))
    web.hears("ca", "PUT x x")


def test_a_gateway_that_cannot_reach_the_primary_serves_its_clients() -> None:
    web = peer_between()
    tell_links(web, "a", "b")
    web.says("ca", subscriber(1, "x"))
    web.forget()
    web.unlink("a", "b")
    web.unlink("c", "a")
    web.says("pa", put("x"))
    web.hears("ca", "PUT x x")
    web.link("a", "b")
    web.says("pa", put("x"))
    web.hears("ca")


def test_another_gateway_takes_over_when_the_peer_describes_it() -> None:
    web = peer_between()
    tell_links(web, "a", "b")
    web.leaves("pb")
    web.says("pa", links_of("a", sn=3, peer="pa"))
    web.forget()
    web.says("cc", put("k"))
    assert heard(web, "pa") == {"pa"}
    web.says("cc", subscriber(1, "x"))
    web.says("pa", put("x"))
    web.hears("cc", "PUT x x")


# Tokens.


def watched() -> Web:
    """The peer watches tokens, and has one itself."""
    web = Web("a", "b", "c")
    web.link("a", "b", "c", "a")
    for router in "ab":
        # The two faces are one peer, for each router the one with this id.
        web.enters("p" + router, "peer", router)
        web.enters("c" + router, "client", router)
        web.says("p" + router, links_of("a", "b", peer="p" + router))
        web.says("p" + router, interest(1, "current_future", "KT"))
    web.enters("cc", "client", "c")
    web.says("cc", interest(1, "current_future", "KT"))
    web.forget()
    return web


def test_a_peer_does_not_get_its_own_token_from_its_gateways() -> None:
    web = watched()
    web.say_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.hears("pa")
    web.hears("pb")
    web.hears("cc", "D_TOKEN 1 t")
    web.leaves("pb")  # it is still on a
    web.hears("cc")
    web.hears("pa")
    web.says("pa", no_token(1))
    web.hears("cc", "U_TOKEN 1")


def test_a_peer_does_not_get_the_end_of_its_own_token() -> None:
    """Not even if a gateway heard of it from the other one long before."""
    web = watched()
    web.says("pa", token(1, "t"))
    web.passes(1.0)
    web.hears("pb", "D_TOKEN 1 t")
    web.says("pb", token(1, "t"))
    web.hears("pb")


def test_a_peer_does_not_get_a_token_that_it_declares_a_little_later() -> None:
    """On a busy machine a gateway hears of a token of the peer from the other one first.

    A deployed peer that got it takes it for ended when the gateway dies.
    """
    web = watched()
    web.says("pb", interest(3, "current_future", "KT"))
    web.says("pa", token(1, "t"))
    web.says("pb", interest(4, "current_future", "KT"))
    web.passes(0.5)
    web.says("pb", token(1, "t"))
    web.passes(2.0)
    web.hears("pb", "D_FINAL for 3", "D_FINAL for 4")
    web.hears("pa")


def test_a_token_that_a_peer_got_stays_when_the_other_gateway_ends() -> None:
    web = watched()
    web.says("pb", token(1, "t"))
    web.passes(1.0)
    web.hears("pa", "D_TOKEN 1 t")
    web.says("pa", token(1, "t"))
    web.stops("b")
    web.says("pa", links_of("a", sn=3, peer="pa"))
    web.hears("pa")
    web.hears("cc", "D_TOKEN 1 t")
    web.says("pa", no_token(1))
    web.hears("pa", "U_TOKEN 1")
    web.hears("cc", "U_TOKEN 1")


def test_a_current_interest_gets_all_tokens() -> None:
    web = watched()
    web.say_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.forget()
    web.says("pa", interest(2, "current", "KT"))
    web.hears("pa", "D_TOKEN 0 t for 2", "D_FINAL for 2")


def test_all_gateways_announce_tokens_of_others_to_a_peer() -> None:
    """Else the peer would take a token for ended that it knows from one gateway, which ends.

    Of a token of the other gateway it hears a little later: that might be its own.
    """
    web = watched()
    web.says("cc", token(1, "u"))
    web.says("ca", token(1, "v"))
    web.hears("pa", "D_TOKEN 1 u", "D_TOKEN 2 v")
    web.hears("pb", "D_TOKEN 1 u")
    web.passes(1.0)
    web.hears("pb", "D_TOKEN 2 v")


def test_a_router_announces_its_own_token_to_a_peer() -> None:
    """Although the peer has the same."""
    web = watched()
    web.enters("application", "", "a")
    web.say_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.forget()
    web.says("application", token(1, "t"))
    web.hears("pa", "D_TOKEN 1 t")


def test_a_peer_gets_the_token_of_a_router_when_its_own_has_ended() -> None:
    """A gateway cannot tell whether the other one has a token from the peer alone."""
    web = watched()
    web.enters("application", "", "b")
    web.say_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.says("application", token(1, "t"))
    web.forget()
    web.say_at_once({"pa": no_token(1), "pb": no_token(1)})
    web.passes(0.5)
    web.hears("pa")
    web.passes(0.6)
    web.hears("pa", "D_TOKEN 1 t")
    web.says("application", no_token(1))
    web.hears("pa", "U_TOKEN 1")


def test_a_peer_does_not_get_its_token_again_when_the_other_gateway_is_slow() -> None:
    web = watched()
    web.say_at_once({"pa": token(1, "t"), "pb": token(1, "t")})
    web.forget()
    web.says("pa", no_token(1))
    web.passes(0.5)
    web.says("pb", no_token(1))
    web.passes(2.0)
    web.hears("pa")


def test_an_old_description_changes_nothing() -> None:
    web = peer_between()
    tell_links(web, "a", "b", sn=5)
    tell_links(web, "a", sn=5)
    web.says("cc", put("k"))
    assert heard(web, "pa", "pb") == {"pb"}


def test_a_peer_asks_its_primary_gateway_for_the_best_match() -> None:
    play = Play("peer")
    play.enters("app")
    for router in ("r1", "r3", "r2"):
        play.enters(router, "router")
        play.says(router, queryable(1, "q", complete=True))
    play.forget()
    play.says("app", request(1, "q"))
    play.hears("r1")
    play.hears("r2")
    assert len(play.takes("r3")) == 1
