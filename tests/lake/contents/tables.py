"""All rows of a lake, by table and by the names of the sidecars."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.trace.sidecar import CLOCK_SECONDS, Sidecar
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES
from zenlake.lake.sql import on_duckdb

Row = dict[str, Any]


def name_of(capture: str) -> str:
    """`queries` for any path to `queries.pcapng.gz`."""
    return Path(capture).name.partition(".")[0]


class Tables:
    """The rows of each table, in the order of `seq` or of their times."""

    def __init__(self, lake: Path) -> None:
        self.lake = lake
        self._rows: dict[tuple[str, str], list[Row]] = {}
        for table in TABLES:
            rows = pq.read_table(lake / table).to_pylist()
            for row in sorted(rows, key=_place):
                self._rows.setdefault((name_of(row["capture"]), table), []).append(row)

    def of(self, name: str, table: str) -> list[Row]:
        return self._rows.get((name, table), [])

    def names(self) -> set[str]:
        return {name for name, _ in self._rows}

    def counts(self, name: str) -> Counter[str]:
        """The number of messages by kind."""
        return Counter(row["kind"] for row in self.of(name, "messages"))

    def samples(self, name: str) -> list[Row]:
        """The samples that a receiver accepts."""
        return [row for row in self.of(name, "samples") if row["ignored"] is None]

    def protocols(self, name: str) -> dict[str, str]:
        """The protocol of each link, from `batches`."""
        return {row["link"]: row["protocol"] for row in self.of(name, "batches")}


def _place(row: Row) -> tuple[int, int]:
    time = row.get("time_ns") or row.get("from_ns") or row.get("first_ns") or 0
    return row.get("seq") or 0, time


def seconds(time_ns: int) -> float:
    return time_ns / 1e9


def is_near(time: float, time_ns: int | None) -> bool:
    """Whether a time of a sidecar may be a time of the capture, by another clock."""
    return time_ns is not None and abs(seconds(time_ns) - time) < CLOCK_SECONDS


def closed_at(sidecar: Sidecar, node: str) -> float:
    """When a node of a sidecar was closed."""
    (time,) = (row["t"] for row in sidecar.of("close") if row["node"] == node)
    return float(time)


def nodes_by_zid(sidecar: Sidecar) -> dict[str, str]:
    return {zid: node for node, zid in sidecar.zids.items()}


def rows_of_query(lake: Path, sql: str) -> list[tuple[Any, ...]]:
    with on_duckdb.query(Store(lake).snapshot(), sql) as result:
        return list(result.rows)
