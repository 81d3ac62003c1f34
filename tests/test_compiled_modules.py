"""The list of compiled modules in setup.py names files that exist and forgets none that is hot."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

PLAIN = {
    "_mypyc.py": "stands in for mypyc's decorators",
    "errors.py": "errors are rare, and users subclass them",
    "limits.py": "constants, read when a module is loaded",
    "wire/defaults.py": "constants, read when a module is loaded",
    "wire/headers.py": "constants, read when a module is loaded",
    "semantics/causes.py": "words, read when a module is loaded",
    "secrets.py": "texts for users",
    "forks.py": "runs once in a process, or after a fork",
    "gil_checkpoint.py": "plain Python releases its lock in it, compiled code would not",
    "capture/files.py": "runs once for a file",
    "capture/input.py": "reads a file in large parts",
    "keyexpr/parameters.py": "runs once for a query",
    "keyexpr/set_intersection_level.py": "an enumeration",
    "recording/filter.py": "names of methods",
    "recording/folder.py": "runs once for a segment",
    "recording/link_state.py": "runs once for a segment",
    "recording/segment_file.py": "writes many batches at once",
    "recording/segment_scan.py": "runs once for a recorder",
    "recording/settings.py": "read once",
    "rules/registry.py": "the list of rules, made once",
    "rules/screens.py": "declarations of rules, read when a module is loaded",
    "rules/noncanonical.py": "asked about few batches",
    "trace/interest_answers.py": "asked about few declarations",
    "trace/timelines/declarations.py": "a table of messages, read when a module is loaded",
    "wire/codec.py": "runs once for a message that is shown",
    "wire/compression.py": "calls lz4",
    "wire/writer.py": "a buffer of mypyc's runtime, and its replacement",
}
"""Modules in `src/zenlake` that compiled modules import and that stay plain, with the reason."""
PLAIN_PACKAGES = {"api", "node"}
"""Packages whose modules mostly run once for a call or a link: only hot modules are compiled."""


def compiled_modules() -> set[Path]:
    """As setup.py finds them; a pattern that matches no file is an error."""
    found: set[Path] = set()
    for pattern in hot_patterns():
        paths = {path for path in ROOT.glob(pattern) if path.name != "__init__.py"}
        assert paths, f"HOT_MODULES in setup.py: no file matches {pattern}"
        found |= paths
    return found


def hot_patterns() -> list[str]:
    for node in ast.parse((ROOT / "setup.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HOT_MODULES":
            patterns: list[str] = list(ast.literal_eval(node.value))
            return patterns
    raise AssertionError("setup.py has no HOT_MODULES")


def imported_by(path: Path) -> Iterator[Path]:
    """Modules of zenlake that a module imports when it is loaded."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("zenlake"):
            module = ROOT.joinpath("src", *(node.module or "").split("."))
            for one in (module, *(module / alias.name for alias in node.names)):
                if one.with_suffix(".py").is_file():
                    yield one.with_suffix(".py")


def test_every_pattern_matches_a_file() -> None:
    assert len(compiled_modules()) > 200


def test_modules_that_compiled_ones_import_are_compiled_or_listed_as_plain() -> None:
    compiled = compiled_modules()
    source = ROOT / "src" / "zenlake"
    forgotten = {
        str(imported.relative_to(source)): str(path.relative_to(source))
        for path in compiled
        for imported in imported_by(path)
        if imported not in compiled
        and str(imported.relative_to(source)) not in PLAIN
        and imported.relative_to(source).parts[0] not in PLAIN_PACKAGES
    }
    assert forgotten == {}, "add these to HOT_MODULES in setup.py, or to PLAIN with a reason"
