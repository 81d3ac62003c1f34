"""zenlake sql with untrusted queries and values (limits S02, S03)."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.command import complaint_of
from tests.lake.publish import old_lake
from tests.lake.publish.old_lake import OldRows
from zenlake.cli.main import main
from zenlake.lake.errors import LakeError
from zenlake.lake.publish import Store
from zenlake.lake.sql import on_duckdb
from zenlake.lake.sql.bounded_process import engine_bytes
from zenlake.lake.sql.functions import EXPLANATIONS_REMEMBERED, zenoh_explain
from zenlake.limits import (
    EXPLAIN_BYTES_MAX,
    EXPLAIN_CHARACTERS_MAX,
    SQL_BYTES_MAX,
    SQL_SECONDS_MAX,
    SQL_SPILL_BYTES_MAX,
)

_STARTS = ("=", "+", "-", "@", "\t=", "\r=", "\n=", "\uff1d", "\uff0b", "\uff20")
_FORMULAS = ("1+1", "cmd|' /C calc'!A0", 'HYPERLINK("http://x","y")', "SUM(A1:A9)", "")
FORMULAS = [start + rest for start in _STARTS for rest in _FORMULAS]
LINES = ["a\nb", "a\r\nb,c", 'a"\n"b', "\n", "a\rb", "a,b", 'say "x"', "robot/1", "x=1"]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("safety") / "lake"
    schema = pa.schema({"seq": pa.int64(), "key": pa.string(), "payload": pa.binary()})
    rows = [
        {"seq": number - 3, "key": key, "payload": key.encode()}
        for number, key in enumerate(FORMULAS + LINES)
    ]
    directory.mkdir()
    old_lake.make(directory, {"samples": schema}, [OldRows("one.pcap", "samples", schema, rows)])
    return directory


REFUSED = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM read_parquet('/etc/passwd')",
    "SELECT * FROM parquet_metadata('/etc/passwd')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "FROM '/etc/*'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM 'https://example.org/x.parquet'",
    "SELECT * FROM read_parquet('s3://bucket/x')",
    "SELECT getenv('HOME')",
    "COPY (SELECT 1) TO '/tmp/zenlake-out.csv'",
    "COPY samples TO PROGRAM 'cat'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL spatial FROM community",
    "ATTACH '/tmp/zenlake.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH memory",
    "USE memory",
    "SET memory_limit = '1TB'",
    "RESET memory_limit",
    "SET enable_external_access = true",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "CREATE TABLE t AS SELECT 1",
    "CREATE SECRET s (TYPE s3)",
    "INSERT INTO samples SELECT 1",
    "UPDATE samples SET seq = 1",
    "DELETE FROM samples",
    "DROP VIEW samples",
    "ALTER TABLE samples ADD COLUMN x INT",
    "EXPORT DATABASE '/tmp/zenlake-x'",
    "IMPORT DATABASE '/tmp/zenlake-x'",
    "CHECKPOINT",
    "VACUUM",
    "BEGIN",
    "PREPARE p AS SELECT 1",
    "SELECT 1; DROP VIEW samples",
    "SELECT * FROM query('COPY (SELECT 1) TO ''/tmp/zenlake-out.csv''')",
    "SELECT * FROM query_table('/etc/passwd')",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM json_execute_serialized_sql("
    "json_serialize_sql('SELECT * FROM read_text(''/etc/passwd'')'))",
    "SELECT * FROM read_text('/proc/self/environ')",
    "SELECT * FROM read_duckdb('/etc/passwd')",
    "SELECT * FROM parquet_full_metadata('/etc/passwd')",
    "SELECT * FROM enable_logging(storage = 'file', storage_path = '/tmp/zenlake-out')",
    "SELECT * FROM enable_logging()",
    "SELECT * FROM enable_profiling()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM which_secret('s3://bucket/x', 's3')",
    "SELECT * FROM duckdb_extensions()",
    "SELECT * FROM arrow_scan(1, 1, 1)",
    "SELECT * FROM pandas_scan(1)",
    "SELECT * FROM python_map_function((SELECT 1))",
    "SELECT * FROM sql",
    "SELECT * FROM paths",
)


@pytest.mark.parametrize("query", REFUSED)
def test_query_reaches_nothing_but_the_tables(
    query: str, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    complaint = complaint_of(capsys, "sql", "--lake", str(lake), query)
    assert complaint.startswith("SQL")
    assert "root:" not in complaint
    assert not list(Path("/tmp").glob("zenlake-out*"))


ENDLESS = (
    "SELECT count(*) FROM range(1000000000) a, range(1000000000) b, samples WHERE a <> b",
    "SELECT a.range, b.range FROM range(1000000000) a, range(1000000000) b WHERE a.range = -1",
    "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT 1 - x FROM t) SELECT count(*) FROM t",
    "SELECT * FROM range(1000000000) a, range(1000000000) b",
)


def read_to_the_end(lake: Path, query: str) -> None:
    with on_duckdb.query(Store(lake).snapshot(), query, seconds_max=0.5) as result:
        for _ in result.rows:
            pass


@pytest.mark.parametrize("query", ENDLESS)
def test_endless_queries_are_ended(query: str, lake: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(LakeError, match=r"SQL: it took longer than 0.5 s and was ended"):
        read_to_the_end(lake, query)
    assert time.monotonic() - begun < 10


def test_time_counts_while_the_engine_works(lake: Path) -> None:
    with on_duckdb.query(Store(lake).snapshot(), "SELECT key FROM samples", 0.5) as result:
        next(result.rows)
        time.sleep(0.6)  # the reader of the rows is slower than the limit
        assert len(list(result.rows)) == len(FORMULAS + LINES) - 1


def test_the_command_has_a_limit(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SQL_SECONDS_MAX == 30
    assert main(["sql", "--lake", str(lake), "--timeout", "0.2", ENDLESS[0]]) == 2
    assert "longer than 0.2 s" in capsys.readouterr().err
    assert main(["sql", "--lake", str(lake), "--timeout", "0", "SELECT 1 AS x", "--json"]) == 0
    assert capsys.readouterr().out == '{"x": 1}\n'
    for wrong in ("-1", "x", "nan", "inf", "1e300"):
        with pytest.raises(SystemExit):
            main(["sql", "--lake", str(lake), "--timeout", wrong, "SELECT 1"])


def test_memory_and_disk_are_bounded(lake: Path) -> None:
    wanted = "SELECT current_setting('memory_limit'), current_setting('max_temp_directory_size')"
    with on_duckdb.query(Store(lake).snapshot(), wanted) as result:
        [(memory, disk)] = result.rows
    assert memory == f"{engine_bytes(SQL_BYTES_MAX) / (1 << 30):.1f} GiB"
    assert disk == f"{SQL_SPILL_BYTES_MAX / (1 << 30):.1f} GiB"
    hungry = "SELECT max(len(l)) FROM (SELECT list(repeat('x', 999)) AS l FROM range(9000000))"
    limited = on_duckdb.query(Store(lake).snapshot(), hungry, seconds_max=60)
    with pytest.raises(LakeError, match="needs more than 2048 MiB of memory"), limited as result:
        next(result.rows)


def test_a_spreadsheet_runs_no_formula(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT seq, key FROM samples ORDER BY seq"
    assert len(FORMULAS) >= 50
    assert main(["sql", "--lake", str(lake), "--csv", query]) == 0
    out = capsys.readouterr().out
    header, *rows = csv.reader(io.StringIO(out, newline=""))
    assert header == ["seq", "key"]
    assert rows[0][0] == "-3", "a number is none"
    found = [row[1] for row in rows]
    assert found[: len(FORMULAS)] == [f"'{key}" for key in FORMULAS]
    assert found[len(FORMULAS) :] == [f"'{key}" if key[0] == "\n" else key for key in LINES]


def test_columns_named_by_values_are_no_formula_either(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", "--lake", str(lake), "--csv", """SELECT 1 AS "=1+1", 2 AS "a\nb" """]) == 0
    assert list(csv.reader(io.StringIO(capsys.readouterr().out))) == [["'=1+1", "a\nb"], ["1", "2"]]


def test_explanations_are_bounded(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for data in (bytes(EXPLAIN_BYTES_MAX), b"\x04" * EXPLAIN_BYTES_MAX, bytes(range(256)) * 32):
        text = zenoh_explain(data)
        assert text is not None
        assert len(text) < EXPLAIN_CHARACTERS_MAX + 100
    assert f"more than {EXPLAIN_BYTES_MAX} are left" in str(zenoh_explain(bytes(10_000)))
    assert zenoh_explain.cache_info().maxsize == EXPLANATIONS_REMEMBERED
    query = "SELECT count(zenoh_explain(payload)) AS n, zenoh_explain(NULL) AS nothing FROM samples"
    assert main(["sql", "--lake", str(lake), "--json", query]) == 0
    assert capsys.readouterr().out == f'{{"n": {len(FORMULAS + LINES)}, "nothing": null}}\n'
