"""Writes `_generated/statements.py`; with `--check` it only compares."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from zenlake.generated_files import write_or_check
from zenlake.lake.derive.duck import engine
from zenlake.lake.derive.duck.build import ACROSS_SPLITS, BUILDS, OF_SPLIT, build_tables
from zenlake.lake.derive.duck.dialect import translate
from zenlake.lake.derive.duck.statements import digest

TARGET: Final = Path(__file__).parent / "_generated" / "statements.py"


def module_source() -> str:
    return "\n".join(_lines(translations())) + "\n"


def translations() -> dict[str, str]:
    """The translation of every statement of the steps, found by running them without rows."""
    found: dict[str, str] = {}

    class Recorder(engine.Engine):
        def translated(self, text: str) -> str:
            found[digest(text)] = translate(text)
            return found[digest(text)]

    with TemporaryDirectory(prefix="zenlake-") as folder, Recorder(Path(folder)) as recorder:
        for builds in (BUILDS, OF_SPLIT, ACROSS_SPLITS):
            build_tables(recorder, [], [], builds=builds)
    return found


def _lines(found: dict[str, str]) -> Iterator[str]:
    yield '"""The statements of `lake/derive/steps` for DuckDB, written by `make generate`."""'
    yield ""
    yield "STATEMENTS: dict[str, str] = {"
    # Sorted by hash, so that two changes rarely conflict.
    for key, text in sorted(found.items()):
        yield f"    {key!r}: {text!r},"
    yield "}"


def main() -> int:
    return write_or_check({TARGET: module_source()}, "the steps")


if __name__ == "__main__":
    sys.exit(main())
