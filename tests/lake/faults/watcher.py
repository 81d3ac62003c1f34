"""A process that reads two tables of a lake repeatedly until its input ends.

Then it prints each distinct result: how it read, and the number of rows by table and capture.
"""

from __future__ import annotations

import json
import select
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq
from deltalake import DeltaTable

from zenlake.lake.publish import Store

TABLES = ("messages", "queries")
_PAUSE_SECONDS = 0.1


def rows(files: Iterable[Path]) -> dict[str, int]:
    """The number of rows by capture."""
    found: Counter[str] = Counter()
    for file in files:
        found.update(pq.ParquetFile(file).read(["capture"]).column(0).to_pylist())
    return dict(sorted(found.items()))


def by_snapshot(lake: Path) -> dict[str, dict[str, int]]:
    snapshot = Store(lake).snapshot()
    return {table: rows(snapshot.files(table)) for table in TABLES}


def by_name(lake: Path, table: str) -> dict[str, dict[str, int]]:
    """Reads each table on its own, as any reader of Delta tables does."""
    names = DeltaTable(lake / table).file_uris()
    return {table: rows(lake / table / Path(name).name for name in names)}


def main() -> None:
    lake = Path(sys.argv[1])
    seen: Counter[str] = Counter()
    while not select.select([sys.stdin], [], [], _PAUSE_SECONDS)[0]:
        seen[json.dumps(by_snapshot(lake))] += 1
        for table in TABLES:
            seen[json.dumps(by_name(lake, table))] += 1
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
