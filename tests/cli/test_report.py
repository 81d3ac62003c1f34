"""zenlake report: a page, a line about it, and errors in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="needs zenlake[sql]")

from tests.cli.command import complaint_of
from tests.report.small_lake import make, make_partly, robot
from zenlake.cli.main import main


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    make(tmp_path / "robot.lake", robot())
    monkeypatch.chdir(tmp_path)
    return "robot.lake"


def test_the_page_is_named_as_the_lake(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--lake", lake]) == 0
    assert capsys.readouterr().out.startswith("robot.html  1.")
    page = Path("robot.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")


def test_json_describes_the_page(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--lake", lake, "--json", "-o", "a.html", "--key", "arm/joint/0"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["path"] == "a.html"
    assert summary["bytes"] == Path("a.html").stat().st_size
    assert summary["messages"] == 10
    assert summary["seconds"] > 0
    assert any("Sequence numbers are missing" in finding for finding in summary["findings"])


def test_filters_without_a_match_are_exit_1(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--lake", lake, "--key", "nobody/**"]) == 1
    assert capsys.readouterr().out.startswith("robot.html")


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--lake", "nowhere"], "zenlake: nowhere: there is no lake\n"),
        (["--lake", "robot.lake", "--node", "ff"], "zenlake: robot.lake: no node 'ff'\n"),
        (
            ["--lake", "robot.lake", "--capture", "robot.pcap"],
            "zenlake: robot.lake: no capture 'robot.pcap', did you mean 'robot.pcapng'?\n",
        ),
        (
            ["--lake", "robot.lake", "--key", "a/**b"],
            "zenlake: 'a/**b': `*` must be a whole chunk, or follow `$` (at character 2)\n",
        ),
        (
            ["--lake", "robot.lake", "-o", "no/page.html"],
            "zenlake: no/page.html cannot be written: No such file or directory\n",
        ),
    ],
)
def test_errors_are_one_line(
    lake: str, arguments: list[str], cause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", *arguments]) == 2
    assert capsys.readouterr() == ("", cause)


def test_empty_or_older_lake_is_an_error_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "empty", {"captures": []})
    make_partly(tmp_path / "old", without="violations")
    for name, cause in (("empty", "the lake is empty"), ("old", "has no table 'violations'")):
        assert cause in complaint_of(capsys, "report", "--lake", str(tmp_path / name))
