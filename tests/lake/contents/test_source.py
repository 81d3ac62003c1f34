"""The data source returns the rows that the pipeline wrote, for every table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from tests.chance import IS_FULL
from tests.lake.source.reading import read, rows
from tests.paths import CAPTURES
from tests.trace.sidecar import PATHS
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_CHOSEN = (
    *("queries", "ros2", "routers_ring", "liveliness", "snaplen", "multicast", "lowlatency"),
    *("udp_unicast", "pico_peers", "compression"),
)
"""Captures that together have rows in every table, and every kind of link."""
COMPARED = [str(PATHS[name]) for name in (PATHS if IS_FULL else _CHOSEN)]


@pytest.mark.parametrize("table", TABLES)
def test_source_has_the_rows_of_the_pipeline(table: str, lake: Path) -> None:
    chosen = [("capture", "in", COMPARED)]
    expected = rows(pq.read_table(lake / table, schema=TABLES[table].arrow, filters=chosen))
    first, *others = COMPARED
    found = rows(read(first, table, paths=json.dumps(others)))
    assert found == expected
    assert len(found) > 20 or table == "captures"


def test_spark_reads_the_same_rows_from_a_folder(lake: Path, spark: SparkSession) -> None:
    expected = rows(pq.read_table(lake / "queries", schema=TABLES["queries"].arrow))
    found = spark.read.format("zenoh").option("table", "queries").load(str(CAPTURES))
    assert found.schema == TABLES["queries"].spark
    assert rows(found.toArrow()) == expected


def test_spark_reads_the_same_messages(lake: Path, spark: SparkSession) -> None:
    """Fewer captures, because each has many messages."""
    schema = TABLES["messages"].arrow
    chosen = [("capture", "in", COMPARED)]
    found = spark.read.format("zenoh").option("table", "messages").load(COMPARED)
    assert found.schema == TABLES["messages"].spark
    expected = pq.read_table(lake / "messages", schema=schema, filters=chosen)
    assert rows(found.toArrow()) == rows(expected)
