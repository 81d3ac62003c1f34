"""Packages import each other only as the table in docs/architecture.md allows.

`python -m tests.test_layering` prints the actual imports in the form of that table.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import zenlake

ROOT = Path(__file__).parents[1]
SOURCES = Path(zenlake.__file__).parent
PACKAGES = {path.parent.name for path in SOURCES.glob("*/__init__.py")}
_ROW = re.compile(r"^  (\w+)/ .*imports: (.*)$", re.MULTILINE)
EVERYTHING = "everything"
LAZY = {("capture", "trace")}
"""`capture.open` is a shortcut to `trace.open`, which is imported when it is first used."""


def table() -> dict[str, set[str]]:
    """The imports that docs/architecture.md allows. `nothing` means no other package."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    return {
        package: set() if names.strip() == "nothing" else set(re.split(r",\s*", names.strip()))
        for package, names in _ROW.findall(text)
    }


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """The full names of modules of zenlake that a file imports, inside functions too."""
    return tuple(_imports_of(path))


def _imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module == "zenlake":
                yield from (f"zenlake.{alias.name}" for alias in node.names)
            elif node.module.startswith("zenlake."):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.startswith("zenlake."))


def actual() -> dict[str, dict[str, Path]]:
    """For each package the packages that it imports, each with one file that does."""
    found: dict[str, dict[str, Path]] = {package: {} for package in PACKAGES}
    for path in SOURCES.rglob("*.py"):
        package = path.relative_to(SOURCES).parts[0]
        if package not in PACKAGES:
            continue
        for module in imports_of(path):
            other = module.split(".")[1]
            if other in PACKAGES and other != package:
                found[package].setdefault(other, path.relative_to(SOURCES))
    return found


def test_every_package_is_in_the_table() -> None:
    assert set(table()) == PACKAGES


def test_packages_import_what_the_table_lists_and_nothing_else() -> None:
    allowed = table()
    wrong = []
    for package, others in actual().items():
        listed = allowed[package]
        if EVERYTHING in listed:
            continue
        wrong += [
            f"{path} imports {other}: the table does not list it for {package}"
            for other, path in others.items()
            if other not in listed
        ]
        wrong += [f"{package} does not import {other}" for other in listed - set(others)]
    assert wrong == []


def test_imports_point_one_way() -> None:
    """No package imports itself through others when it is loaded."""
    graph = {
        package: {other for other in others if (package, other) not in LAZY}
        for package, others in actual().items()
    }
    while lowest := [package for package, others in graph.items() if not others]:
        for package in lowest:
            del graph[package]
        for others in graph.values():
            others.difference_update(lowest)
    assert graph == {}


def test_only_wire_imports_its_generated_modules() -> None:
    wrong = [
        f"{path.relative_to(SOURCES)} imports {module}"
        for path in SOURCES.rglob("*.py")
        if path.relative_to(SOURCES).parts[0] != "wire"
        for module in imports_of(path)
        if module.startswith("zenlake.wire._generated")
    ]
    assert wrong == []


def test_a_module_beside_the_packages_imports_none() -> None:
    """Exceptions are the modules that export the API, and the program itself."""
    faces = {"__init__", "__main__", "_compiled", "ext", "handlers"}
    wrong: defaultdict[str, set[str]] = defaultdict(set)
    for path in SOURCES.glob("*.py"):
        if path.stem not in faces:
            wrong[path.name] |= {one for one in imports_of(path) if one.split(".")[1] in PACKAGES}
    assert {name: modules for name, modules in wrong.items() if modules} == {}


def main() -> None:
    for package, others in sorted(actual().items()):
        print(f"  {package + '/':<13} imports: {', '.join(sorted(others)) or 'nothing'}")


if __name__ == "__main__":
    main()
