"""Cases: small hand-made captures. A step processes many at once, each under its own name."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce
from typing import Any

import pyarrow as pa

from zenlake.lake.derive.duck import Engine
from zenlake.lake.derive.steps import build_declarations, build_queries
from zenlake.lake.schema import STAGED, TABLES
from zenlake.lake.schema.table import DUCKDB_TYPES

Row = dict[str, Any]
Staged = dict[str, list[Row]]
"""Rows by the name of their table."""
Frames = dict[str, Any]
"""Frames of DuckDB or of Spark by the name of their table."""
Keep = Callable[[str, Any], Any]
MS = 1_000_000
"""Nanoseconds between two values of seq: a millisecond."""


def arrow(name: str, rows: list[Row]) -> pa.Table:
    """A table of the given rows in shuffled order; columns that a row omits are null."""
    table = {**STAGED, **TABLES}[name].base
    unknown = {column for row in rows for column in row} - set(table.names)
    assert not unknown, f"{name} has no {unknown}"
    mixed = random.Random(1).sample(rows, len(rows))
    return pa.Table.from_pylist(mixed, schema=table.arrow)


def frame(engine: Engine, name: str, rows: list[Row]) -> Any:
    """A frame on DuckDB; typed Any, because steps are annotated with frames of Spark."""
    return engine.load(arrow(name, rows).to_reader(), {name})


def staged(cases: dict[str, list[Row]], **defaults: Any) -> list[Row]:
    """Rows of all cases; packet and time follow from seq."""
    return [
        {
            "capture": case,
            "session": "s",
            "link": "l",
            "packet": row["seq"],
            "time_ns": row["seq"] * MS,
            **defaults,
            **row,
        }
        for case, rows in cases.items()
        for row in rows
    ]


def built(build: Any, tables: Frames, keep: Keep = lambda name, frame: frame) -> Frames:
    """The tables of a build, each in one frame. `keep` gets each frame that is read repeatedly."""
    found = build(tables, [tables], keep)
    return {name: reduce(lambda a, b: a.union(b), frames) for name, frames in found.items()}


def build_all(tables: Frames, keep: Keep = lambda name, frame: frame) -> Frames:
    """All tables that steps derive."""
    return built(build_queries, tables, keep) | built(build_declarations, tables, keep)


def collected(found: Any) -> list[Row]:
    return [row for batch in found.batches() for row in batch.to_pylist()]


def by_case(found: Any, order: str = "seq") -> dict[str, list[Row]]:
    """The resulting rows by case, in order."""
    rows: dict[str, list[Row]] = {}
    for row in sorted(collected(found), key=lambda row: row[order]):
        rows.setdefault(row["capture"], []).append(row)
    return rows


def columns(rows: list[Row], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def shape(found: Any) -> list[tuple[str, str]]:
    """Names and types, in order."""
    rows = found.sparkSession.connection.execute(f"DESCRIBE FROM {found.name}").fetchall()
    return [(row[0], row[1]) for row in rows]


def declared_shape(name: str) -> list[tuple[str, str]]:
    return [(one.name, DUCKDB_TYPES[one.type]) for one in TABLES[name].base.columns]
