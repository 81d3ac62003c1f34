"""Files of all tables have the declared columns, types and comments, for every reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.lake.contents.tables import Tables, name_of
from tests.trace.sidecar import PATHS
from zenlake.lake.frames import Lake
from zenlake.lake.pipeline.pipeline import run
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_DUCKDB = {"STRING": "VARCHAR", "BINARY": "BLOB", "TIMESTAMP": "TIMESTAMP WITH TIME ZONE"}
AGAIN = ("alias_remapped", "liveliness")
BINARY_COLUMNS = {"payload", "attachment"}
TYPES_BY_ENDING = {
    **dict.fromkeys(("ns", "id", "eid", "sn", "seq"), "BIGINT"),
    **{"zid": "STRING", "ms": "DOUBLE"},
}
"""Types of columns by the last word of their names."""
SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"


def files_of(lake: Path, table: str) -> list[Path]:
    found = sorted((lake / table).glob("*.parquet"))
    assert found
    return found


@pytest.mark.parametrize("table", TABLES)
def test_each_file_has_the_declared_columns_and_types(lake: Path, table: str) -> None:
    for file in files_of(lake, table):
        schema = pq.read_schema(file)
        assert schema.names == TABLES[table].names
        assert schema.types == TABLES[table].arrow.types


def comments_of(table: str) -> dict[str, str]:
    return {column.name: column.comment for column in TABLES[table].columns}


@pytest.mark.parametrize("table", TABLES)
def test_spark_shows_the_comments_of_columns(lake: Path, spark: SparkSession, table: str) -> None:
    fields = Lake(lake, spark).table(table).schema.fields
    assert {field.name: field.metadata.get("comment") for field in fields} == comments_of(table)
    assert all(comments_of(table).values())


@pytest.mark.parametrize("table", TABLES)
def test_files_have_the_comments_of_columns(lake: Path, table: str) -> None:
    for file in files_of(lake, table):
        fields = json.loads((pq.read_schema(file).metadata or {})[SPARK_KEY])["fields"]
        found = {field["name"]: field["metadata"].get("comment") for field in fields}
        assert found == comments_of(table)


@pytest.mark.parametrize("table", TABLES)
def test_duckdb_reads_the_files_of_a_pattern(lake: Path, tables: Tables, table: str) -> None:
    pattern = str(lake / table / "*.parquet")
    with duckdb.connect() as connection:
        connection.read_parquet(pattern).create_view("found")
        described = connection.execute("DESCRIBE found").fetchall()
        wanted = [(one.name, IN_DUCKDB.get(one.type, one.type)) for one in TABLES[table].columns]
        assert [row[:2] for row in described] == wanted
        (count,) = connection.execute("SELECT count(*) FROM found").fetchall()
    assert count == (sum(len(tables.of(name, table)) for name in PATHS),)


def test_types_follow_the_naming_rules() -> None:
    for table in TABLES.values():
        for column in table.columns:
            assert (column.type == "BINARY") == (column.name in BINARY_COLUMNS)
            _, _, ending = column.name.rpartition("_")
            assert column.type == TYPES_BY_ENDING.get(ending, column.type), column


def test_values_of_words_are_the_documented_ones(tables: Tables) -> None:
    words = {
        ("messages", "reliability"): {"reliable", "best_effort"},
        ("samples", "congestion"): {"drop", "block", "block_first"},
        ("samples", "kind"): {"PUT", "DEL"},
        ("queries", "target"): {"best_matching", "all", "all_complete"},
        ("queries", "consolidation"): {"auto", "none", "monotonic", "latest"},
        ("replies", "kind"): {"PUT", "DEL", "ERR"},
        ("declarations", "entity"): {"keyexpr", "subscriber", "queryable", "token"},
        ("declarations", "ended_by"): {"undeclare", "session"},
        ("sessions", "outcome"): {"open", "closed", "refused", "lost", "partial"},
        ("nodes", "role"): {"router", "peer", "client"},
        ("losses", "kind"): {"tcp_gap", "sn_gap", "fragment", "truncated", "resync"},
    }
    for (table, column), wanted in words.items():
        found = {row[column] for name in PATHS for row in tables.of(name, table)}
        assert found - {None} <= wanted
        assert len(found - {None}) > 1


def test_reading_the_same_files_again_changes_nothing(lake: Path, spark: SparkSession) -> None:
    before = Store(lake).version()
    captures = pq.read_table(lake / "captures").to_pylist()
    paths = sorted(row["capture"] for row in captures if name_of(row["capture"]) in AGAIN)
    assert len(paths) == len(AGAIN)
    outcome = run(paths, lake, spark)
    assert (outcome.read, outcome.failed) == ([], {})
    assert outcome.unchanged == paths
    assert outcome.version == before == Store(lake).version()
