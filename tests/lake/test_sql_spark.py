"""zenlake sql on Spark: the same rows as on DuckDB, from one Java process."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cli import sql_lake
from tests.cli.command import complaint_of
from zenlake.cli.main import main
from zenlake.lake import spark as spark_module
from zenlake.lake.errors import LakeError
from zenlake.lake.spark import JAVA_VERSION_MIN, session

pytestmark = pytest.mark.xdist_group("spark")
MASTER = "local[1]"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    place = tmp_path_factory.mktemp("sql") / "it's [a] lake*"
    return sql_lake.make(place).directory


ALL = "SELECT * FROM samples ORDER BY seq"


@pytest.mark.parametrize(
    ("query", "flag"),
    [
        (ALL, "--json"),
        (ALL, "--csv"),
        (ALL, "--full"),
        (
            "SELECT express, count(*) AS n, sum(seq) AS total, avg(latency_ms) AS mean "
            "FROM samples GROUP BY express ORDER BY n, total",
            "--json",
        ),
        ("SELECT seq, ke_intersects(key, 'robot/*/pose') AS y FROM samples ORDER BY seq", "--json"),
        ("SELECT seq, ke_includes('robot/**', key) AS y FROM samples ORDER BY seq;", "--csv"),
        (
            "SELECT a.seq, b.seq AS other FROM samples a JOIN samples b ON a.express = b.express "
            "ORDER BY 1, 2",
            "--json",
        ),
        ("WITH x AS (SELECT max(seq) AS m FROM samples) SELECT m, 1.5 AS d FROM x", "--json"),
        ("SELECT seq, NULL AS n FROM samples WHERE seq > 100", "--full"),
        ("SELECT count(source_zid) AS y, max(source_eid) AS z FROM samples", "--json"),
    ],
)
def test_spark_and_duckdb_print_the_same_rows(
    query: str, flag: str, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["sql", "--lake", str(lake), flag, query]
    assert main(call) == 0
    expected = capsys.readouterr()
    assert main([*call, "--master", MASTER]) == 0
    assert capsys.readouterr() == expected


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("SELECT nope FROM samples", "SQL line 1, column 8: .*`nope` cannot be resolved"),
        ("SELECT 1,\n  nope\nFROM samples", "SQL line 2, column 3: "),
        ("SELEC 1", "SQL line 1, column 1: Syntax error at or near 'SELEC'"),
        ("SELECT 1 FROM nowhere", "SQL line 1, column 15: .*`nowhere` cannot be found"),
        ("SELECT ke_intersects('a//b', 'c')", r"SQL: 'a//b': a chunk is empty \(at character 2\)"),
        ("SELECT 1 / 0", "SQL line 1, column 8: Division by zero"),
        ("", "SQL"),
        ("CREATE TABLE t AS SELECT 1", "SQL: a lake is only read here"),
        ("INSERT OVERWRITE DIRECTORY '/nowhere' USING csv SELECT 1", "SQL: a lake is only read"),
        ("WITH x AS (SELECT 1) INSERT INTO samples SELECT * FROM x", "SQL: a lake is only read"),
        ("SELECT 1; SELECT 2", "SQL"),
        ("SELECT * FROM csv.`/etc/passwd`", "SQL line 1, column 15: .* cannot be found"),
        ("SELECT * FROM text.`/etc/passwd`", "SQL line 1, column 15: .* cannot be found"),
    ],
)
def test_invalid_statement_is_one_line_with_its_position(
    query: str, complaint: str, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["sql", "--lake", str(lake), query, "--master", MASTER]
    assert re.match(complaint, complaint_of(capsys, *arguments))


def test_other_reading_statements_are_allowed(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for query, word in (("DESCRIBE samples", "payload"), ("SHOW TABLES", "samples")):
        assert main(["sql", "--lake", str(lake), query, "--master", MASTER]) == 0
        assert word in capsys.readouterr().out


def test_session_has_the_settings_of_zenlake(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.driver.host") == "127.0.0.1"
    assert session(MASTER) is spark
    assert spark.sparkContext.pythonExec == sys.executable


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("echo 'openjdk version \"11.0.2\" 2019-01-15' >&2", r"JAVA_HOME \(found 11\)$"),
        ("echo 'java version \"1.8.0_301\"' >&2", r"JAVA_HOME \(found 1\)$"),
        ("echo nonsense >&2", "JAVA_HOME$"),
        (None, "JAVA_HOME$"),
    ],
)
def test_old_or_missing_java_is_an_error(
    said: str | None, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if said is not None:
        java = tmp_path / "bin" / "java"
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\n{said}\n")
        java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    needed = f"^Spark needs Java {JAVA_VERSION_MIN} or later: install openjdk-17-jre-headless or"
    with pytest.raises(LakeError, match=f"{needed} set {cause}"):
        spark_module._check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(LakeError, match=needed):
        spark_module._check_java()
