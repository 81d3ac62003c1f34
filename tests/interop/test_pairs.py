"""Our nodes with real ones: every case, both ways round, in every topology.

By default against the release that is installed, in the two commonest topologies; `make interop`
(ZENLAKE_INTEROP=full, ZENLAKE_ZENOH_VENVS) runs all topologies with all releases.
"""

from __future__ import annotations

import os

import pytest

from tests.interop.cases import CASES, SINCE
from tests.interop.puppets import TOPOLOGIES, Kind, Topology, ours, pair, theirs

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"
IS_ORACLE = os.environ.get("ZENLAKE_INTEROP") == "oracle"
"""Two real nodes instead: the cases themselves are tried."""
_CHOSEN = TOPOLOGIES if IS_FULL or IS_ORACLE else [TOPOLOGIES[0], TOPOLOGIES[3]]
_OTHERS = theirs() if IS_FULL or IS_ORACLE else theirs()[:1]


@pytest.mark.parametrize("topology", _CHOSEN, ids=lambda one: one.name.replace(" ", "-"))
@pytest.mark.parametrize("other", _OTHERS, ids=lambda one: one.name)
@pytest.mark.parametrize("who", ["acts", "answers"])
@pytest.mark.parametrize("name", CASES)
def test_a_case(name: str, who: str, other: Kind, topology: Topology) -> None:
    if other.version < SINCE[name]:
        return  # the other side has no words for it
    mine = other if IS_ORACLE else ours()
    kinds = (mine, other) if who == "acts" else (other, mine)
    with pair(*kinds, topology, router=other) as (a, b):
        CASES[name](a, b)
