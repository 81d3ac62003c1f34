"""The cases of all tables together, for another engine than that of their tests."""

from __future__ import annotations

from tests.lake.derive.steps import (
    test_declarations,
    test_exchanges,
    test_interests,
    test_latencies,
    test_ros_entities,
    test_topology,
    test_traces,
)
from tests.lake.derive.steps.cases import Staged

_MODULES = (
    test_declarations,
    test_exchanges,
    test_interests,
    test_latencies,
    test_ros_entities,
    test_topology,
    test_traces,
)


def all_cases() -> Staged:
    """Captures of two modules may have the same name: the module stands before it."""
    found: Staged = {"node_events": [*test_topology.NODES]}
    for module in _MODULES:
        for name, rows in module.given().items():
            for row in rows:
                capture = f"{module.__name__.rpartition('.')[2]} {row['capture']}"
                found.setdefault(name, []).append({**row, "capture": capture})
    return found
