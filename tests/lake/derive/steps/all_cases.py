"""The cases of all tables together, for tests on another engine."""

from __future__ import annotations

from tests.lake.derive.steps import (
    test_declarations,
    test_exchanges,
    test_interests,
    test_ros_entities,
    test_topology,
    test_traces,
)
from tests.lake.derive.steps.cases import Staged

_MODULES = (
    test_declarations,
    test_exchanges,
    test_interests,
    test_ros_entities,
    test_topology,
    test_traces,
)


def all_cases() -> Staged:
    """All cases; the module precedes the name of a capture, because names may repeat."""
    found: Staged = {"node_events": [*test_topology.NODES]}
    for module in _MODULES:
        for name, rows in module.given().items():
            for row in rows:
                capture = f"{module.__name__.rpartition('.')[2]} {row['capture']}"
                found.setdefault(name, []).append({**row, "capture": capture})
    return found
