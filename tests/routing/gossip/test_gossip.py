"""Gossip between peers, as recorded from deployed ones (§4.7)."""

from __future__ import annotations

import random

from tests.routing.playbook import OWN_ZID, ROLES, Play, zid_of
from zenlake.limits import GOSSIP_DISCOVERIES_MAX, GOSSIP_PSIDS_MAX
from zenlake.wire import LinkState, LinkStateList, Oam, ZenohId

US = OWN_ZID.raw.decode("latin-1")


def state_of(
    psid: int, name: str, sn: int, role: str = "peer", where: tuple[str, ...] | None = None
) -> LinkState:
    return LinkState(
        psid, sn, (), zid=zid_of(name) if name else None, whatami=ROLES[role], locators=where
    )


def gossip(*states: LinkState) -> Oam:
    return Oam(1, body=bytes(LinkStateList(states)))


def peer() -> Play:
    play = Play("peer")
    play.dispatcher.own_locators = ["tcp/us:1"]
    return play


def test_a_neighbour_gets_this_node_and_all_neighbours() -> None:
    play = peer()
    play.connects("a", "peer")
    play.receives("a", f"OAM 0={US} sn 2 peer at tcp/us:1; 1=a sn 0 peer", "D_FINAL for 0")
    play.sends("a", gossip(state_of(0, "a", 2, where=("tcp/a:1",)), state_of(1, "us", 0)))
    play.connects("b", "peer")
    play.receives(
        "b",
        f"OAM 0={US} sn 3 peer at tcp/us:1; 1=a sn 2 peer at tcp/a:1; 2=b sn 0 peer",
        "D_FINAL for 0",
    )
    play.receives("a")


def test_new_locators_of_the_sender_itself_are_passed_on() -> None:
    play = peer()
    play.connects("a", "peer")
    play.connects("b", "peer")
    play.clear_received()
    play.sends("b", gossip(state_of(0, "b", 2, where=("tcp/b:1",))))
    play.receives("a", "OAM 2=b sn 2 peer at tcp/b:1")
    play.receives("b")
    play.sends("b", gossip(state_of(0, "b", 2, where=("tcp/b:2",))))
    play.sends("b", gossip(state_of(0, "b", 3, where=("tcp/b:1",))))
    play.nothing_received()
    play.sends("b", gossip(state_of(0, "", 4, where=("tcp/b:3",))))
    play.receives("a", "OAM 2=b sn 4 peer at tcp/b:3")
    assert play.dispatcher.pop_discoveries() == []


def test_third_nodes_are_discoveries_and_not_passed_on() -> None:
    play = peer()
    play.connects("a", "peer")
    play.connects("b", "peer")
    play.clear_received()
    play.sends(
        "a",
        gossip(
            state_of(1, "c", 5, where=("tcp/c:1",)),
            state_of(2, "b", 5, where=("tcp/b:1",)),
            state_of(3, "d", 5),
            LinkState(4, 1, (), zid=OWN_ZID, locators=("tcp/us:1",)),
            LinkState(5, 1, (), zid=zid_of("r"), locators=("tcp/r:1",)),
            LinkState(9, 1, (), locators=("tcp/unknown:1",)),
        ),
    )
    play.nothing_received()
    found = play.dispatcher.pop_discoveries()
    assert [(d.zid, str(d.role), d.locators) for d in found] == [
        (zid_of("c"), "peer", ("tcp/c:1",)),
        (zid_of("r"), "router", ("tcp/r:1",)),
    ]
    assert play.dispatcher.pop_discoveries() == []
    play.sends("a", gossip(state_of(1, "c", 5, where=("tcp/c:1",))))
    play.connects("c", "peer")
    assert play.dispatcher.pop_discoveries() == []


def test_a_router_gets_our_links() -> None:
    play = peer()
    play.connects("a", "peer")
    play.connects("r", "router")
    play.receives(
        "r", f"OAM 0={US} sn 3 peer at tcp/us:1 links 1,2; 1=a sn 0 peer; 2=r sn 0 router gateway"
    )
    play.sends("r", gossip())
    play.connects("b", "peer")
    play.receives("r", f"OAM 3=b sn 0 peer; 0={US} sn 4 peer at tcp/us:1 links 1,2,3")
    play.disconnects("a")
    play.receives("r", f"OAM 0={US} sn 5 peer at tcp/us:1 links 2,3")
    play.connects("c", "peer")
    play.receives("r", f"OAM 1=c sn 0 peer; 0={US} sn 6 peer at tcp/us:1 links 2,3,1")


def test_clients_take_no_part() -> None:
    play = peer()
    play.connects("c", "client")
    play.nothing_received()
    play.sends("c", gossip(state_of(1, "x", 1, where=("tcp/x:1",))))
    assert play.dispatcher.pop_discoveries() == []
    client = Play("client")
    client.connects("r", "router")
    client.nothing_received()
    client.sends("r", gossip(state_of(1, "x", 1, where=("tcp/x:1",))))
    assert client.dispatcher.pop_discoveries() == []


def test_targets_and_switch() -> None:
    play = Play("peer", gossip_targets=ROLES["router"])
    play.connects("a", "peer")
    play.receives("a", "D_FINAL for 0")
    play = Play("peer", gossip=False)
    play.connects("r", "router")
    play.nothing_received()


def test_hostile_gossip_is_counted_and_bounded() -> None:
    play = peer()
    play.connects("a", "peer")
    for body in (b"\xff", b"\x05\x01", None, 7):
        play.sends("a", Oam(1, body=body))
    play.sends("a", Oam(2, body=b""))
    assert play.dispatcher.counters.malformed_gossip == 4
    assert play.dispatcher.counters.unexpected_messages == 1
    for start in range(1, GOSSIP_DISCOVERIES_MAX + 2000, 1000):
        play.sends(
            "a",
            gossip(
                *(
                    LinkState(n, 1, (), zid=ZenohId.from_int(n + 99), locators=("tcp/x:1",))
                    for n in range(start, start + 1000)
                )
            ),
        )
    assert len(play.faces["a"].psids) == GOSSIP_PSIDS_MAX
    assert len(play.dispatcher.pop_discoveries()) == GOSSIP_DISCOVERIES_MAX
    chance = random.Random(5)
    for _ in range(2000):
        play.sends("a", Oam(1, body=chance.randbytes(chance.randrange(30))))
