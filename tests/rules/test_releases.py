"""No `error` in traffic of real nodes among themselves (limits: V02).

By default a few scenarios of the release that is installed; `make releases` (ZENLAKE_INTEROP=full,
ZENLAKE_ZENOH_VENVS) runs all scenarios with five releases.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.interop.puppets import Kind, theirs
from tests.rules.recorded_network import RecordedNetwork
from tests.rules.scenarios import SCENARIOS, TOO_MUCH_FOR
from zenlake import rules, trace
from zenlake.rules import NOTE
from zenlake.trace.events import MessageSeen

pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
pytestmark = pytest.mark.real

IS_FULL = os.environ.get("ZENLAKE_INTEROP") == "full"
_FEW = ("publications", "queries", "a_router_comes_back")
_RUNS = [
    (name, kind)
    for kind in (theirs() if IS_FULL else theirs()[:1])
    for name in (SCENARIOS if IS_FULL else _FEW)
    if kind.version != TOO_MUCH_FOR.get(name)
]
EXPLAINED = {
    "undeclared-unknown": "SN-105: under load, what an interest asks for is undeclared first"
}
"""Findings of a higher severity than `note` that are correct."""


@pytest.mark.parametrize(("name", "kind"), _RUNS, ids=lambda one: getattr(one, "name", one))
def test_real_nodes_break_no_rule(name: str, kind: Kind, tmp_path: Path) -> None:
    with RecordedNetwork(kind, tmp_path) as network:
        SCENARIOS[name](network)
    assert network.captures
    for path in network.captures:
        read(path)


def read(path: Path) -> None:
    messages = sum(isinstance(event, MessageSeen) for event in trace.open(str(path)))
    assert messages > 3, "nothing was recorded"
    found = list(rules.check(trace.open(str(path))))
    print(path.name, messages, dict(Counter(one.rule.id for one in found)))
    bad = [one for one in found if one.rule.severity != NOTE and one.rule.id not in EXPLAINED]
    assert not bad, bad
