"""What a hostile neighbour may cause with link states."""

from __future__ import annotations

import pytest

from tests.routing.network.mesh import Mesh, Router, link_states, state
from zenlake.limits import LINK_STATE_LIST_BYTES_MAX, NETWORK_LINKS_MAX, NETWORK_NODES_MAX
from zenlake.wire import Oam


def test_number_of_nodes_is_limited() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    for start in (2, 2002):
        count = range(start, start + 2000)
        states = [state(psid, 1, 0, zid=f"f{psid:x}") for psid in count]
        router.receive_states(face, state(0, start, 1, *range(2, start + 2000)), *states)
    assert len(router.names()) == NETWORK_NODES_MAX
    assert router.counters.refused_link_states > 0
    assert "network_nodes" in face.account.refused
    router.neighbour("c3")
    assert "c3" in router.names(), "own neighbours are not limited"


def test_number_of_links_is_limited() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    count = 300
    states = [state(psid, 1, *range(count), zid=f"f{psid:x}") for psid in range(2, count)]
    router.receive_states(face, state(0, 3, *range(1, count)), *states)
    assert router.network.graph.link_count <= NETWORK_LINKS_MAX
    assert router.counters.refused_link_states > 0
    router.network.flooding.remove_link(face, 0.0)
    assert router.network.graph.link_count == 0
    assert router.budget.held_bytes == 0


def test_long_list_takes_several_slices() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    count = 300
    states = [state(psid, 1, *range(50), zid=f"f{psid:x}") for psid in range(2, count)]
    slices = router.receive_states(face, state(0, 3, *range(1, count)), *states, steps=1000)
    assert slices > 100
    assert len(router.names()) == count


def test_trees_take_several_slices() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    count = 300
    states = [state(psid, 1, *range(50), zid=f"f{psid:x}") for psid in range(2, count)]
    router.receive_states(face, state(0, 3, *range(1, count)), *states)
    assert router.compute(0.0, steps=100) > 10
    assert len(router.network.trees.get(router.network.graph.own).children) == 1


def test_link_lost_within_a_list_leaves_nothing_behind() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    job = router.network.flooding.receive(
        face, link_states(*(state(psid, 1, 0, zid=f"f{psid:x}") for psid in range(2, 100))), 0.0
    )
    router.work.steps = 10
    next(job)
    router.network.flooding.remove_link(face, 0.0)
    router.finish(job)
    assert router.names() == {"a1"}
    assert router.budget.held_bytes == 0


@pytest.mark.parametrize(
    "body",
    [b"", b"\x01", b"\xff\xff\xff\xff\x0f", b"\x01\x02\x00\x00\x03", b"\x00" * 0 + b"\x05\x00"],
)
def test_malformed_list_changes_nothing(body: bytes) -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    before = router.edges()
    router.receive(face, Oam(1, body=body), 0.0)
    assert router.counters.malformed_gossip == 1
    assert router.edges() == before


def test_list_that_is_too_long_is_ignored() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    assert LINK_STATE_LIST_BYTES_MAX == 1_048_576
    router.receive(face, Oam(1, body=b"\x00" * 1_048_576), 0.0)  # no node, then ignored bytes
    assert router.counters.malformed_gossip == 0
    router.receive(face, Oam(1, body=b"\x00" * 1_048_577), 0.0)
    assert router.counters.malformed_gossip == 1


def test_other_oam_is_counted() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    router.receive(face, Oam(7, body=b""), 0.0)
    router.receive(face, Oam(1), 0.0)
    assert router.counters.unexpected_messages == 1
    assert router.counters.malformed_gossip == 1


def test_memory_is_charged_and_released() -> None:
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


def test_neighbour_whose_account_is_full_is_known_without_links() -> None:
    router = Router("a1")
    [(face, _)] = router.linked("b2")
    router.budget.limit_bytes = router.budget.held_bytes
    router.receive_states(face, state(2, 1, 0, zid="c3"), state(0, 3, 1, 2))
    assert router.names() == {"a1", "b2"}
    assert router.counters.refused_link_states > 0
