"""Our nodes with real ones: every case, with both roles, in every topology.

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
"""Both nodes are real ones: this tests the cases themselves."""
_CHOSEN = TOPOLOGIES if IS_FULL or IS_ORACLE else [TOPOLOGIES[0], TOPOLOGIES[3]]
_OTHERS = theirs() if IS_FULL or IS_ORACLE else theirs()[:1]
# An older release lacks some features.
_PAIRS = [(name, one) for name in CASES for one in _OTHERS if one.version >= SINCE[name]]


@pytest.mark.parametrize("topology", _CHOSEN, ids=lambda one: one.name.replace(" ", "-"))
@pytest.mark.parametrize("who", ["acts", "answers"])
@pytest.mark.parametrize(("name", "other"), _PAIRS, ids=lambda one: getattr(one, "name", one))
def test_a_case(name: str, who: str, other: Kind, topology: Topology) -> None:
    mine = other if IS_ORACLE else ours()
    kinds = (mine, other) if who == "acts" else (other, mine)
    with pair(*kinds, topology, router=other) as (a, b):
        CASES[name](a, b)
