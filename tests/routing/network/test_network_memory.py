"""Memory of a network of routers, and what is charged to the neighbour that announces it."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.chance import scaled
from tests.routing.network.mesh import Router
from zenlake.limits import NETWORK_NODES_MAX
from zenlake.routing.network.node import LINK_BYTES, NODE_BYTES
from zenlake.wire import LinkState, LinkStateList, Oam, ZenohId

SIZES = [(scaled(800, 2_000), 2, 0), (scaled(60, 100), 60, 0), (scaled(200, 500), 2, 8)]


@pytest.mark.parametrize(("nodes", "links", "locators"), SIZES)
def test_charged_bytes_are_close_to_measured(nodes: int, links: int, locators: int) -> None:
    """Including the trees of all nodes, as if all of them published."""
    router = Router("a1")
    face, pipe = router.face("b2")
    router.network.flooding.add_link(face, 0.0)
    states = [LinkState(0, 2, tuple(range(1, nodes)), zid=ZenohId.parse("b2"))]
    states.append(LinkState(1, 2, (0,), zid=ZenohId.parse("a1")))
    for psid in range(2, nodes):
        targets = (0, *(2 + (psid + step) % (nodes - 2) for step in range(1, links)))
        where = tuple(f"tcp/[fe80::{psid:x}:{number:x}]:7447" for number in range(locators))
        zid = ZenohId.from_int(psid << 96 | 0xF)
        states.append(LinkState(psid, 1, targets, zid=zid, locators=where or None))
    body = bytes(LinkStateList(tuple(states)))
    pipe.texts()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    router.receive(face, Oam(1, body=body), 0.0)
    router.compute(0.0)
    for zid in list(router.network.graph.nodes)[:: nodes // 50]:
        router.network.children(zid)
    pipe.messages.clear()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(router.names()) == nodes
    # The trees of one in fifty were computed.
    unused = (nodes - 50) * 8 * nodes
    charged = router.budget.held_bytes
    assert charged >= taken + unused, (charged, taken, unused)
    assert charged >= nodes * NODE_BYTES + router.network.graph.link_count * LINK_BYTES * 0.9


def test_all_memory_is_released_with_the_link() -> None:
    router = Router("a1")
    face, _ = router.face("b2")
    router.network.flooding.add_link(face, 0.0)
    assert router.budget.held_bytes == face.account.held_bytes > 0
    router.network.flooding.remove_link(face, 0.0)
    assert router.budget.held_bytes == face.account.held_bytes == 0


def test_names_of_nodes_that_were_introduced_are_limited() -> None:
    router = Router("a1", gossip=False)
    face, pipe = router.face("b2")
    router.network.flooding.add_link(face, 0.0)
    own = LinkState(0, 2, (1,), zid=ZenohId.parse("b2"))
    router.receive(face, Oam(1, body=bytes(LinkStateList((own,)))), 0.0)
    (link,) = router.network.flooding.links.values()
    for start in range(0, 3 * NETWORK_NODES_MAX, 1_024):
        states = [
            LinkState(2, 1, (), zid=ZenohId.from_int(1 << 96 | number))
            for number in range(start, start + 1_024)
        ]
        router.receive(face, Oam(1, body=bytes(LinkStateList(tuple(states)))), 0.0)
        pipe.messages.clear()
        assert len(link.introduced) <= 2 * NETWORK_NODES_MAX
