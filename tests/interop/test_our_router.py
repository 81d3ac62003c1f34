"""Real clients and peers on our router: every case that holds on a real router holds on ours.

By default clients of the release that is installed; `make interop` (ZENLAKE_INTEROP=full,
ZENLAKE_ZENOH_VENVS) runs peers too, and all releases, also a different one on each side.
"""

from __future__ import annotations

import os

import pytest

from tests.interop.cases import CASES, SINCE
from tests.interop.puppets import TOPOLOGIES, Kind, Topology, ours, pair, theirs

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"
_TOPOLOGIES = [one for one in TOPOLOGIES if one.has_router][: None if IS_FULL else 1]
_INSTALLED, *_OLDER = theirs()
_SIDES = [(_INSTALLED, _INSTALLED)]
if IS_FULL:
    _SIDES += [pair for old in _OLDER for pair in ((old, old), (old, _INSTALLED))]
_RUNS = [
    (name, one, other)
    for name in CASES
    for one, other in _SIDES
    if min(one.version, other.version) >= SINCE[name]
]


def name_of(value: object) -> str:
    return value.replace(" ", "-") if isinstance(value, str) else getattr(value, "name", "")


@pytest.mark.parametrize("topology", _TOPOLOGIES, ids=lambda one: one.name.replace(" ", "-"))
@pytest.mark.parametrize(("name", "one", "other"), _RUNS, ids=name_of)
def test_a_case(name: str, one: Kind, other: Kind, topology: Topology) -> None:
    with pair(one, other, topology, router=ours()) as (a, b):
        CASES[name](a, b)
