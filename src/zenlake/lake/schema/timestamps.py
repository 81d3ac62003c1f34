"""Timestamps: the TIMESTAMP columns of rows, computed from those of nanoseconds beside them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from zenlake.lake.schema.table import Table


def timestamps(ns: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cut to the microsecond, as Spark's `timestamp_micros(ns div 1000)` does."""
    exact = ns.cast(pa.timestamp("ns", tz="UTC"))
    return exact.cast(pa.timestamp("us", tz="UTC"), safe=False)


def with_timestamps_of(row: dict[str, Any], table: Table) -> dict[str, Any]:
    """One row, with what its table computes; Arrow takes microseconds for a TIMESTAMP."""
    found = dict(row)
    for column in table.columns:
        if column.computed_from:
            ns = row.get(column.computed_from)
            found[column.name] = None if ns is None else ns // 1000
    return found
