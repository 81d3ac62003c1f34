"""Captures that are read without a lake and without Spark have the rows of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.lake.source.reading import rows
from tests.paths import CAPTURES
from zenlake.lake import direct
from zenlake.lake.publish import Snapshot
from zenlake.lake.schema import TABLES


@pytest.fixture(scope="module")
def snapshot() -> Iterator[Snapshot]:
    with direct.read([str(CAPTURES)]) as tables:
        yield tables.snapshot()


@pytest.mark.parametrize("table", TABLES)
def test_direct_reading_has_the_rows_of_the_pipeline(
    table: str, lake: Path, snapshot: Snapshot
) -> None:
    schema = TABLES[table].arrow
    expected = rows(pq.read_table(lake / table, schema=schema))
    parts = [pq.read_table(path, schema=schema) for path in snapshot.files(table)]
    found = rows(pa.concat_tables(parts))
    assert found == expected
    assert len(found) > 20 or table == "violations"
