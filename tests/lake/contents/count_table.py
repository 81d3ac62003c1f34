"""A table of captures: rows in each table of a lake, beside the messages their sidecars count.

    python -m tests.lake.contents.count_table LAKE

`-` stands for a capture whose sidecar has no counts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.lake.contents.tables import Tables
from tests.trace.sidecar import PATHS, sidecar_of

SHOWN = (
    *("messages", "samples", "queries", "replies", "declarations", "interests", "sessions"),
    *("nodes", "adjacencies", "losses"),
)


def sidecar_count(name: str) -> str:
    counts = sidecar_of(name).wire_counts if name in PATHS else None
    return "-" if counts is None else f"{counts.total():,}"


def row(tables: Tables, name: str) -> str:
    rows = [f"{len(tables.of(name, table)):,}" for table in SHOWN]
    return f"| {' | '.join((name, sidecar_count(name), *rows))} |"


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m tests.lake.contents.count_table LAKE", file=sys.stderr)
        return 2
    tables = Tables(Path(arguments[0]))
    print(f"| capture | sidecar's messages | {' | '.join(SHOWN)} |")
    print("|---" * (len(SHOWN) + 2) + "|")
    for name in sorted(tables.names()):
        print(row(tables, name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
