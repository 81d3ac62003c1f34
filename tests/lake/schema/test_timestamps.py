"""Each column in nanoseconds has a TIMESTAMP column beside it, in new and in old rows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.report.small_lake import START_NS, make, robot
from tests.trace.sidecar import PATHS
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.lake.parquet.parquet_files import ParquetFiles
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES, VERSION
from zenlake.lake.schema.written import WRITTEN
from zenlake.lake.sql import on_duckdb

DURATIONS = {"deadline_ns", "lifespan_ns", "lease_ns"}


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with on_duckdb.query(store.snapshot(), sql) as result:
        return list(result.rows)


@pytest.mark.parametrize("table", TABLES)
def test_each_time_has_a_timestamp_column(table: str) -> None:
    columns = TABLES[table].columns
    times = [one.name for one in columns if one.name.endswith("_ns")]
    beside = dict(zip(TABLES[table].names, [*TABLES[table].names[1:], ""], strict=True))
    for name in times:
        if name not in DURATIONS:
            assert beside[name] == ("time" if name == "time_ns" else f"{name[:-3]}_at")
    assert len([one for one in columns if one.type == "TIMESTAMP"]) == len(
        [name for name in times if name not in DURATIONS]
    )


@pytest.mark.parametrize("table", ["batches", "messages", "samples", "sessions"])
def test_files_have_both_columns(tmp_path: Path, table: str) -> None:
    files = ParquetFiles(tmp_path)
    files.write({table: [stage(PATHS["metadata"], "c")[table]]})
    [written] = files.close()
    found = pq.read_table(written.path)
    for column in WRITTEN[table].columns:
        if column.computed_from:
            ns = found.column(column.computed_from).to_pylist()
            us = found.column(column.name).cast(pa.int64()).to_pylist()
            assert us == [None if one is None else one // 1000 for one in ns]
            assert any(one is not None for one in us)


def test_sql_compares_and_describes_timestamps(tmp_path: Path) -> None:
    store = make(tmp_path / "a.lake", robot(), VERSION - 1)
    [(first,)] = rows(store, "SELECT min(time) FROM messages WHERE time >= '2023-11-14 22:13:20'")
    assert first == datetime.fromtimestamp(START_NS // 10**9, UTC)
    assert rows(store, "SELECT count(*) FROM sessions WHERE closed_at - opened_at > '8 s'") == [
        (1,)
    ]
    described = rows(store, "DESCRIBE sessions")
    assert [row[0] for row in described] == TABLES["sessions"].names
    assert ("opened_at", "TIMESTAMP WITH TIME ZONE", "opened_ns as a time in UTC") in described
    assert all(comment for _, _, comment in rows(store, 'describe table "queries" ;'))
