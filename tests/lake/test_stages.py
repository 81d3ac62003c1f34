"""The packages of `lake` import each other in the direction that docs/architecture.md shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import DOCS, ROOT

LAKE = ROOT / "src" / "zenlake" / "lake"
ORDER = re.compile(r"test_stages.py`\):\n\n```\n(.*?)```", re.DOTALL)
REASONS = {
    ("class_archive", "pipeline"): "it runs one task on Spark to make Java load the classes",
    ("class_archive", "spark"): "it starts the session that it makes the archive for",
    ("frames", "sql"): "`Lake.sql` is a shortcut to it",
}
"""Imports against the order, which are inside functions."""


def order() -> list[list[str]]:
    """Modules and packages, the lowest line first. Those on one line do not import each other."""
    [text] = ORDER.findall((DOCS / "architecture.md").read_text("utf-8"))
    return [line.split() for line in reversed(text.strip().splitlines())]


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Modules and packages of `lake` that a file imports, and whether at its top level."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            parts = node.module.split(".")
            if parts[:2] == ["zenlake", "lake"]:
                names = [parts[2]] if len(parts) > 2 else [one.name for one in node.names]
                yield from ((name, id(node) not in inner) for name in names)


def stages() -> dict[str, list[Path]]:
    found = {path.stem: [path] for path in LAKE.glob("*.py") if path.stem != "__init__"}
    for folder in LAKE.iterdir():
        if (folder / "__init__.py").exists():
            found[folder.name] = sorted(folder.rglob("*.py"))
    return found


def test_the_order_names_every_module_and_package_once() -> None:
    named = [name for line in order() for name in line]
    assert sorted(named) == sorted(stages())


@pytest.mark.parametrize("stage", stages())
def test_stage_imports_only_stages_below_it(stage: str) -> None:
    level = {name: number for number, line in enumerate(order()) for name in line}
    for path in stages()[stage]:
        for name, is_top_level in imports(path):
            if name == stage or level[name] < level[stage]:
                continue
            place = f"{path.relative_to(LAKE)} imports {name}, which is not below {stage}"
            assert (stage, name) in REASONS, place
            assert not is_top_level, f"{place}: only inside of a function"


def test_every_exception_is_used() -> None:
    found = {
        (stage, name) for stage, paths in stages().items() for p in paths for name, _ in imports(p)
    }
    assert REASONS.keys() <= found
