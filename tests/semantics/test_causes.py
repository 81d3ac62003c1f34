"""Causes: one list of names, which the modules that find causes use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import zenlake
from zenlake.report import findings
from zenlake.semantics.causes import CAUSES, QUERY_CAUSES, SESSION_CAUSES, WELL, rank

PACKAGE = Path(zenlake.__file__).parent
FINDERS = sorted(
    [
        *(PACKAGE / "why").glob("*.py"),
        PACKAGE / "trace" / "session_ends.py",
        PACKAGE / "trace" / "timelines" / "unanswered.py",
    ]
)
CLASSES_WITH_CAUSE = {"Absence": 0, "Story": 1, "Unanswered": 0}
"""The index of the cause in their arguments."""


def _strings(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _is_cause(target: ast.expr) -> bool:
    name = getattr(target, "attr", getattr(target, "id", ""))
    return name == "cause"


def _assigned(tree: ast.AST) -> Iterator[str]:
    """Literals that are used as a cause."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if _is_cause(target):
                yield from _values(node.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for part, value in zip(target.elts, node.value.elts, strict=True):
                    if _is_cause(part):
                        yield from _values(value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            place = CLASSES_WITH_CAUSE.get(node.func.id)
            if place is not None and len(node.args) > place:
                yield from _values(node.args[place])


def _values(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from _values(value.body)
        yield from _values(value.orelse)


@pytest.mark.parametrize("path", FINDERS, ids=lambda path: path.name)
def test_cause_in_a_module_is_listed(path: Path) -> None:
    unknown = set(_assigned(ast.parse(path.read_text("utf-8")))) - CAUSES.keys()
    assert not unknown


def test_listed_cause_is_used_somewhere() -> None:
    used = {text for path in FINDERS for text in _strings(ast.parse(path.read_text("utf-8")))}
    used |= {f"no_{entity}" for entity in ("queryable", "subscriber")}
    assert CAUSES.keys() <= used | set(QUERY_CAUSES)


def test_columns_have_listed_causes() -> None:
    assert CAUSES.keys() >= {*QUERY_CAUSES, *SESSION_CAUSES, *WELL}
    assert findings.SESSION_WORDS.keys() <= set(SESSION_CAUSES)


def test_failures_rank_before_successes() -> None:
    failed = [rank(name) for name, cause in CAUSES.items() if cause.failed]
    assert max(failed) < min(rank(name) for name in WELL)
