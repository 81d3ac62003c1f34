"""Writes docs/reference/tables.md and the records of the exact reader.

With `--check` it only compares them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from zenlake.generated_files import write_or_check
from zenlake.lake.schema import TABLES, VERSION, generate_records

TARGET = Path(__file__).parents[4] / "docs" / "reference" / "tables.md"


def page() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "<!-- Printed from zenlake.lake.schema by `make generate`: edit that instead. -->"
    yield ""
    yield f"# Tables of a lake (schema {VERSION})"
    yield ""
    yield "Every column may be null: absent, or not known. `*_ns` are nanoseconds since 1970, each"
    yield "with a TIMESTAMP beside it (`time`, `*_at`) unless it is a duration; `*_ms` are"
    yield "milliseconds. How to make and query the tables: [lake.md](../lake.md)."
    yield ""
    for table in TABLES.values():
        yield f"- [`{table.name}`](#{table.name}): {table.comment}"
    for table in TABLES.values():
        yield ""
        yield f"## {table.name}"
        yield ""
        yield f"One row: {table.comment}."
        yield ""
        yield "| column | type | meaning |"
        yield "|---|---|---|"
        for column in table.columns:
            meaning = column.comment.replace("|", "\\|").replace("<", "&lt;")
            yield f"| `{column.name}` | {column.type} | {meaning} |"


def main() -> int:
    files = {TARGET: page(), generate_records.TARGET: generate_records.module_source()}
    return write_or_check(files, "the schemas")


if __name__ == "__main__":
    sys.exit(main())
