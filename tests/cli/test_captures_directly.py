"""zenlake sql and report of captures: without Spark, Java and a lake."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="needs zenlake[sql]")

from tests.cli.command import complaint_of
from tests.trace.sidecar import PATHS
from zenlake.cli.main import main

QUERIES = str(PATHS["queries"])
COUNT = "SELECT verdict, count(*) AS n FROM queries GROUP BY 1 ORDER BY 1"
# Modules that must not be imported, and a `java` that records its start.
PROGRAM = """
import sys

class Forbidden:
    def find_spec(self, name, path=None, target=None):
        heavy = ("pyspark", "py4j", "pandas", "sqlglot", "numba", "pytz")
        if name.partition(".")[0] in heavy:
            raise AssertionError(f"{name} is imported")

sys.meta_path.insert(0, Forbidden())
from zenlake.cli.main import main
sys.exit(main())
"""


class Command:
    """`zenlake` in a process of its own, in a folder, with a minimal environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self._java = folder / "bin" / "java"
        self._java.parent.mkdir()
        self._java.write_text(f"#!/bin/sh\n: > {folder}/java-was-started\n")
        self._java.chmod(self._java.stat().st_mode | stat.S_IXUSR)

    def __call__(self, *arguments: str) -> str:
        environment = {
            "PATH": f"{self._java.parent}:{os.environ['PATH']}",
            "JAVA_HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TMPDIR": str(self.temporary),
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert not list(self.temporary.iterdir())
        assert not (self.folder / "java-was-started").exists()
        return done.stdout


@pytest.fixture
def zenlake(tmp_path: Path) -> Command:
    return Command(tmp_path)


def test_sql_needs_no_spark_and_java(zenlake: Command) -> None:
    rows = [json.loads(line) for line in zenlake("sql", QUERIES, COUNT, "--json").splitlines()]
    found = {row["verdict"]: row["n"] for row in rows}
    assert found["answered"] > 100
    assert found["error"] > 5


def test_a_report_needs_no_spark_and_java(zenlake: Command) -> None:
    assert zenlake("report", QUERIES).startswith("queries.html  1.")
    page = (zenlake.folder / "queries.html").read_text("utf-8")
    data = json.loads(
        re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page)[0]
    )
    assert data["about"]["lake"] == "queries.pcapng.gz"
    assert data["about"]["lakeVersion"] is None
    assert data["overview"]["queries"] > 50
    assert data["overview"]["captures"][0]["path"] == QUERIES


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(["sql", *arguments])
    except SystemExit as ended:  # raised by argparse
        code = int(str(ended.code))
    out, err = capsys.readouterr()
    return code, out, err


def test_several_captures_and_a_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.pcapng", "b 1.pcapng", "b 2.pcapng"):
        (tmp_path / name).write_bytes(PATHS["alias_remapped"].read_bytes())
    monkeypatch.chdir(tmp_path)
    sql = "SELECT capture, count(*) > 0 AS found FROM messages GROUP BY 1 ORDER BY 1"
    code, out, err = answer(capsys, "b*.pcapng", "a.pcapng", "--csv", sql)
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == ["a.pcapng,true", "b 1.pcapng,true", "b 2.pcapng,true"]


def test_a_damaged_capture_is_read_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.pcapng"
    content = PATHS["alias_remapped"].read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    code, out, err = answer(capsys, str(damaged), "SELECT count(*) > 10 AS many FROM messages")
    assert (code, out.split()) == (1, ["many", "----", "true"])
    assert err == f"zenlake: {damaged}: damaged, read as far as possible\n"


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["SELECT 1"], "nothing to query: name captures before the query, or --lake DIR"),
        ([], "nothing to query: name captures before the query, or --lake DIR"),
        (["SELECT 1", QUERIES], "SELECT 1: no such capture; the query comes last"),
        (["no.pcap", "SELECT 1"], "no.pcap: cannot be opened: No such file or directory"),
        ([__file__, "SELECT 1"], f"{__file__}: neither pcap nor pcapng: it begins with"),
        ([QUERIES, "SELEC 1"], "SQL line 1, column 1: "),
        ([QUERIES, "SELECT x FROM queries"], "SQL line 1, column 8: "),
        ([QUERIES, "DROP TABLE queries"], "SQL: a lake is only read here"),
        ([QUERIES, "SELECT 1", "--master", "local"], "--master is for a lake"),
        ([QUERIES, "--no-such", "SELECT 1"], "unrecognized arguments: --no-such SELECT 1 (see"),
        ([QUERIES, "SELECT 1", "--lake", "x"], "expected one query, and no captures with --lake"),
    ],
)
def test_mistakes_are_an_error_in_one_line(
    arguments: list[str], cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = answer(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"zenlake: {cause}")
    assert err.count("\n") == 1


def test_a_report_is_of_a_lake_or_of_captures(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--lake", "x", QUERIES]):
        assert main(["report", *arguments]) == 2
        assert capsys.readouterr().err == "zenlake: expected either captures or --lake DIR\n"
    assert complaint_of(capsys, "report", QUERIES, "--node", "ff") == f"{QUERIES}: no node 'ff'"
