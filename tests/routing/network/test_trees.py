"""Trees: when they are computed, and which paths they choose (behaviour reference §4.7)."""

from __future__ import annotations

import pytest

from tests.routing.network.mesh import Mesh, settled_line
from zenlake.wire import ZenohId


def test_trees_are_computed_at_most_ten_times_a_second() -> None:
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


def test_router_in_the_middle_of_a_line_is_the_next_hop() -> None:
    mesh = settled_line("a1", "b2", "c3")
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


def test_weights_choose_the_path() -> None:
    mesh = Mesh()
    mesh.starts("a1", link_weights={ZenohId.parse("c3"): 500})
    mesh.starts("b2", "c3")
    mesh.line("a1", "b2", "c3")
    mesh.links("a1", "c3")
    mesh.settles()
    assert mesh.routers["a1"].next_hop("a1", "c3") == "b2"
    mesh.routers["a1"].network.flooding.set_weights({}, mesh.now)
    mesh.settles()
    assert mesh.routers["a1"].next_hop("a1", "c3") == "c3"


def test_neighbour_with_a_new_link_is_gained_again() -> None:
    mesh = settled_line("a1", "b2")
    mesh.routers["a1"].gained.clear()
    mesh.unlinks("a1", "b2")
    mesh.links("a1", "b2")
    mesh.settles()
    assert mesh.routers["a1"].gained == [("a1", "b2")]


def test_replaced_link_is_gained_again_although_no_edge_changed() -> None:
    mesh = settled_line("a1", "b2")
    a1 = mesh.routers["a1"]
    a1.gained.clear()
    face, _ = a1.face("b2")
    a1.network.flooding.add_link(face, mesh.now)
    assert a1.children("a1") == []
    mesh.time_passes(1.0)
    assert a1.gained == [("a1", "b2")]


def test_unused_roots_are_not_computed() -> None:
    mesh = settled_line("a1", "b2", "c3")
    network = mesh.routers["b2"].network
    assert network.graph.nodes[ZenohId.parse("a1")] not in network.trees._trees
    assert mesh.routers["b2"].children("a1") == ["c3"]
    mesh.unlinks("b2", "c3")
    assert network.stale_roots() == [ZenohId.parse("b2"), ZenohId.parse("a1")]
    mesh.settles()
    assert network.stale_roots() == []
    mesh.unlinks("a1", "b2")
    assert network.stale_roots() == [ZenohId.parse("b2")], "the tree is removed with its root"
