"""zenlake sql -o FILE: CSV, JSON and Parquet, whole or not at all."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="needs zenlake[sql]")

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli import sql_lake
from tests.cli.command import complaint_of
from tests.trace.sidecar import PATHS
from zenlake.cli.main import main

QUERY = "SELECT seq, key, payload, express, latency_ms FROM samples ORDER BY seq"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    sql_lake.make(tmp_path / "it's.lake")
    return "it's.lake"


def written(lake: str, name: str, capsys: pytest.CaptureFixture[str], *flags: str) -> Path:
    assert main(["sql", "--lake", lake, QUERY, "-o", name, *flags]) == 0
    assert capsys.readouterr() == (f"5 rows written to {name}\n", "")
    return Path(name)


@pytest.mark.parametrize("name", ["a.json", "a.JSONL", "a.ndjson"])
def test_json_file_has_the_rows_that_are_printed(
    lake: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(lake, name, capsys)
    rows = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    main(["sql", "--lake", lake, QUERY, "--json"])
    assert rows == [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_csv_has_a_header_and_a_line_for_each_row(
    lake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with written(lake, "a.csv", capsys).open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["seq", "key", "payload", "express", "latency_ms"]
    assert rows[1] == ["1", "robot/1/pose", "68656c6c6f", "true", "0.5"]
    assert len(rows) == 6


def test_parquet_keeps_types_and_bytes(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = pq.read_table(written(lake, "it's a.parquet", capsys))
    types = [pa.int64(), pa.string(), pa.binary(), pa.bool_(), pa.float64()]
    assert found.schema.types == types
    assert found["payload"].to_pylist()[1] == b"\x00\xff\x1b[31m"
    assert found["key"].to_pylist()[2] is None


def test_a_flag_selects_the_format_of_an_unknown_name(
    lake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert written(lake, "rows.txt", capsys, "--json").read_text("ascii").startswith("{")
    assert written(lake, "rows.txt", capsys, "--csv").read_text("ascii").startswith("seq,")


def test_a_file_that_was_there_stays_if_the_query_fails(
    lake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.csv", "a.json", "a.parquet"):
        Path(name).write_text("before")
        for query in ("SELECT nothing FROM samples", "SELECT error('x') FROM samples", "DROP x"):
            assert complaint_of(capsys, "sql", "--lake", lake, query, "-o", name).startswith("SQL")
        assert Path(name).read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {lake, "a.csv", "a.json", "a.parquet"}


def test_error_names_the_place_of_a_mistake(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    for query, place in (
        ("SELECT seq,\n  nothing FROM samples -- why?", "line 2, column 3"),
        ("SELEC 1", "line 1, column 1"),
    ):
        complaint = complaint_of(capsys, "sql", "--lake", lake, query, "-o", "a.parquet")
        assert complaint.startswith(f"SQL {place}: ")


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["-o", "a.txt"], "a.txt: unknown format: expected .csv, .json, .jsonl, .ndjson, .parquet"),
        (["-o", "no/a.csv"], "no/a.csv cannot be written: No such file or directory"),
        (["-o", "a.parquet", "--master", "local"], "a.parquet: Parquet is written by DuckDB"),
    ],
)
def test_mistake_gets_one_line_and_code_2(
    lake: str, arguments: list[str], cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    complaint = complaint_of(capsys, "sql", "--lake", lake, "SELECT 1", *arguments)
    assert complaint.startswith(cause)


def test_a_full_disk_is_an_error(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A device that has never any room, in the place of the file."""
    for flags in (["--csv"], ["--json"]):
        assert main(["sql", "--lake", lake, QUERY, "-o", "/dev/full", *flags]) == 2
        assert "/dev/full cannot be written: No space left" in capsys.readouterr().err
    Path("full.parquet").symlink_to("/dev/full")
    complaint = complaint_of(capsys, "sql", "--lake", lake, QUERY, "-o", "full.parquet")
    assert complaint.startswith("full.parquet cannot be written: ")


def test_no_input_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = tmp_path / "a.csv"
    capture.write_bytes(PATHS["alias_remapped"].read_bytes())
    assert main(["sql", str(capture), "FROM messages", "-o", str(capture)]) == 2
    assert capture.read_bytes() == PATHS["alias_remapped"].read_bytes()
    assert main(["sql", str(capture), "FROM messages", "-o", str(tmp_path / "b.parquet")]) == 0
    assert pq.read_table(tmp_path / "b.parquet").num_rows > 10
