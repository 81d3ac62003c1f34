"""The data source gives the rows that the pipeline wrote, of every table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from tests.lake.source.reading import read, rows
from tests.trace.sidecar import FOLDER
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")


@pytest.mark.parametrize("table", TABLES)
def test_the_same_rows(table: str, lake: Path) -> None:
    expected = rows(pq.read_table(lake / table, schema=TABLES[table].arrow))
    found = rows(read(str(FOLDER), table))
    assert found == expected
    assert len(found) > 20 or table == "violations"


@pytest.mark.parametrize("table", ["messages", "queries"])
def test_the_same_rows_by_spark(table: str, lake: Path, spark: SparkSession) -> None:
    expected = rows(pq.read_table(lake / table, schema=TABLES[table].arrow))
    found = spark.read.format("zenoh").option("table", table).load(str(FOLDER))
    assert found.schema == TABLES[table].spark
    assert rows(found.toArrow()) == expected
