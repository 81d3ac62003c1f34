"""Names and arguments are those of eclipse-zenoh's own stub (behaviour reference §7)."""

from __future__ import annotations

import ast
import inspect
from importlib.util import find_spec
from pathlib import Path

import pytest

import zenlake

CLASSES = [
    "Session",
    "Publisher",
    "Subscriber",
    "Querier",
    "Queryable",
    "Query",
    "Reply",
    "ReplyError",
    "Sample",
    "Liveliness",
    "LivelinessToken",
    "MatchingListener",
    "MatchingStatus",
    "Scout",
    "Hello",
    "SessionInfo",
    "Transport",
    "Link",
    "TransportEvent",
    "LinkEvent",
    "TransportEventsListener",
    "LinkEventsListener",
]
# Additions of zenlake.
OURS = {"Session.get": {"budget"}}

spec = find_spec("zenoh")
if spec is None or spec.origin is None:
    pytest.skip("eclipse-zenoh is not installed", allow_module_level=True)
STUB = ast.parse(Path(spec.origin).with_suffix(".pyi").read_text())
NODES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def arguments(function: ast.FunctionDef) -> tuple[list[str], set[str]]:
    """Positional names without self, and keyword-only names."""
    positional = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return [name for name in positional if name not in ("self", "cls")], {
        one.arg for one in function.args.kwonlyargs
    }


@pytest.mark.parametrize("name", CLASSES)
def test_class(name: str) -> None:
    if name not in NODES:
        pytest.skip(f"the installed eclipse-zenoh has no {name}")
    stub, own = NODES[name], getattr(zenlake, name)
    assert isinstance(stub, ast.ClassDef)
    for member in stub.body:
        if not isinstance(member, ast.FunctionDef) or member.name in ("__new__", "__exit__"):
            continue
        found = inspect.getattr_static(own, member.name)
        decorators = {ast.unparse(one) for one in member.decorator_list}
        if "property" in decorators:
            # Compiled ones are descriptors of another type.
            assert inspect.isdatadescriptor(found), member.name
            continue
        if member.name.startswith("__"):
            continue
        compare(f"{name}.{member.name}", member, found)


@pytest.mark.parametrize("name", ["open", "scout"])
def test_function_has_the_signature_of_the_stub(name: str) -> None:
    stub = NODES[name]
    assert isinstance(stub, ast.FunctionDef)
    compare(name, stub, getattr(zenlake, name))


def compare(name: str, stub: ast.FunctionDef, own: object) -> None:
    assert callable(own)
    parameters = inspect.signature(own).parameters.values()
    positional = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    keywords = {one.name for one in parameters if one.kind is one.KEYWORD_ONLY}
    expected, expected_keywords = arguments(stub)
    assert [one for one in positional if one != "self"] == expected, name
    assert keywords - OURS.get(name, set()) == expected_keywords, name
