"""Benchmarks are not run by the tests; at least every name that they import must exist."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from tests.paths import ROOT


def names_of(path: Path) -> list[tuple[str, str]]:
    """Module and name of every import of the package, at any place of the file."""
    return [
        (node.module, one.name)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "zenlake"
        for one in node.names
        if node.module is not None
    ]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem
)
def test_a_benchmark_imports_only_names_that_exist(path: Path) -> None:
    for module, name in names_of(path):
        if not hasattr(import_module(module), name):
            import_module(f"{module}.{name}")
