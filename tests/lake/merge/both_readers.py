"""All tables of a capture, read by either reader, as comparable rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from zenlake.lake.fast_reader import Survey
from zenlake.lake.merge.split import CHUNK_BYTES, Split, Tables, read_split
from zenlake.lake.plan.splits import assign, parts
from zenlake.lake.schema.written import WRITTEN

Row = dict[str, Any]
Rows = dict[str, list[Row]]
"""The rows by table."""


def gather(*splits: Split, chunk_bytes: int = CHUNK_BYTES) -> Rows:
    """The rows of each table, in an order that does not depend on the order of reading."""
    parts: dict[str, list[pa.Table]] = {name: [] for name in WRITTEN}

    def write(tables: Tables) -> None:
        for name, found in tables.items():
            parts[name] += [table.cast(WRITTEN[name].base.arrow) for table in found]

    for split in splits:
        read_split(split, write, chunk_bytes)
    return {name: _rows(found) for name, found in parts.items()}


def read_by_exact_reader(path: str) -> Rows:
    return gather(Split(path, path))


def read_by_both_readers(
    path: str, survey: Survey, splits: int = 1, chunk_bytes: int = CHUNK_BYTES
) -> Rows:
    """Regular pairs by the fast reader, others by the exact reader; possibly in several tasks."""
    found = list(parts(survey, assign(survey, splits).of_pair, splits))
    assert sum(len(part) for part in found) == len(survey)
    tasks = [Split(path, path, part, None, number == 0) for number, part in enumerate(found)]
    return gather(*tasks, chunk_bytes=chunk_bytes)


def _rows(tables: list[pa.Table]) -> list[Row]:
    rows = [row for table in tables for row in table.to_pylist()]
    if len({row.get("seq") for row in rows}) == len(rows):
        return sorted(rows, key=lambda row: row.get("seq") or 0)
    return sorted(rows, key=lambda row: (row.get("seq") or 0, json.dumps(row, default=str)))


def assert_same_rows(path: Path | str, survey: Survey, *ways: dict[str, int]) -> Rows:
    """Asserts that both readers return the rows of the exact reader, in all ways of reading.

    A way names `splits` and `chunk_bytes`; returns these rows.
    """
    expected = read_by_exact_reader(str(path))
    for way in ways or ({},):
        assert differences(expected, read_by_both_readers(str(path), survey, **way)) == [], way
    return expected


def differences(one: Rows, other: Rows) -> list[str]:
    """One line for each table that differs, with the first different row."""
    found = []
    for name in WRITTEN:
        if one[name] == other[name]:
            continue
        text = f"{name}: {len(one[name])} and {len(other[name])} rows"
        for a, b in zip(one[name], other[name], strict=False):
            if a != b:
                text += f", first { ({key: (a[key], b[key]) for key in a if a[key] != b[key]}) }"
                break
        found.append(text)
    return found
