"""Link states of nodes that leave, come back or restart (behaviour reference §4.7)."""

from __future__ import annotations

from tests.routing.network.mesh import Mesh, Router, settled_line, state
from zenlake.wire import ZenohId


def test_partition_heals() -> None:
    mesh = settled_line("a1", "b2", "c3", "d4")
    mesh.unlinks("b2", "c3")
    mesh.settles()
    assert mesh.routers["a1"].names() == {"a1", "b2"}
    assert mesh.routers["d4"].names() == {"c3", "d4"}
    mesh.links("b2", "c3")
    mesh.settles()
    for router in mesh.routers.values():
        assert router.names() == {"a1", "b2", "c3", "d4"}
        assert router.edges() == mesh.routers["a1"].edges()


def test_restarted_node_is_believed_although_others_know_a_greater_version() -> None:
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


def test_older_version_of_a_neighbour_itself_is_not_forwarded() -> None:
    router = Router("a1", gossip=False)
    b2, to_b2 = router.neighbour("b2")
    c3, to_c3 = router.face("c3")
    router.receive_states(b2, state(0, 2, 1, zid="b2"), state(1, 2, zid="a1"))
    router.network.flooding.add_link(c3, 0.0)
    # b2's link state of c3 arrives before c3's own.
    router.receive_states(b2, state(0, 3, 1, 2), state(2, 3, 0, 1, zid="c3"))
    to_b2.texts()
    to_c3.texts()
    router.receive_states(c3, state(0, 2, 1, zid="c3"), state(1, 3, zid="a1"))
    assert to_b2.texts() == []
    assert to_c3.texts() == ["2 sn 3 links 1,0"]
    router.receive_states(c3, state(2, 3, zid="b2"), state(0, 3, 1, 2))
    assert to_b2.texts() == ["2 sn 3 links 0,1"]


def test_versions_begin_with_the_time_of_day() -> None:
    router = Router("a1", gossip=False, wall_ns=lambda: 1_700_000_000_123_456_789)
    _, to_b2 = router.neighbour("b2")
    sn = (1_700_000_000_123 << 20) + 2
    assert to_b2.texts() == [f"0=a1 sn {sn} links 1; 1=b2 sn 0"]


def test_own_old_link_state_is_replaced_once() -> None:
    router = Router("a1", gossip=False)
    b2, to_b2 = router.neighbour("b2")
    to_b2.texts()
    router.receive_states(b2, state(0, 2, 1, zid="b2"), state(1, 57, zid="a1"))
    life = 1 << 20
    assert to_b2.texts() == ["1=b2 sn 2 links 0", f"0 sn {life + 1} links 1"]
    router.compute(0.0)
    router.gained.clear()
    router.receive_states(b2, state(1, life + 1, 0))
    assert to_b2.texts() == []
    router.receive_states(b2, state(1, life + 1), at=1.0)
    assert to_b2.texts() == [f"0 sn {2 * life + 1} links 1"], "same version, other content"
    router.compute(1.0)
    assert router.gained == [("a1", "b2")], "all is declared again"
    router.receive_states(b2, state(1, (1 << 64) - 1))
    assert to_b2.texts() == [], "no version is greater"


def test_relayed_link_state_of_a_neighbour_is_not_applied() -> None:
    router = Router("a1", gossip=False)
    b2, to_b2 = router.neighbour("b2")
    c3, to_c3 = router.neighbour("c3")
    for face, zid in ((b2, "b2"), (c3, "c3")):
        router.receive_states(face, state(0, 2, 1, zid=zid), state(1, 2, zid="a1"))
    to_b2.texts()
    to_c3.texts()
    router.receive_states(b2, state(2, 57, zid="c3"))
    assert ("a1", "c3") in router.edges()
    assert to_b2.texts() == []
    assert to_c3.texts() == ["2 sn 57"], "c3 may have been restarted"
    router.receive_states(
        b2, state(5, 1, 0, zid="e5"), state(2, 58, 5, 1, zid="c3"), state(0, 3, 1, 5)
    )
    assert to_c3.texts() == ["3=e5 sn 1 links 1; 1 sn 3 links 0,3", "2 sn 58 links 3,0"]
    to_b2.texts()
    router.receive_states(c3, state(0, 1, zid="c3"))
    assert ("a1", "c3") not in router.edges()
    assert to_b2.texts() == [], "b2 knows a newer version"
    assert to_c3.texts() == ["2 sn 2 links 0"]


def test_neighbour_that_dropped_a_node_too_early_gets_it_again() -> None:
    router = Router("a1", gossip=False)
    (b2, to_b2), (c3, to_c3) = router.linked("b2", "c3")
    router.receive_states(b2, state(2, 4, 0, zid="d4"), state(0, 3, 1, 2))
    assert router.children("d4") == ["c3"]
    router.compute(0.0)
    to_b2.texts()
    to_c3.texts()
    router.gained.clear()
    router.receive_states(c3, state(5, 0, zid="d4"), at=1.0)
    assert to_b2.texts() == []
    assert to_c3.texts() == ["3=d4 sn 4 links 1"]
    router.compute(1.0)
    assert router.gained == [("d4", "c3")], "and of all that d4 has"
    router.receive_states(c3, state(5, 3, zid="d4"), at=2.0)
    assert to_c3.texts() == ["3 sn 4 links 1"]
    router.compute(2.0)
    assert router.gained == [("d4", "c3")], "it knew an older version"


def test_version_of_another_life_removes_the_node() -> None:
    router = Router("a1", gossip=False)
    b2, _ = router.neighbour("b2")
    router.receive_states(
        b2, state(0, 2, 1, 2, zid="b2"), state(1, 2, 0, zid="a1"), state(2, 4, zid="c3")
    )
    router.receive_states(b2, state(2, 5))
    assert router.network.pop_departed() == []
    router.receive_states(b2, state(2, (1 << 20) + 1))
    assert router.network.pop_departed() == [ZenohId.parse("c3")]
    assert "c3" in router.names()


def test_relayed_link_state_of_a_neighbour_applies_when_its_link_is_lost() -> None:
    router = Router("a1", gossip=False)
    (b2, _), (c3, _) = router.linked("b2", "c3")
    # b2 and c3 are linked now; c3 cannot announce it, because its link to a1 is dead.
    router.receive_states(b2, state(2, 3, 0, zid="c3"), state(0, 3, 1, 2))
    assert ("b2", "c3") not in router.edges()
    router.network.flooding.remove_link(c3, 0.0)
    assert set(router.edges()) == {("a1", "b2"), ("b2", "a1"), ("b2", "c3"), ("c3", "b2")}
    assert router.network.pop_forgotten() == [], "b2 did not send c3's state again"


def test_restarted_neighbour_is_known_before_its_link_is_lost() -> None:
    router = Router("a1", gossip=False)
    (b2, _), _ = router.linked("b2", "c3")
    router.receive_states(b2, state(2, 1 << 20, 0, zid="c3"), state(0, 3, 1, 2))
    assert router.network.pop_departed() == [ZenohId.parse("c3")]
    assert ("a1", "c3") not in router.edges()
    assert ("b2", "c3") in router.edges()


def test_second_link_replaces_the_first() -> None:
    router = Router("a1")
    first, _ = router.neighbour("b2")
    second, _ = router.neighbour("b2")
    network = router.network
    assert network.flooding.link_of(first) is None
    assert network.flooding.link_of(second) is not None
    network.flooding.remove_link(first, 0.0)
    assert router.names() == {"a1", "b2"}
    router.receive_states(first, state(0, 2, zid="c3"))
    assert router.counters.unexpected_messages == 1
    network.flooding.remove_link(second, 0.0)
    assert router.names() == {"a1"}
