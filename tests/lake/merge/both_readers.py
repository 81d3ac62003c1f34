"""All tables of a capture, read by either reader, as comparable rows."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from zenlake.lake.fast_reader import Survey
from zenlake.lake.merge.split import CHUNK_BYTES, Split, Tables, read_split
from zenlake.lake.plan.splits import assign, parts
from zenlake.lake.schema.written import WRITTEN

Row = dict[str, Any]


def gather(*splits: Split, chunk_bytes: int = CHUNK_BYTES) -> dict[str, list[Row]]:
    """The rows of each table, in an order that does not depend on the order of reading."""
    parts: dict[str, list[pa.Table]] = {name: [] for name in WRITTEN}

    def write(tables: Tables) -> None:
        for name, found in tables.items():
            parts[name] += [table.cast(WRITTEN[name].base.arrow) for table in found]

    for split in splits:
        read_split(split, write, chunk_bytes)
    return {name: _rows(found) for name, found in parts.items()}


def read_by_exact_reader(path: str) -> dict[str, list[Row]]:
    return gather(Split(path, path))


def read_by_both_readers(
    path: str, survey: Survey, splits: int = 1, chunk_bytes: int = CHUNK_BYTES
) -> dict[str, list[Row]]:
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


def differences(one: dict[str, list[Row]], other: dict[str, list[Row]]) -> list[str]:
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
