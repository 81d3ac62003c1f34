"""Multihop gossip with real peers: a node connects to one that its neighbours do not know (§4.7).

p connects to q; s connects to q and t, and does not listen. So p can discover t only if q and s
forward it. Releases before 1.8 forward less, and are not tested.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

from tests.interop.puppets import Kind, PuppetProcess, ours, settings, theirs
from tests.ports import free_endpoint
from tests.waiting import until

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

INSTALLED = theirs()[0]
IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"
NAMES = "qtsp"
WAIT_SECONDS = 30

MIXES = [{name: ours() if name in "pq" else INSTALLED for name in NAMES}]
if IS_FULL:
    for one in NAMES:
        MIXES.append({name: ours() if name == one else INSTALLED for name in NAMES})
        MIXES.append({name: INSTALLED if name == one else ours() for name in NAMES})


def name_of(kinds: dict[str, Kind]) -> str:
    return ",".join(f"{name}={kind.name}" for name, kind in sorted(kinds.items()))


@pytest.mark.parametrize("kinds", MIXES, ids=name_of)
def test_a_peer_connects_to_one_that_is_far_away(kinds: dict[str, Kind]) -> None:
    where = {name: free_endpoint() for name in "qt"}
    links = {"p": ["q"], "s": ["q", "t"]}
    with ExitStack() as stack:
        nodes: dict[str, PuppetProcess] = {}
        for name, kind in kinds.items():
            node = nodes[name] = PuppetProcess(kind)
            stack.callback(node.kill)
            own = {
                "scouting/gossip/enabled": True,
                "scouting/gossip/multihop": True,
                "listen/endpoints": [where[name]] if name in where else [],
                "connect/endpoints": [where[other] for other in links.get(name, ())],
            }
            node.open(**settings("peer", **own))
        until(lambda: nodes["t"].zid in nodes["p"].ask("info")["peers"], WAIT_SECONDS)
