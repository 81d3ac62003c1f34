"""TIMESTAMP columns, computed from the columns of nanoseconds beside them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from zenlake.lake.schema.table import Table


def timestamps(ns: pa.ChunkedArray) -> pa.ChunkedArray:
    """Truncated to microseconds, like Spark's `timestamp_micros(ns div 1000)`."""
    exact = ns.cast(pa.timestamp("ns", tz="UTC"))
    return exact.cast(pa.timestamp("us", tz="UTC"), safe=False)


def with_timestamps_of(row: dict[str, Any], table: Table) -> dict[str, Any]:
    """A row with the computed columns of its table, in microseconds, which Arrow accepts."""
    found = dict(row)
    for column in table.columns:
        if column.computed_from:
            ns = row.get(column.computed_from)
            found[column.name] = None if ns is None else ns // 1000
    return found
