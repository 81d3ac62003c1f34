"""`spark.read.format("zenoh")` in a session: found without registration, options, filters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.paths import CAPTURES
from zenlake import lake
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

pytestmark = pytest.mark.xdist_group("spark")

QUERIES = str(CAPTURES / "queries.pcapng.gz")
RING = str(CAPTURES / "routers_ring.pcapng.gz")
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture
def reader(spark: SparkSession) -> DataFrameReader:
    return spark.read.format("zenoh")


@pytest.fixture
def pushing(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set(PUSHDOWN, "true")
    yield spark
    spark.conf.unset(PUSHDOWN)


def test_one_path_several_paths_and_patterns_are_read(reader: DataFrameReader) -> None:
    one, other = reader.load(QUERIES).count(), reader.load(RING).count()
    assert one > 1_000
    assert reader.load([QUERIES, RING]).count() == one + other
    assert reader.load(f"{CAPTURES}/[qr]*[sg].pcapng.gz").count() == one + other


def test_options_and_a_schema_select_rows_and_columns(reader: DataFrameReader) -> None:
    asked = reader.schema("key string, time_ns bigint").option("KIND", "request").load(QUERIES)
    assert asked.columns == ["key", "time_ns"]
    every = reader.schema(TABLES["messages"].spark).load(QUERIES).where("kind = 'REQUEST'")
    assert sorted(asked.collect()) == sorted(every.select("key", "time_ns").collect())


WHERE = "kind = 'REQUEST' AND packet > 100 AND key LIKE 'db/a%' AND size IS NOT NULL"


def test_filters_select_the_same_rows_with_and_without_pushdown(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    def asked() -> DataFrame:
        return spark.read.format("zenoh").load(QUERIES).where(WHERE).orderBy("seq")

    expected = asked().collect()
    request.getfixturevalue("pushing")
    pushed = asked()
    assert "Filter (" not in plan(pushed)
    assert pushed.collect() == expected
    assert 0 < len(expected) < 160
    # Spark applies filters that cannot be pushed down; a query without filters works too.
    queries = spark.read.format("zenoh").option("table", "queries").load(QUERIES)
    slow = queries.where("final_ms > 1 AND verdict = 'answered'")
    assert "Filter (" in plan(slow)
    counts = {row["verdict"]: row["count"] for row in queries.groupBy("verdict").count().collect()}
    assert 0 < slow.count() < counts["answered"]


def plan(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"tabel": "queries"},
            "there is no option 'tabel' (did you mean table?); there are: table",
        ),
        ({"table": "query"}, "there is no table 'query' (did you mean queries?); there are: capt"),
        ({"since": "soon"}, "option since is nanoseconds since 1970, or a time such as"),
        ({"key": "a//b"}, "'a//b': a chunk is empty (at character 2)"),
        ({"kind": "PUT"}, "messages have no kind 'PUT'"),
    ],
)
def test_invalid_options_fail_at_load(
    options: dict[str, str], complaint: str, reader: DataFrameReader
) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException) as raised:
        reader.options(**options).load(QUERIES)
    assert f"Error: {complaint}" in str(raised.value)
    assert "/zenlake/lake/source/options.py" not in str(raised.value)


def test_an_unknown_column_is_an_error(reader: DataFrameReader) -> None:
    from pyspark.errors import AnalysisException

    asked = reader.schema("key string, when bigint").load(QUERIES)
    with pytest.raises(AnalysisException, match="messages have no column 'when'; there are: capt"):
        asked.count()


def test_functions_are_registered(spark: SparkSession) -> None:
    assert lake.register(spark) is spark
    rows = spark.sql(
        """SELECT ke_intersects(k, 'a/*') AS i, ke_includes('a/**', k) AS c, zenoh_explain(b) AS e
        FROM VALUES ('a/b', unhex('7d000664656d6f2f61010568656c6c6f')), ('b', X'ff'),
            (NULL, NULL), ('a//b', unhex('')) AS t(k, b)"""
    ).collect()
    assert [(row["i"], row["c"]) for row in rows] == [
        *((True, True), (False, False), (None, None), (None, None))
    ]
    texts = [row["e"] for row in rows]
    assert "PUSH  16 bytes" in texts[0]
    assert "the bytes end" in texts[1]
    assert texts[2:] == [None, "0 bytes, read as batch"]
