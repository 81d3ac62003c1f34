"""Writes `wire/_generated/*.py` and, in a checkout, the pages of `docs/reference`.

With `--check` it only reports whether they are up to date.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from zenlake.generated_files import write_or_check
from zenlake.wire.definitions import MODULES
from zenlake.wire.generate.module import generated_names, module_source
from zenlake.wire.generate.reference import pages

PACKAGE = Path(__file__).parents[2]
GENERATED = PACKAGE / "wire" / "_generated"
REFERENCE = PACKAGE.parents[1] / "docs" / "reference"

# Modules that generated code imports from, besides its own kind.
LIBRARIES = (
    "zenlake.errors",
    "zenlake.limits",
    "zenlake.wire.primitives",
    "zenlake.wire.message",
    "zenlake.wire.values.choices",
    "zenlake.wire.values.encoding",
    "zenlake.wire.values.endpoint",
    "zenlake.wire.values.qos",
    "zenlake.wire.values.qos_link",
    "zenlake.wire.values.queryable_info",
    "zenlake.wire.values.resolution",
    "zenlake.wire.values.slices",
    "zenlake.wire.values.timestamp",
    "zenlake.wire.values.whatami",
    "zenlake.wire.values.wire_expr",
    "zenlake.wire.values.zenoh_id",
)


def sources() -> dict[Path, str]:
    """Every generated file and the text it should have."""
    homes = {
        "BytesWriter": "zenlake.wire.writer",
        "decode_messages": "zenlake.wire.runs",
        "mypyc_attr": "zenlake._mypyc",
    }
    for library in LIBRARIES:
        homes |= dict.fromkeys(_names_defined_in(library), library)
    texts = {}
    for module in MODULES:
        layer = module.__name__.rpartition(".")[2]
        texts[GENERATED / f"{layer}.py"] = module_source(module, homes)
        homes |= dict.fromkeys(generated_names(module), f"zenlake.wire._generated.{layer}")
    if REFERENCE.is_dir():
        texts |= {REFERENCE / name: text for name, text in pages().items()}
    return texts


def _names_defined_in(module: str) -> Iterator[str]:
    """Names that a module binds itself, at its top level, not by importing them."""
    path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def main() -> int:
    return write_or_check(sources(), "the definitions")


if __name__ == "__main__":
    sys.exit(main())
