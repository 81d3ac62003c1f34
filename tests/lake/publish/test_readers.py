"""Each table is a plain Delta table: other readers see the current rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import duckdb
import polars
import pytest
from deltalake import DeltaTable

from tests.lake.publish.small_lake import ROWS, lake, publish, remove
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES
from zenlake.lake.sql import on_duckdb
from zenlake.limits import LAKE_RETENTION_HOURS_MAX


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A lake in which captures were added, replaced, removed and compacted."""
    store = lake(tmp_path, "a", "b", "c")
    publish(store, "b", edition=2)
    remove(store, "c")
    return store


def test_polars_reads_the_current_rows(store: Store, tmp_path: Path) -> None:
    rows = polars.scan_delta(str(tmp_path / "messages")).collect()
    assert sorted(rows["capture"].to_list()) == sorted(["a", "b"] * ROWS["messages"])
    assert rows.filter(polars.col("capture") == "b")["seq"].to_list() == [2] * ROWS["messages"]
    assert rows.columns == TABLES["messages"].names


def test_pandas_reads_the_current_rows(store: Store, tmp_path: Path) -> None:
    rows = DeltaTable(tmp_path / "samples").to_pandas()
    assert len(rows) == 2 * ROWS["samples"]
    assert set(rows["capture"]) == {"a", "b"}


def test_duckdb_reads_the_current_rows_from_the_file_list(store: Store, tmp_path: Path) -> None:
    files = DeltaTable(tmp_path / "messages").file_uris()
    [(count,)] = duckdb.execute("SELECT count(*) FROM read_parquet(?)", [files]).fetchall()
    assert count == 2 * ROWS["messages"]


def test_parquet_files_after_a_vacuum_have_the_current_rows(store: Store, tmp_path: Path) -> None:
    query = f"SELECT count(*) FROM '{tmp_path}/messages/*.parquet'"
    [(stale,)] = duckdb.execute(query).fetchall()
    assert stale > 2 * ROWS["messages"]
    with store.begin() as run:
        run.vacuum(0)
    [(count,)] = duckdb.execute(query).fetchall()
    assert count == 2 * ROWS["messages"]


def test_columns_have_their_types_and_comments(store: Store, tmp_path: Path) -> None:
    for name, table in TABLES.items():
        fields = DeltaTable(tmp_path / name).schema().fields
        assert [one.name for one in fields] == table.names
        assert [one.metadata.get("comment") for one in fields] == [
            column.comment for column in table.columns
        ]


def test_files_are_skipped_by_key_capture_and_time(store: Store, tmp_path: Path) -> None:
    import pyarrow as pa

    actions = pa.table(DeltaTable(tmp_path / "messages").get_add_actions()).to_pylist()
    by_capture = {one["min"]["capture"]: one for one in actions}
    assert set(by_capture) == {"a", "b"}
    for name, one in by_capture.items():
        assert (one["max"]["capture"], one["num_records"]) == (name, ROWS["messages"])
        assert one["min"]["time_ns"] == one["max"]["time_ns"] == 5
        assert one["min"]["time"] is not None
    assert by_capture["b"]["min"]["key"] == by_capture["b"]["max"]["key"] == "robot/2"


def test_other_writers_keep_old_files_equally_long(store: Store, tmp_path: Path) -> None:
    settings = DeltaTable(tmp_path / "messages").metadata().configuration
    kept = f"interval {LAKE_RETENTION_HOURS_MAX} hours"
    assert settings["delta.deletedFileRetentionDuration"] == kept
    assert settings["delta.logRetentionDuration"] == kept


def test_sql_reads_a_table_without_files(store: Store) -> None:
    # Another writer of Delta may delete all rows.
    snapshot = dataclasses.replace(store.snapshot(), names=lambda table: [])
    with on_duckdb.query(snapshot, "SELECT count(*), max(time) FROM samples") as found:
        assert list(found.rows) == [(0, None)]
