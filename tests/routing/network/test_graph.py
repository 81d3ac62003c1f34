"""The graph that a router derives from link states (behaviour reference §4.7)."""

from __future__ import annotations

from tests.routing.network.mesh import Mesh, Router, settled_line, state
from zenlake.wire import ZenohId


def test_edge_needs_both_ends() -> None:
    router = Router("a1")
    b2, _ = router.neighbour("b2")
    known = (state(0, 2, zid="b2"), state(1, 2, zid="a1"), state(2, 1, zid="c3"))
    router.receive_states(b2, *known)
    assert router.edges() == {}
    assert router.names() == {"a1", "b2"}, "nobody lists c3"
    router.receive_states(b2, state(0, 3, 1, 2))
    assert set(router.edges()) == {("a1", "b2"), ("b2", "a1")}
    assert router.names() == {"a1", "b2", "c3"}, "listed by one end"
    router.receive_states(b2, state(2, 2, 0))
    assert ("b2", "c3") in router.edges()
    router.receive_states(b2, state(2, 3))
    assert ("b2", "c3") not in router.edges()
    assert router.names() == {"a1", "b2", "c3"}
    router.receive_states(b2, state(0, 4, 1))
    assert router.names() == {"a1", "b2"}


def test_old_versions_are_ignored() -> None:
    mesh = settled_line("a1", "b2", "c3")
    b2 = mesh.connections["a1", "b2"].faces[0]
    c3 = mesh.routers["a1"].network.graph.nodes[ZenohId.parse("c3")]
    psid = next(psid for psid, zid in b2.psids.items() if zid == c3.zid)
    mesh.routers["a1"].receive_states(b2, state(psid, c3.sn))
    assert ("b2", "c3") in mesh.routers["a1"].edges()
    mesh.routers["a1"].receive_states(b2, state(psid, c3.sn + 1))
    assert ("b2", "c3") not in mesh.routers["a1"].edges()


def test_undefined_psids_are_ignored() -> None:
    router = Router("a1")
    b2, _ = router.neighbour("b2")
    router.receive_states(b2, state(9, 4, 0), state(0, 2, 1, 8, zid="b2"))
    assert router.names() == {"a1", "b2"}
    assert router.edges() == {}, "1 was not explained"


def test_psid_may_be_defined_again_for_another_node() -> None:
    router = Router("a1")
    b2, to_b2 = router.neighbour("b2")
    network = router.network
    router.receive_states(
        b2, state(0, 2, 1, 2, zid="b2"), state(1, 2, zid="a1"), state(2, 1, 0, zid="c3")
    )
    assert network.node_of(b2, 2) == ZenohId.parse("c3")
    assert network.psid_of(ZenohId.parse("c3")) == 2
    router.receive_states(b2, state(0, 3, 1))
    assert network.node_of(b2, 2) is None, "it left"
    to_b2.texts()
    router.receive_states(b2, state(2, 1, 0, zid="d4"), state(0, 4, 1, 2))
    assert network.node_of(b2, 2) == ZenohId.parse("d4")
    assert network.psid_of(ZenohId.parse("d4")) == 3
    assert to_b2.texts() == ["3=d4 sn 1 links 1"]
    assert network.node_of(b2, 0) == ZenohId.parse("b2")
    assert network.node_of(b2, 77) is None


def test_own_psids_are_reused_late() -> None:
    router = Router("a1")
    network = router.network
    numbers: list[int | None] = []
    for number in range(20):
        face, _ = router.face(f"b{number:x}")
        network.flooding.add_link(face, 0.0)
        numbers.append(network.psid_of(face.zid))
        network.flooding.remove_link(face, 0.0)
    assert numbers == [*range(1, 18), 1, 2, 3]


def test_both_ends_may_set_a_weight_and_the_greater_counts() -> None:
    mesh = Mesh()
    mesh.starts("a1", link_weights={ZenohId.parse("b2"): 30})
    mesh.starts("b2", link_weights={ZenohId.parse("a1"): 40})
    mesh.links("a1", "b2")
    mesh.settles()
    for router in mesh.routers.values():
        assert 40 < router.edges()["a1", "b2"] < 40.4
    mesh.routers["b2"].network.flooding.set_weights({}, mesh.now)
    mesh.settles()
    for router in mesh.routers.values():
        assert 30 < router.edges()["a1", "b2"] < 30.3
