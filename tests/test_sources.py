"""Source files: imports are declared dependencies, and nothing names a machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.paths import ROOT
from zenlake import wire


def imported(path: Path) -> set[str]:
    """The packages a module needs at run time, without imports for types and optional ones."""
    names: set[str] = set()
    pending: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
            continue
        if isinstance(node, ast.Try) and "ImportError" in "".join(map(ast.unparse, node.handlers)):
            pending += node.handlers
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(str(node.module))
        pending += ast.iter_child_nodes(node)
    return {name.partition(".")[0] for name in names}


def test_every_import_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = {re.split(r"[^\w-]", text)[0] for text in sum(extras, project["dependencies"])}
    modules = {"eclipse-zenoh": "zenoh"}
    known = {"zenlake", *sys.stdlib_module_names, *(modules.get(name, name) for name in declared)}
    for path in (ROOT / "src").rglob("*.py"):
        assert imported(path) <= known, path


def packages_of_extra(name: str) -> set[str]:
    """The packages that an extra installs directly, or by another extra of zenlake."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: set[str] = set()
    pending = list(project["dependencies"] + project["optional-dependencies"][name])
    while pending:
        text = pending.pop()
        own = re.fullmatch(r"zenlake\[([\w,]+)\]", text)
        if own is None:
            found.add(re.split(r"[^\w.-]", text)[0])
        else:
            for extra in own[1].split(","):
                pending += project["optional-dependencies"][extra]
    return found


def test_test_extra_has_all_packages_that_tests_import() -> None:
    modules = {"backports.zstd": "backports", "eclipse-zenoh": "zenoh", "flask-cors": "flask_cors"}
    modules["pytest-xdist"] = "xdist"
    brought = {modules.get(name, name) for name in packages_of_extra("test")}
    own = {"zenlake", "pyspark_zenoh", "tests", "attacks", "benchmarks", "chaos", "fuzz"}
    known = {*sys.stdlib_module_names, *own, *brought}
    beside = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    for path in (ROOT / "tests").rglob("*.py"):
        assert imported(path) <= known | beside, path


def test_all_has_every_extra_that_a_user_can_need() -> None:
    everything = packages_of_extra("all")
    for name in ("sql", "lake", "ros"):
        assert packages_of_extra(name) <= everything


def test_no_file_names_a_registry_or_a_folder_of_a_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    try:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("git cannot list the files here")
    trace = re.compile(
        r"index[-_]url|trusted[-_]host|find[-_]links|\bfiles\.python[h]osted"
        r"|(?<![\w*$./-])/(root|work|home|Users)/\w",
        re.IGNORECASE,
    )
    for name in filter(None, done.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            found = trace.search(path.read_bytes().decode("utf-8", "replace"))
            assert found is None, f"{name}: {found}"


NOT_COPIES = {
    ("Init", "syn"),  # the terms of an answer: only some fields of the offer
    ("Interest", "up"),
    ("LinkState", "neighbour"),
    ("LinkState", "node"),
    ("Query", "spec"),
    ("Request", "spec"),
    ("Response", "query"),
    ("Response", "request"),
    ("ResponseFinal", "incoming"),
    ("ResponseFinal", "query"),
    ("ResponseFinal", "request"),
    ("SourceInfo", "self._source_id"),
}
"""Messages that share field names with the object they are made from, and are not copies of it."""


def copied_from(call: ast.Call, fields: tuple[str, ...]) -> set[str]:
    """Objects of which a constructor call copies two fields or more."""
    values = dict(zip(fields, call.args, strict=False))
    values |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    owners = Counter(
        ast.unparse(node.value)
        for name, value in values.items()
        for node in ast.walk(value)
        if isinstance(node, ast.Attribute) and node.attr == name
    )
    return {owner for owner, count in owners.items() if count > 1}


def test_messages_are_copied_by_their_generated_method() -> None:
    """A constructor call that lists the fields would lose one that is added later."""
    classes = {
        name: found.FIELDS
        for name, found in vars(wire).items()
        if isinstance(found, type) and issubclass(found, wire.Message)
    }
    for package in ("wire", "routing", "session", "node", "protocol", "admin", "api", "links"):
        for path in (ROOT / "src" / "zenlake" / package).rglob("*.py"):
            if path.parent.name == "_generated":
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    name = ast.unparse(node.func).rpartition(".")[2]
                    for owner in copied_from(node, classes.get(name, ())):
                        is_copy = name in classes and (name, owner) not in NOT_COPIES
                        assert not is_copy, f"{path}:{node.lineno}: use {owner}.copy()"


def test_a_constructor_call_that_copies_a_message_is_found() -> None:
    call = ast.parse("Push(new_key, old.body, qos=old.qos)").body[0]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert copied_from(call.value, wire.Push.FIELDS) == {"old"}
