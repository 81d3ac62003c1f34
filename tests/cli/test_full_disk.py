"""A full disk: one line on standard error, code 2, and no partial file."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest

from tests.child_process import child_environment
from tests.trace.sidecar import PATHS
from tests.zenlake_process import ZENLAKE

pytest.importorskip("duckdb", reason="needs zenlake[sql]")

from tests.cli.sql_lake import make as make_sql_lake
from tests.report.small_lake import make as make_report_lake
from tests.report.small_lake import robot

CAPTURE = str(PATHS["queries"])
FILE_BYTES_MAX = 4096
PRINTING = [
    ("decode", CAPTURE),
    ("decode", "--json", CAPTURE),
    ("decode", "--count", CAPTURE),
    ("decode", "-q", "-w", "-", CAPTURE),
    ("check", "--list"),
    ("check", "--json", CAPTURE),
    ("why", CAPTURE),
    ("why", "--json", CAPTURE),
    ("sql", "--lake", "rows.lake", "--csv", "SELECT range FROM range(10000)"),
    ("sql", "--lake", "rows.lake", "SELECT range FROM range(10000)"),
    ("lake", "ls", "--lake", "rows.lake"),
    ("completion", "bash"),
    ("explain", "7d", "00"),
    ("ke", "canonize", "a"),
    ("--help",),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    make_sql_lake(folder / "rows.lake")
    make_report_lake(folder / "robot.lake", robot())
    return folder


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))


def run(folder: Path, *arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
    # Python does not notice that a small limit cuts the bytecode that it stores beside the sources.
    environment = child_environment(PYTHONDONTWRITEBYTECODE="1")
    # Otherwise output is written piece by piece, and does not fail at the end.
    environment.pop("PYTHONUNBUFFERED", None)
    settings = {"stderr": subprocess.PIPE, "text": True, "timeout": 60, **how}
    return subprocess.run([*ZENLAKE, *arguments], cwd=folder, env=environment, **settings)


@pytest.mark.parametrize("arguments", PRINTING, ids=lambda words: " ".join(words)[:30])
def test_standard_output_that_is_full(folder: Path, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = run(folder, *arguments, stdout=full)
    complaint = "zenlake: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, complaint)


@pytest.mark.parametrize("before", ["", "header\n"])
def test_a_redirected_file_has_no_part_of_the_answer(
    folder: Path, tmp_path: Path, before: str
) -> None:
    out = tmp_path / "rows.csv"
    out.write_text(before)
    file: IO[str]
    with open(out, "a" if before else "w") as file:
        arguments = PRINTING[8]
        assert "--csv" in arguments
        done = run(folder, *arguments, stdout=file, preexec_fn=small_files)
    complaint = "zenlake: standard output cannot be written: File too large\n"
    assert (done.returncode, done.stderr) == (2, complaint)
    assert out.read_text() == before


@pytest.mark.parametrize(
    "arguments",
    [("decode", "-q", "-w", "out", CAPTURE), ("report", "--lake", "robot.lake", "-o", "out")],
    ids=["decode", "report"],
)
@pytest.mark.parametrize("before", [None, "old"])
def test_a_file_that_is_written_is_whole_or_as_before(
    folder: Path, arguments: tuple[str, ...], before: str | None
) -> None:
    out = folder / "out"
    if before is not None:
        out.write_text(before)
    names = set(os.listdir(folder))
    # Of the lake, DuckDB only reads; what it could spill is more than these tables have.
    done = run(folder, *arguments, stdout=subprocess.PIPE, preexec_fn=small_files)
    assert done.stderr == "zenlake: out cannot be written: File too large\n"
    assert (done.returncode, done.stdout) == (2, "")
    assert set(os.listdir(folder)) == names
    if before is not None:
        assert out.read_text() == before
        out.unlink()


def test_standard_input_that_does_not_fit_the_temporary_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with open(CAPTURE, "rb") as capture:
        done = run(folder, "decode", "-w", "out", "-", stdin=capture, preexec_fn=small_files)
    assert done.returncode == 2
    assert done.stderr.endswith(" cannot be written: File too large\n")
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_output_that_was_closed_is_no_error(folder: Path) -> None:
    done = run(folder, *PRINTING[0], preexec_fn=lambda: os.close(1))
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
