"""The cases of all tables together, for tests on another engine."""

from __future__ import annotations

from importlib import import_module

from tests.lake.derive.steps.cases import Staged
from tests.lake.derive.steps.test_topology import NODES

_TESTS = ("declarations", "exchanges", "interests", "ros_entities", "topology", "traces")


def all_cases() -> Staged:
    """All cases; the test precedes the name of a capture, because names may repeat."""
    found: Staged = {"node_events": [*NODES]}
    for test in _TESTS:
        module = import_module(f"tests.lake.derive.steps.test_{test}")
        for name, rows in module.staged_cases().items():
            for row in rows:
                found.setdefault(name, []).append({**row, "capture": f"{test} {row['capture']}"})
    return found
