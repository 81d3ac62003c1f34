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

import pytest

import zenlake
from tests.paths import DOCS, ROOT

SOURCES = Path(zenlake.__file__).parent
WIRE_TESTS = ROOT / "tests" / "wire"
PACKAGES = {path.relative_to(SOURCES).parts[0] for path in SOURCES.glob("*/**/*.py")}
_ROW = re.compile(r"^  (\w+)/ .*imports: (.*)$", re.MULTILINE)
_IMPORTERS = ("import_module", "__import__")
LAZY = {("capture", "trace")}
"""`capture.open` is a shortcut to `trace.open`, which is imported when it is first used."""


def table() -> dict[str, set[str]]:
    """The imports that docs/architecture.md allows. `nothing` means no other package."""
    text = (DOCS / "architecture.md").read_text("utf-8")
    return {
        package: set() if names.strip() == "nothing" else set(re.split(r",\s*", names.strip()))
        for package, names in _ROW.findall(text)
    }


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The full names that a file imports from zenlake: modules, or names in them."""
    root = SOURCES.parent if SOURCES in path.parents else ROOT
    package = ".".join(path.relative_to(root).parts[:-1])
    return frozenset(_imports_in(path.read_text("utf-8"), package))


def _imports_in(source: str, package: str) -> Iterator[str]:
    """The imports from zenlake of a module of `package`."""
    for name in _names_in(source, package):
        if name.startswith("zenlake."):
            yield _home(name)


def _names_in(source: str, package: str) -> Iterator[str]:
    """What a module imports at any place: in functions and for type checkers too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "zenlake":
            yield f"zenlake.{node.attr}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in _IMPORTERS:
            yield from (ast.unparse(argument).strip("f'\"") for argument in node.args[:1])


def _home(name: str) -> str:
    """`zenlake.Session` is loaded from its module when it is first used."""
    module: str | None = vars(zenlake)["_MODULE_BY_NAME"].get(name.split(".")[1])
    return name if module is None else f"{module}.{name.split('.', 1)[1]}"


def actual() -> dict[str, dict[str, Path]]:
    """For each package, the packages that it imports, each with one importing file."""
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
        f"{path} imports {name}"
        for folder in ("src", "tests", "attacks", "chaos", "benchmarks", "fuzz")
        for path in (ROOT / folder).rglob("*.py")
        if not path.is_relative_to(SOURCES / "wire") and not path.is_relative_to(WIRE_TESTS)
        for name in imports_of(path)
        if name.startswith("zenlake.wire._generated")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from zenlake.node import node", "zenlake.node.node"),
        ("def later():\n    import zenlake.node.node", "zenlake.node.node"),
        ("if TYPE_CHECKING:\n    from zenlake.node.node import Node", "zenlake.node.node.Node"),
        ("from ..node import Node", "zenlake.node.Node"),
        ("from .. import node", "zenlake.node"),
        ("from . import node", "zenlake.wire.node"),
        ("from zenlake.wire import _generated", "zenlake.wire._generated"),
        ("from zenlake import Session", "zenlake.api.session.session.Session"),
        ("import zenlake\nzenlake.open()", "zenlake.api.session.opening.open"),
        ("importlib.import_module('zenlake.node')", "zenlake.node"),
        ("import_module(f'zenlake.node.{name}')", "zenlake.node.{name}"),
    ],
)
def test_an_import_is_found_in_any_form(line: str, name: str) -> None:
    assert list(_imports_in(line, "zenlake.wire")) == [name]


SANS_IO = ("admin", "capture", "keyexpr", "protocol", "routing", "session", "wire")
OUTSIDE_WORLD = {"asyncio", "random", "secrets", "select", "threading", "time", "uuid"}


@pytest.mark.parametrize("package", SANS_IO)
def test_package_uses_no_sockets_clocks_or_randomness(package: str) -> None:
    wrong = [
        f"{path.relative_to(SOURCES)} imports {name}"
        for path in (SOURCES / package).rglob("*.py")
        for name in _names_in(path.read_text("utf-8"), "zenlake")
        if name.split(".")[0] in OUTSIDE_WORLD or name in ("socket", "socket.socket")
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
