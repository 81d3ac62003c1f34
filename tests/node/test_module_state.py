"""Nodes and sessions of one process share no state, except what is listed here with the reason."""

from __future__ import annotations

import ast
import importlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import zenlake

SOURCES = Path(zenlake.__file__).parent
PACKAGES = ("node", "links", "api")

SHARED = {
    "zenlake.node.reader_handover.READER_HANDOVER": "one thread watches callbacks of all nodes",
    "zenlake.node.idle_links.IDLE_LINKS": "one thread waits for the idle links of all nodes",
    "zenlake.node.node.FRAGMENTS_OF_PROCESS": "limits/transport/reassembly_process_bytes",
    "zenlake.node.threads._WARNINGS": "the number of threads is limited for the process",
    "zenlake.links.interfaces._c_library": "the C library is loaded once for the process",
    "zenlake.api.handlers.callback_pool.POOL": "one pool of threads runs callbacks of all sessions",
    "zenlake.api.session.open_sessions.open_sessions": "the process closes them when it exits",
    "zenlake.api.arguments.known_keys._known": "a cache of texts that are valid in every session",
    "zenlake.api.arguments.conversion._encodings": "a cache of parsed texts, the same for all",
}

CONSTANT_TYPES = frozenset(
    [
        "Effect",
        "Encoding",
        "Formatter",
        "KeyExpr",
        "Kind",
        "Logger",
        "NoneType",
        "Pattern",
        "QoS",
        "Struct",
        "TypeVar",
        "bool",
        "builtin_function_or_method",
        "bytes",
        "datetime",
        "float",
        "frozenset",
        "function",
        "int",
        "str",
        "timedelta",
        "tuple",
        "type",
    ]
)
"""Types whose values never change, or that are constants by convention."""

CHANGING_METHODS = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "setdefault",
        "update",
    ]
)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((SOURCES / package).rglob("*.py")):
            parts = path.relative_to(SOURCES).with_suffix("").parts
            name = ".".join(("zenlake", *parts)).removesuffix(".__init__")
            yield name, ast.parse(path.read_text("utf-8"))


def assigned_names(body: list[ast.stmt]) -> set[str]:
    """The names that statements of a module or class assign."""
    names: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        else:
            continue
        names.update(one.id for one in targets if isinstance(one, ast.Name))
    return names - {"__all__", "__slots__"}


def changed_names(name: str, tree: ast.Module) -> set[str]:
    """The full names of module-level values that functions of a module change in place."""
    origins = {own: f"{name}.{own}" for own in assigned_names(tree.body)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origins |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    changed: set[str] = set()
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    for node in (inner for function in functions for inner in ast.walk(function)):
        owner: ast.AST | None = None
        if isinstance(node, ast.Global):
            changed.update(node.names)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            owner = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value if node.func.attr in CHANGING_METHODS else None
        if isinstance(owner, ast.Name):
            changed.add(owner.id)
    return {origins[own] for own in changed if own in origins}


def is_state(value: object, is_changed: bool) -> bool:
    if isinstance(value, dict | list | set | deque):
        return is_changed or not value  # a table that nothing changes is a constant
    return hasattr(value, "cache_clear") or type(value).__name__ not in CONSTANT_TYPES


def state_of(name: str, tree: ast.Module, changed: set[str]) -> set[str]:
    """The full names of mutable objects that a module and its classes hold."""
    module = vars(importlib.import_module(name))
    found: set[str] = set()
    for own in assigned_names(tree.body):
        full_name = f"{name}.{own}"
        if not is_alias(module[own]) and is_state(module[own], full_name in changed):
            found.add(full_name)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            if hasattr(module.get(statement.name), "cache_clear"):
                found.add(f"{name}.{statement.name}")
        elif isinstance(statement, ast.ClassDef):
            owner = module.get(statement.name)
            for own in assigned_names(statement.body):
                if isinstance(getattr(owner, own, None), dict | list | set | deque):
                    found.add(f"{name}.{statement.name}.{own}")
    return found


def is_alias(value: object) -> bool:
    """Whether a value is a name for a type."""
    return type(value).__module__ in ("typing", "types", "collections.abc")


def test_modules_share_no_state_without_a_reason() -> None:
    trees = dict(modules())
    changed = {one for name, tree in trees.items() for one in changed_names(name, tree)}
    found = {one for name, tree in trees.items() for one in state_of(name, tree, changed)}
    assert found == SHARED.keys()


def test_mutable_module_state_is_found() -> None:
    source = """
from other import D
A: dict = {}
B = {1: 2}
C = [1]
C.append(2)
def change(): B[3] = D.pop()
"""
    tree = ast.parse(source)
    assert assigned_names(tree.body) == {"A", "B", "C"}
    assert changed_names("here", tree) == {"here.B", "other.D"}
    assert is_state({}, False)
    assert is_state({1: 2}, True)
    assert not is_state([1, 2], False)
    assert is_state(Path(), False)
