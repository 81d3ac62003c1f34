"""Tables are put together by Spark or within a task, from the same statements: the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from tests.chance import IS_FULL
from tests.lake.source.reading import rows
from tests.trace.sidecar import PATHS
from zenlake.lake.pipeline import derive
from zenlake.lake.pipeline.pipeline import run
from zenlake.lake.reading.row_tables import WRITTEN
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

CAPTURES = [str(path) for path in PATHS.values()]
if not IS_FULL:
    chosen = ("liveliness", "mixed_versions", "peers_gossip", "queries", "ros2", "routers_ring")
    CAPTURES = [path for path in CAPTURES if Path(path).name.startswith(chosen)]
PUT_TOGETHER = [name for name in TABLES if name not in WRITTEN and name != "captures"]


@pytest.fixture(scope="module")
def lake_by_spark(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("derive") / "lake"
    staged: list[int] = []
    original = derive.derive_on_spark

    def counted(*args: object) -> object:
        staged.append(1)
        return original(*args)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derive, "DERIVE_STAGED_BYTES_MAX", 0)
        patch.setattr(derive, "derive_on_spark", counted)
        assert not run(CAPTURES, place, spark).failed
    assert staged == [1]
    return place


@pytest.mark.parametrize("table", PUT_TOGETHER)
def test_the_same_rows(table: str, lake: Path, lake_by_spark: Path) -> None:
    found = rows(pq.read_table(lake / table, filters=[("capture", "in", CAPTURES)]))
    assert found == rows(pq.read_table(lake_by_spark / table))
    assert len(found) > 20
