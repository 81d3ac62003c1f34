"""The stub of the installed eclipse-zenoh, read as names and signatures."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import zenoh

STUBS = Path(zenoh.__file__).parent
NOTHING = "(none)"


class Parameter(NamedTuple):
    """One parameter; `default` is its source, or `NOTHING`."""

    name: str
    kind: str
    default: str


Signature = list[Parameter]


class StubClass(NamedTuple):
    """Members by name: the signature of a method, None for anything else."""

    members: dict[str, Signature | None]


def read_stub(name: str) -> dict[str, StubClass | Signature]:
    """The names that a module of the stub offers."""
    tree = ast.parse((STUBS / f"{name}.pyi").read_text("utf-8"))
    offered: dict[str, StubClass | Signature] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            offered[node.name] = StubClass(_members(node))
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            known = offered.get(node.name)
            offered[node.name] = _merged(known if isinstance(known, list) else None, node, False)
    return offered


def _members(node: ast.ClassDef) -> dict[str, Signature | None]:
    members: dict[str, Signature | None] = {}
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            decorators = {ast.unparse(each) for each in part.decorator_list}
            if "property" in decorators or any(each.endswith(".setter") for each in decorators):
                members[part.name] = None
            else:
                members[part.name] = _merged(members.get(part.name), part, True)
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            members[part.target.id] = None
        elif isinstance(part, ast.Assign):
            members.update({t.id: None for t in part.targets if isinstance(t, ast.Name)})
    return members


def _merged(known: Signature | None, node: ast.FunctionDef, is_method: bool) -> Signature:
    """Overloads have the same parameters; one has a default if it has one in any of them."""
    found = _signature(node.args)[1 if is_method else 0 :]
    if known is None:
        return found
    assert [each.name for each in known] == [each.name for each in found], node.name
    return [a if a.default != NOTHING else b for a, b in zip(known, found, strict=True)]


def _signature(arguments: ast.arguments) -> Signature:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [NOTHING] * (len(positional) - len(arguments.defaults))
    defaults += [ast.unparse(each) for each in arguments.defaults]
    found = [
        Parameter(
            each.arg,
            "POSITIONAL_ONLY" if each in arguments.posonlyargs else "POSITIONAL_OR_KEYWORD",
            default,
        )
        for each, default in zip(positional, defaults, strict=True)
    ]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "VAR_POSITIONAL", NOTHING))
    for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = NOTHING if value is None else ast.unparse(value)
        found.append(Parameter(each.arg, "KEYWORD_ONLY", default))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "VAR_KEYWORD", NOTHING))
    return found
