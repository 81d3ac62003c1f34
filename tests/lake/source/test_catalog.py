"""`CREATE TABLE ... USING zenoh` and views, in Spark's catalog, without registration."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.paths import CAPTURES
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

QUERIES = str(CAPTURES / "queries.pcapng.gz")
OPTIONS = f"OPTIONS (path '{QUERIES}', Table 'queries')"


@pytest.fixture
def catalog(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("CREATE DATABASE zenoh_test")
    spark.sql("USE zenoh_test")
    yield spark
    spark.sql("USE default")
    spark.sql("DROP DATABASE zenoh_test CASCADE")


def count(spark: SparkSession, sql: str) -> int:
    return int(spark.sql(f"SELECT count(*) AS n FROM {sql}").first()["n"])  # type: ignore[index]  # one row


def test_table_with_options_is_readable(catalog: SparkSession) -> None:
    catalog.sql(f"CREATE TABLE t USING zenoh {OPTIONS} COMMENT 'x' TBLPROPERTIES ('a' = 'b')")
    assert catalog.table("t").columns == TABLES["queries"].names
    assert count(catalog, "t") == 160
    assert count(catalog, "t WHERE verdict = 'timeout'") == 6
    assert count(catalog, "t WITH (key = 'db_nobody/**')") == 1
    catalog.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        assert count(catalog, "t WHERE verdict = 'timeout'") == 6
    finally:
        catalog.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_table_at_a_location_is_readable(catalog: SparkSession, tmp_path: Path) -> None:
    """Names with a space and a percent sign; dropping the table removes no capture."""
    folder = tmp_path / "a b%20c"
    folder.mkdir()
    for name in ("x.pcapng.gz", "y.pcapng.gz", "z.pcapng.gz"):
        shutil.copy(QUERIES, folder / name)
    catalog.sql(f"CREATE TABLE t USING zenoh LOCATION '{folder}/{{x,[^x-y]}}.pcapng.gz'")
    found = catalog.sql("SELECT DISTINCT capture FROM t ORDER BY capture").collect()
    assert [row["capture"] for row in found] == [str(folder / f"{n}.pcapng.gz") for n in "xz"]
    catalog.sql(f"CREATE TABLE u USING zenoh OPTIONS (pathGlobFilter 'y*') LOCATION '{folder}'")
    assert 2 * count(catalog, "u") == count(catalog, "t") > 0
    catalog.sql("DROP TABLE u")
    assert len(list(folder.iterdir())) == 3


def test_temporary_views_are_readable(catalog: SparkSession) -> None:
    catalog.sql(f"CREATE TEMPORARY VIEW v USING zenoh {OPTIONS}")
    catalog.sql(f"CREATE TEMPORARY VIEW w (key STRING) USING zenoh {OPTIONS}")
    try:
        assert count(catalog, "v") == count(catalog, "w") == 160
        assert catalog.table("w").columns == ["key"]
    finally:
        catalog.sql("DROP VIEW v")
        catalog.sql("DROP VIEW w")


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        ("CREATE TABLE t USING zenoh", "no path: pass one or several"),
        ("CREATE TABLE t USING zenoh LOCATION 'a/b.pcap'", "'a/b.pcap' is a relative path"),
        ("CREATE TABLE t USING zenoh OPTIONS (path 'a.pcap')", "from Spark's warehouse"),
        ("CREATE TABLE t USING zenoh LOCATION 'foo://a/b'", "there is no address scheme 'foo'"),
        (f"CREATE TABLE t USING zenoh {OPTIONS[:-1]}, tabel 'x')", "no option 'tabel'"),
        ("CREATE TABLE t USING zenoh OPTIONS (table 'x') LOCATION '/a'", "there is no table 'x'"),
    ],
)
def test_invalid_statement_creates_no_table(
    sql: str, complaint: str, catalog: SparkSession
) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException) as raised:
        catalog.sql(sql)
    text = str(raised.value)
    assert complaint in text
    assert "Traceback" not in text
    assert not catalog.catalog.tableExists("t")


def test_unsupported_statements_are_errors(catalog: SparkSession) -> None:
    """docs/spark.md quotes these errors."""
    from pyspark.errors import AnalysisException

    catalog.sql(f"CREATE TABLE t USING zenoh {OPTIONS}")
    catalog.sql(f"CREATE TABLE c (key STRING) USING zenoh {OPTIONS}")
    catalog.sql(f"ALTER TABLE t SET LOCATION '{CAPTURES}/routers_ring.pcapng.gz'")
    assert count(catalog, "t") == 160
    partitioned = f"CREATE TABLE p USING zenoh PARTITIONED BY (key) LOCATION '{QUERIES}'"
    for sql, complaint in (
        ("ALTER TABLE t SET SERDEPROPERTIES ('a' = 'b')", "is not supported for v2 tables."),
        ("ANALYZE TABLE t COMPUTE STATISTICS", "is not supported for v2 tables."),
        (partitioned, "It is not allowed to specify partitioning when the table schema is not"),
        ("SELECT * FROM c", "of a table that was created with a list of columns"),
        (f"SELECT * FROM zenoh.`{QUERIES}`", "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"),
        ("CREATE TABLE d USING zenoh AS SELECT 1 AS x", "a table USING zenoh is read only"),
        ("INSERT INTO t SELECT * FROM t", "a table USING zenoh is read only"),
    ):
        with pytest.raises(AnalysisException) as raised:
            catalog.sql(sql).collect()
        assert complaint in str(raised.value)
        assert "Traceback" not in str(raised.value)
    assert not catalog.catalog.tableExists("d")
    catalog.sql(f"CREATE OR REPLACE TABLE t USING zenoh LOCATION '{QUERIES}'")
    assert count(catalog, "t") == 1192


def test_stream_of_a_file_is_refused_in_one_line(spark: SparkSession) -> None:
    from pyspark.errors import StreamingQueryException

    stream = spark.readStream.format("zenoh").load(QUERIES)
    query = stream.writeStream.format("noop").start()
    with pytest.raises(StreamingQueryException) as raised:
        query.awaitTermination(60)
    assert "is a file: a stream follows a folder" in str(raised.value)
    assert "Traceback" not in str(raised.value)
