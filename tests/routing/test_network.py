"""Link states: the messages, and the graph that nodes derive (behaviour reference §4.7)."""

from __future__ import annotations

import pytest

from tests.routing.mesh import Mesh, Router
from zenlake.limits import (
    LINK_STATE_LIST_BYTES_MAX,
    NETWORK_LINKS_MAX,
    NETWORK_NODES_MAX,
)
from zenlake.routing.face import Face
from zenlake.wire import LinkState, LinkStateList, Oam, WhatAmI, ZenohId


def link_states(*states: LinkState) -> Oam:
    return Oam(1, body=bytes(LinkStateList(states)))


def state(
    psid: int,
    sn: int,
    *links: int,
    zid: str | None = None,
    weights: tuple[int, ...] | None = None,
    locators: tuple[str, ...] | None = None,
    whatami: WhatAmI | None = None,
) -> LinkState:
    return LinkState(
        psid,
        sn,
        links,
        zid=None if zid is None else ZenohId.parse(zid),
        whatami=whatami,
        weights=weights,
        locators=locators,
    )


class TestMessages:
    """The messages, one by one."""

    def test_new_neighbour_gets_all_nodes_and_others_get_the_change(self) -> None:
        router = Router("a1", gossip=False)
        b2, to_b2 = router.face("b2")
        router.network.add_link(b2, 0.0)
        assert to_b2.texts() == ["0=a1 sn 2 links 1; 1=b2 sn 0"]
        c3, to_c3 = router.face("c3")
        router.network.add_link(c3, 0.0)
        assert to_b2.texts() == ["2=c3 sn 0; 0 sn 3 links 1,2"]
        assert to_c3.texts() == ["0=a1 sn 3 links 1,2; 1=b2 sn 0; 2=c3 sn 0"]

    def test_new_nodes_go_to_all_links_updated_ones_to_the_others(self) -> None:
        router = Router("a1", gossip=False)
        b2, to_b2 = router.face("b2")
        c3, to_c3 = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        to_b2.texts()
        to_c3.texts()
        router.receive(b2, link_states(state(0, 2, 1, zid="b2"), state(1, 2, 0, zid="a1")), 0.0)
        assert to_b2.texts() == ["1=b2 sn 2 links 0"]
        assert to_c3.texts() == ["1=b2 sn 2 links 0"]
        router.receive(b2, link_states(state(2, 1, 0, zid="d4"), state(0, 3, 1, 2)), 0.0)
        assert to_b2.texts() == ["3=d4 sn 1 links 1"]
        assert to_c3.texts() == ["3=d4 sn 1 links 1; 1 sn 3 links 0,3"]

    def test_update_is_not_sent_to_the_node_it_describes(self) -> None:
        router = Router("a1", gossip=False)
        b2, to_b2 = router.face("b2")
        c3, to_c3 = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        router.receive(
            b2,
            link_states(
                state(0, 2, 1, zid="b2"), state(1, 2, 0, zid="a1"), state(2, 5, 1, zid="c3")
            ),
            0,
        )
        to_b2.texts()
        to_c3.texts()
        router.receive(b2, link_states(state(2, 6, 1, 0)), 0.0)
        assert to_b2.texts() == to_c3.texts() == []

    def test_lost_link_is_announced_to_all(self) -> None:
        router = Router("a1", gossip=False)
        b2, _ = router.face("b2")
        c3, to_c3 = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        to_c3.texts()
        router.network.remove_link(b2, 0.0)
        assert to_c3.texts() == ["0 sn 4 links 2"]
        assert router.network.pop_departed() == [ZenohId.parse("b2")]

    def test_weights_are_sent_where_one_is_set(self) -> None:
        router = Router("a1", gossip=False, link_weights={ZenohId.parse("c3"): 7})
        b2, to_b2 = router.face("b2")
        c3, to_c3 = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        assert to_b2.texts() == ["0=a1 sn 2 links 1; 1=b2 sn 0", "2=c3 sn 0; 0 sn 3 links 1,2:7"]
        to_c3.texts()
        router.network.set_weights({ZenohId.parse("b2"): 9}, 0.0)
        assert to_b2.texts() == to_c3.texts() == ["0 sn 4 links 1:9,2"]
        router.network.set_weights({ZenohId.parse("b2"): 9, ZenohId.parse("e5"): 1}, 0.0)
        assert to_b2.texts() == []

    def test_locators_of_neighbours_are_sent_and_of_others_only_if_multihop(self) -> None:
        for multihop, where in ((False, ""), (True, " at tcp/4:1")):
            router = Router("a1", gossip_multihop=multihop)
            router.network.own_locators.append("tcp/1:1")
            b2, _ = router.face("b2")
            router.network.add_link(b2, 0.0)
            router.receive(
                b2,
                link_states(
                    state(0, 2, 1, 2, zid="b2", locators=("tcp/2:1",)),
                    state(1, 2, 0, zid="a1"),
                    state(2, 4, 0, zid="d4", locators=("tcp/4:1",)),
                ),
                0.0,
            )
            c3, to_c3 = router.face("c3")
            router.network.add_link(c3, 0.0)
            assert to_c3.texts() == [
                "0=a1 sn 3 at tcp/1:1 links 1,3; 1=b2 sn 2 at tcp/2:1 links 0,2;"
                f" 2=d4 sn 4{where} links 1; 3=c3 sn 0"
            ]

    def test_nodes_with_locators_are_discovered_unless_they_are_neighbours(self) -> None:
        router = Router("a1")
        b2, _ = router.face("b2")
        router.network.add_link(b2, 0.0)
        router.receive(
            b2,
            link_states(
                state(0, 2, 1, 2, zid="b2", locators=("tcp/2:1",)),
                state(1, 2, 0, zid="a1"),
                state(2, 4, 0, zid="d4", locators=("tcp/4:1",), whatami=WhatAmI.PEER),
            ),
            0.0,
        )
        assert router.network.has_discoveries()
        assert [str(found) for found in router.network.pop_discoveries()] == [
            "Discovery(d4, peer, ('tcp/4:1',))"
        ]
        assert not router.network.has_discoveries()


class TestGraph:
    def test_edge_needs_both_ends(self) -> None:
        router = Router("a1")
        b2, _ = router.face("b2")
        router.network.add_link(b2, 0.0)
        known = (state(0, 2, zid="b2"), state(1, 2, zid="a1"), state(2, 1, zid="c3"))
        router.receive(b2, link_states(*known), 0.0)
        assert router.edges() == {}
        assert router.names() == {"a1", "b2"}, "nobody lists c3"
        router.receive(b2, link_states(state(0, 3, 1, 2)), 0.0)
        assert set(router.edges()) == {("a1", "b2"), ("b2", "a1")}
        assert router.names() == {"a1", "b2", "c3"}, "listed by one end"
        router.receive(b2, link_states(state(2, 2, 0)), 0.0)
        assert ("b2", "c3") in router.edges()
        router.receive(b2, link_states(state(2, 3)), 0.0)
        assert ("b2", "c3") not in router.edges()
        assert router.names() == {"a1", "b2", "c3"}
        router.receive(b2, link_states(state(0, 4, 1)), 0.0)
        assert router.names() == {"a1", "b2"}

    def test_old_versions_are_ignored(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2", "c3")
        mesh.line("a1", "b2", "c3")
        mesh.settles()
        b2 = mesh.connections["a1", "b2"].faces[0]
        c3 = mesh.routers["a1"].network.graph.nodes[ZenohId.parse("c3")]
        psid = next(psid for psid, zid in b2.psids.items() if zid == c3.zid)
        mesh.routers["a1"].receive(b2, link_states(state(psid, c3.sn)), 0.0)
        assert ("b2", "c3") in mesh.routers["a1"].edges()
        mesh.routers["a1"].receive(b2, link_states(state(psid, c3.sn + 1)), 0.0)
        assert ("b2", "c3") not in mesh.routers["a1"].edges()

    def test_undefined_psids_are_ignored(self) -> None:
        router = Router("a1")
        b2, _ = router.face("b2")
        router.network.add_link(b2, 0.0)
        router.receive(b2, link_states(state(9, 4, 0), state(0, 2, 1, 8, zid="b2")), 0.0)
        assert router.names() == {"a1", "b2"}
        assert router.edges() == {}, "1 was not explained"

    def test_psid_may_be_defined_again_for_another_node(self) -> None:
        router = Router("a1")
        b2, to_b2 = router.face("b2")
        network = router.network
        network.add_link(b2, 0.0)
        router.receive(
            b2,
            link_states(
                state(0, 2, 1, 2, zid="b2"), state(1, 2, zid="a1"), state(2, 1, 0, zid="c3")
            ),
            0,
        )
        assert network.node_of(b2, 2) == ZenohId.parse("c3")
        assert network.psid_of(ZenohId.parse("c3")) == 2
        router.receive(b2, link_states(state(0, 3, 1)), 0.0)
        assert network.node_of(b2, 2) is None, "it left"
        to_b2.texts()
        router.receive(b2, link_states(state(2, 1, 0, zid="d4"), state(0, 4, 1, 2)), 0.0)
        assert network.node_of(b2, 2) == ZenohId.parse("d4")
        assert network.psid_of(ZenohId.parse("d4")) == 3
        assert to_b2.texts() == ["3=d4 sn 1 links 1"]
        assert network.node_of(b2, 0) == ZenohId.parse("b2")
        assert network.node_of(b2, 77) is None

    def test_own_psids_are_reused_late(self) -> None:
        router = Router("a1")
        network = router.network
        numbers: list[int | None] = []
        for number in range(20):
            face, _ = router.face(f"b{number:x}")
            network.add_link(face, 0.0)
            numbers.append(network.psid_of(face.zid))
            network.remove_link(face, 0.0)
        assert numbers == [*range(1, 18), 1, 2, 3]

    def test_both_ends_may_set_a_weight_and_the_greater_counts(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", link_weights={ZenohId.parse("b2"): 30})
        mesh.starts("b2", link_weights={ZenohId.parse("a1"): 40})
        mesh.links("a1", "b2")
        mesh.settles()
        for router in mesh.routers.values():
            assert 40 < router.edges()["a1", "b2"] < 40.4
        mesh.routers["b2"].network.set_weights({}, mesh.now)
        mesh.settles()
        for router in mesh.routers.values():
            assert 30 < router.edges()["a1", "b2"] < 30.3


class TestReturn:
    """Nodes that leave and come back."""

    def test_partition_heals(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2", "c3", "d4")
        mesh.line("a1", "b2", "c3", "d4")
        mesh.settles()
        mesh.unlinks("b2", "c3")
        mesh.settles()
        assert mesh.routers["a1"].names() == {"a1", "b2"}
        assert mesh.routers["d4"].names() == {"c3", "d4"}
        mesh.links("b2", "c3")
        mesh.settles()
        for router in mesh.routers.values():
            assert router.names() == {"a1", "b2", "c3", "d4"}
            assert router.edges() == mesh.routers["a1"].edges()

    def test_restarted_node_is_believed_although_others_know_a_greater_version(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2", "c3", "d4")
        mesh.line("a1", "b2", "c3")
        mesh.links("a1", "c3")
        for _ in range(5):
            mesh.links("b2", "d4")
            mesh.unlinks("b2", "d4")
        mesh.settles()
        assert mesh.routers["a1"].network.graph.nodes[ZenohId.parse("b2")].sn > 10
        # It connects to a1 again before c3 can report that it is gone.
        mesh.stops("b2")
        mesh.starts("b2")
        mesh.links("a1", "b2")
        mesh.settles()
        expected = {("a1", "b2"), ("a1", "c3"), ("b2", "a1"), ("c3", "a1")}
        for name in ("a1", "b2", "c3"):
            assert set(mesh.routers[name].edges()) == expected, name

    def test_older_version_of_a_neighbour_itself_is_not_forwarded(self) -> None:
        router = Router("a1", gossip=False)
        b2, to_b2 = router.face("b2")
        c3, to_c3 = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.receive(b2, link_states(state(0, 2, 1, zid="b2"), state(1, 2, zid="a1")), 0.0)
        router.network.add_link(c3, 0.0)
        # b2's link state of c3 arrives before c3's own.
        router.receive(b2, link_states(state(0, 3, 1, 2), state(2, 3, 0, 1, zid="c3")), 0.0)
        to_b2.texts()
        to_c3.texts()
        router.receive(c3, link_states(state(0, 2, 1, zid="c3"), state(1, 3, zid="a1")), 0.0)
        assert to_b2.texts() == []
        assert to_c3.texts() == ["2 sn 3 links 1,0"]
        router.receive(c3, link_states(state(2, 3, zid="b2"), state(0, 3, 1, 2)), 0.0)
        assert to_b2.texts() == ["2 sn 3 links 0,1"]

    def test_versions_begin_with_the_time_of_day(self) -> None:
        router = Router("a1", gossip=False, wall_ns=lambda: 1_700_000_000_123_456_789)
        b2, to_b2 = router.face("b2")
        router.network.add_link(b2, 0.0)
        sn = (1_700_000_000_123 << 20) + 2
        assert to_b2.texts() == [f"0=a1 sn {sn} links 1; 1=b2 sn 0"]

    def test_own_old_link_state_is_replaced_once(self) -> None:
        router = Router("a1", gossip=False)
        b2, to_b2 = router.face("b2")
        router.network.add_link(b2, 0.0)
        to_b2.texts()
        router.receive(b2, link_states(state(0, 2, 1, zid="b2"), state(1, 57, zid="a1")), 0.0)
        life = 1 << 20
        assert to_b2.texts() == ["1=b2 sn 2 links 0", f"0 sn {life + 1} links 1"]
        router.compute(0.0)
        router.gained.clear()
        router.receive(b2, link_states(state(1, life + 1, 0)), 0.0)
        assert to_b2.texts() == []
        router.receive(b2, link_states(state(1, life + 1)), 1.0)
        assert to_b2.texts() == [f"0 sn {2 * life + 1} links 1"], "same version, other content"
        router.compute(1.0)
        assert router.gained == [("a1", "b2")], "all is declared again"
        router.receive(b2, link_states(state(1, (1 << 64) - 1)), 0.0)
        assert to_b2.texts() == [], "no version is greater"

    def test_relayed_link_state_of_a_neighbour_is_not_applied(self) -> None:
        router = Router("a1", gossip=False)
        b2, to_b2 = router.face("b2")
        c3, to_c3 = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        for face, zid in ((b2, "b2"), (c3, "c3")):
            router.receive(face, link_states(state(0, 2, 1, zid=zid), state(1, 2, zid="a1")), 0.0)
        to_b2.texts()
        to_c3.texts()
        router.receive(b2, link_states(state(2, 57, zid="c3")), 0.0)
        assert ("a1", "c3") in router.edges()
        assert to_b2.texts() == []
        assert to_c3.texts() == ["2 sn 57"], "c3 may have been restarted"
        router.receive(
            b2,
            link_states(state(5, 1, 0, zid="e5"), state(2, 58, 5, 1, zid="c3"), state(0, 3, 1, 5)),
            0.0,
        )
        assert to_c3.texts() == ["3=e5 sn 1 links 1; 1 sn 3 links 0,3", "2 sn 58 links 3,0"]
        to_b2.texts()
        router.receive(c3, link_states(state(0, 1, zid="c3")), 0.0)
        assert ("a1", "c3") not in router.edges()
        assert to_b2.texts() == [], "b2 knows a newer version"
        assert to_c3.texts() == ["2 sn 2 links 0"]

    def test_neighbour_that_dropped_a_node_too_early_gets_it_again(self) -> None:
        router = Router("a1", gossip=False)
        b2, to_b2 = router.face("b2")
        c3, to_c3 = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        for face, zid in ((b2, "b2"), (c3, "c3")):
            router.receive(
                face, link_states(state(0, 2, 1, zid=zid), state(1, 2, 0, zid="a1")), 0.0
            )
        router.receive(b2, link_states(state(2, 4, 0, zid="d4"), state(0, 3, 1, 2)), 0.0)
        assert router.children("d4") == ["c3"]
        router.compute(0.0)
        to_b2.texts()
        to_c3.texts()
        router.gained.clear()
        router.receive(c3, link_states(state(5, 0, zid="d4")), 1.0)
        assert to_b2.texts() == []
        assert to_c3.texts() == ["3=d4 sn 4 links 1"]
        router.compute(1.0)
        assert router.gained == [("d4", "c3")], "and of all that d4 has"
        router.receive(c3, link_states(state(5, 3, zid="d4")), 2.0)
        assert to_c3.texts() == ["3 sn 4 links 1"]
        router.compute(2.0)
        assert router.gained == [("d4", "c3")], "it knew an older version"

    def test_version_of_another_life_removes_the_node(self) -> None:
        router = Router("a1", gossip=False)
        b2, _ = router.face("b2")
        router.network.add_link(b2, 0.0)
        router.receive(
            b2,
            link_states(
                state(0, 2, 1, 2, zid="b2"), state(1, 2, 0, zid="a1"), state(2, 4, zid="c3")
            ),
            0,
        )
        router.receive(b2, link_states(state(2, 5)), 0.0)
        assert router.network.pop_departed() == []
        router.receive(b2, link_states(state(2, (1 << 20) + 1)), 0.0)
        assert router.network.pop_departed() == [ZenohId.parse("c3")]
        assert "c3" in router.names()

    def test_relayed_link_state_of_a_neighbour_applies_when_its_link_is_lost(self) -> None:
        router = Router("a1", gossip=False)
        b2, _ = router.face("b2")
        c3, _ = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        for face, zid in ((b2, "b2"), (c3, "c3")):
            router.receive(
                face, link_states(state(0, 2, 1, zid=zid), state(1, 2, 0, zid="a1")), 0.0
            )
        # b2 and c3 are linked now; c3 cannot announce it, because its link to a1 is dead.
        router.receive(b2, link_states(state(2, 3, 0, zid="c3"), state(0, 3, 1, 2)), 0.0)
        assert ("b2", "c3") not in router.edges()
        router.network.remove_link(c3, 0.0)
        assert set(router.edges()) == {("a1", "b2"), ("b2", "a1"), ("b2", "c3"), ("c3", "b2")}
        assert router.network.pop_forgotten() == [], "b2 did not send c3's state again"

    def test_restarted_neighbour_is_known_before_its_link_is_lost(self) -> None:
        router = Router("a1", gossip=False)
        b2, _ = router.face("b2")
        c3, _ = router.face("c3")
        router.network.add_link(b2, 0.0)
        router.network.add_link(c3, 0.0)
        for face, zid in ((b2, "b2"), (c3, "c3")):
            router.receive(
                face, link_states(state(0, 2, 1, zid=zid), state(1, 2, 0, zid="a1")), 0.0
            )
        router.receive(b2, link_states(state(2, 1 << 20, 0, zid="c3"), state(0, 3, 1, 2)), 0.0)
        assert router.network.pop_departed() == [ZenohId.parse("c3")]
        assert ("a1", "c3") not in router.edges()
        assert ("b2", "c3") in router.edges()

    def test_second_link_replaces_the_first(self) -> None:
        router = Router("a1")
        first, _ = router.face("b2")
        second, _ = router.face("b2")
        network = router.network
        network.add_link(first, 0.0)
        network.add_link(second, 0.0)
        assert not network.has_link(first)
        assert network.has_link(second)
        network.remove_link(first, 0.0)
        assert router.names() == {"a1", "b2"}
        router.receive(first, link_states(state(0, 2, zid="c3")), 0.0)
        assert router.counters.unexpected_messages == 1
        network.remove_link(second, 0.0)
        assert router.names() == {"a1"}


class TestTrees:
    def test_trees_are_computed_at_most_ten_times_a_second(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2", "c3")
        network = mesh.routers["a1"].network
        mesh.links("a1", "b2")
        assert network.next_deadline() is None, "b2 has not announced the link"
        mesh.deliver_some(20)
        assert network.next_deadline() == 0.0
        mesh.routers["a1"].compute(0.0)
        assert network.next_deadline() is None
        assert mesh.routers["a1"].gained == [("a1", "b2")]
        mesh.now = 0.05
        mesh.links("a1", "c3")
        mesh.deliver_some(50)
        assert network.next_deadline() == pytest.approx(0.1)
        mesh.routers["a1"].compute(0.05)
        assert mesh.routers["a1"].children("a1") == ["b2"]
        mesh.routers["a1"].compute(0.11)
        assert mesh.routers["a1"].children("a1") == ["b2", "c3"]
        assert mesh.routers["a1"].gained == [("a1", "b2"), ("a1", "c3")]
        mesh.now = 3.0
        mesh.unlinks("a1", "c3")
        assert network.next_deadline() == 3.0

    def test_line(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2", "c3")
        mesh.line("a1", "b2", "c3")
        mesh.settles()
        b2 = mesh.routers["b2"]
        assert b2.children("a1") == ["c3"]
        assert b2.children("c3") == ["a1"]
        assert sorted(b2.children("b2")) == ["a1", "c3"]
        assert b2.next_hop("a1", "c3") == "c3"
        assert b2.next_hop("c3", "c3") == "c3", "back towards the root"
        assert b2.next_hop("a1", "b2") is None
        assert b2.next_hop("ff", "c3") is b2.next_hop("a1", "ff") is None
        assert mesh.routers["a1"].network.distance(ZenohId.parse("c3")) == 200
        assert mesh.routers["a1"].network.distance(ZenohId.parse("a1")) == 0
        assert mesh.routers["a1"].network.distance(ZenohId.parse("ff")) is None

    def test_weights_choose_the_path(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", link_weights={ZenohId.parse("c3"): 500})
        mesh.starts("b2", "c3")
        mesh.line("a1", "b2", "c3")
        mesh.links("a1", "c3")
        mesh.settles()
        assert mesh.routers["a1"].next_hop("a1", "c3") == "b2"
        mesh.routers["a1"].network.set_weights({}, mesh.now)
        mesh.settles()
        assert mesh.routers["a1"].next_hop("a1", "c3") == "c3"

    def test_neighbour_with_a_new_link_is_gained_again(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2")
        mesh.links("a1", "b2")
        mesh.settles()
        mesh.routers["a1"].gained.clear()
        mesh.unlinks("a1", "b2")
        mesh.links("a1", "b2")
        mesh.settles()
        assert mesh.routers["a1"].gained == [("a1", "b2")]

    def test_replaced_link_is_gained_again_although_no_edge_changed(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2")
        mesh.links("a1", "b2")
        mesh.settles()
        a1 = mesh.routers["a1"]
        a1.gained.clear()
        face, _ = a1.face("b2")
        a1.network.add_link(face, mesh.now)
        assert a1.children("a1") == []
        mesh.time_passes(1.0)
        assert a1.gained == [("a1", "b2")]

    def test_unused_roots_are_not_computed(self) -> None:
        mesh = Mesh()
        mesh.starts("a1", "b2", "c3")
        mesh.line("a1", "b2", "c3")
        mesh.settles()
        network = mesh.routers["b2"].network
        assert network.graph.nodes[ZenohId.parse("a1")] not in network.trees._trees
        assert mesh.routers["b2"].children("a1") == ["c3"]
        mesh.unlinks("b2", "c3")
        assert network.stale_roots() == [ZenohId.parse("b2"), ZenohId.parse("a1")]
        mesh.settles()
        assert network.stale_roots() == []
        mesh.unlinks("a1", "b2")
        assert network.stale_roots() == [ZenohId.parse("b2")], "the tree is removed with its root"


class TestLimits:
    """What a hostile neighbour may cause."""

    def link(self, router: Router) -> Face:
        face, pipe = router.face("b2")
        router.network.add_link(face, 0.0)
        router.receive(face, link_states(state(0, 2, 1, zid="b2"), state(1, 2, 0, zid="a1")), 0.0)
        pipe.texts()
        return face

    def test_nodes(self) -> None:
        router = Router("a1")
        face = self.link(router)
        for start in (2, 2002):
            count = range(start, start + 2000)
            states = [state(psid, 1, 0, zid=f"f{psid:x}") for psid in count]
            router.receive(
                face, link_states(state(0, start, 1, *range(2, start + 2000)), *states), 0.0
            )
        assert len(router.names()) == NETWORK_NODES_MAX
        assert router.counters.refused_link_states > 0
        assert "network_nodes" in face.account.refused
        late, _ = router.face("c3")
        router.network.add_link(late, 0.0)
        assert "c3" in router.names(), "own neighbours are not limited"

    def test_links(self) -> None:
        router = Router("a1")
        face = self.link(router)
        count = 300
        states = [state(psid, 1, *range(count), zid=f"f{psid:x}") for psid in range(2, count)]
        router.receive(face, link_states(state(0, 3, *range(1, count)), *states), 0.0)
        assert router.network.graph.link_count <= NETWORK_LINKS_MAX
        assert router.counters.refused_link_states > 0
        router.network.remove_link(face, 0.0)
        assert router.network.graph.link_count == 0
        assert router.budget.held_bytes == 0

    def test_long_list_takes_several_slices(self) -> None:
        router = Router("a1")
        face = self.link(router)
        count = 300
        states = [state(psid, 1, *range(50), zid=f"f{psid:x}") for psid in range(2, count)]
        slices = router.receive(
            face, link_states(state(0, 3, *range(1, count)), *states), 0.0, steps=1000
        )
        assert slices > 100
        assert len(router.names()) == count

    def test_trees_take_several_slices(self) -> None:
        router = Router("a1")
        face = self.link(router)
        count = 300
        states = [state(psid, 1, *range(50), zid=f"f{psid:x}") for psid in range(2, count)]
        router.receive(face, link_states(state(0, 3, *range(1, count)), *states), 0.0)
        assert router.compute(0.0, steps=100) > 10
        assert len(router.network.trees.get(router.network.graph.own).children) == 1

    def test_link_lost_within_a_list(self) -> None:
        router = Router("a1")
        face = self.link(router)
        job = router.network.receive(
            face, link_states(*(state(psid, 1, 0, zid=f"f{psid:x}") for psid in range(2, 100))), 0.0
        )
        router.work.steps = 10
        next(job)
        router.network.remove_link(face, 0.0)
        router.finish(job)
        assert router.names() == {"a1"}
        assert router.budget.held_bytes == 0

    @pytest.mark.parametrize(
        "body",
        [b"", b"\x01", b"\xff\xff\xff\xff\x0f", b"\x01\x02\x00\x00\x03", b"\x00" * 0 + b"\x05\x00"],
    )
    def test_malformed_list_changes_nothing(self, body: bytes) -> None:
        router = Router("a1")
        face = self.link(router)
        before = router.edges()
        router.receive(face, Oam(1, body=body), 0.0)
        assert router.counters.malformed_gossip == 1
        assert router.edges() == before

    def test_list_that_is_too_long_is_ignored(self) -> None:
        router = Router("a1")
        face = self.link(router)
        assert LINK_STATE_LIST_BYTES_MAX == 1_048_576
        router.receive(face, Oam(1, body=b"\x00" * 1_048_576), 0.0)  # no node, then ignored bytes
        assert router.counters.malformed_gossip == 0
        router.receive(face, Oam(1, body=b"\x00" * 1_048_577), 0.0)
        assert router.counters.malformed_gossip == 1

    def test_other_oam_is_counted(self) -> None:
        router = Router("a1")
        face = self.link(router)
        router.receive(face, Oam(7, body=b""), 0.0)
        router.receive(face, Oam(1), 0.0)
        assert router.counters.unexpected_messages == 1
        assert router.counters.malformed_gossip == 1

    def test_memory_is_charged_and_released(self) -> None:
        mesh = Mesh()
        names = [f"a{n}" for n in range(1, 6)]
        mesh.starts(*names)
        mesh.line(*names)
        mesh.links("a1", "a5")
        mesh.settles()
        a1 = mesh.routers["a1"]
        charged = sum(n.charged_bytes for n in a1.network.graph.nodes.values())
        assert a1.budget.held_bytes == charged > 0
        for other in ("a5", "a2"):
            mesh.unlinks("a1", other)
            mesh.settles()
            held = sum(n.charged_bytes for n in a1.network.graph.nodes.values())
            assert a1.budget.held_bytes == held
        assert a1.budget.held_bytes == 0

    def test_neighbour_whose_account_is_full_is_known_without_links(self) -> None:
        router = Router("a1")
        face = self.link(router)
        router.budget.limit_bytes = router.budget.held_bytes
        router.receive(face, link_states(state(2, 1, 0, zid="c3"), state(0, 3, 1, 2)), 0.0)
        assert router.names() == {"a1", "b2"}
        assert router.counters.refused_link_states > 0
