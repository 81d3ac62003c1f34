"""zenlake lake: what is in a lake, and what is left when captures are dropped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.lake.publish.small_lake import add, capture_row, contents, expected, lake
from zenlake.cli.main import main
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES


def test_ls_lists_the_captures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake(tmp_path, "a.pcap", "b.pcap")
    assert main(["lake", "ls", "--lake", str(tmp_path)]) == 0
    header, _, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:6] == ["capture", "messages", "sessions", "samples", "queries", "hops"]
    assert [row.split()[:6] for row in rows] == [
        ["a.pcap", "3", "0", "2", "0", "0"],
        ["b.pcap", "3", "0", "2", "0", "0"],
    ]
    assert rows[0].split()[6:] == ["1970-01-01T00:00:00.000Z"] * 2 + ["100", "0" * 12, "-"]


def test_ls_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake(tmp_path, "a.pcap")
    assert main(["lake", "ls", "--json", "--lake", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "capture": "a.pcap",
        "messages": 3,
        "sessions": 0,
        "samples": 2,
        "queries": 0,
        "hops": 0,
        "first_ns": 1,
        "last_ns": 2,
        "size": 100,
        "sha256": f"{1:064x}",
        "read_ns": None,
    }


def test_ls_of_an_empty_lake_has_a_header_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake(tmp_path)
    assert main(["lake", "ls", "--lake", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_control_characters_in_names_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = lake(tmp_path)
    with store.begin() as run:
        run.publish([capture_row("\x1b[31mred")])
    assert main(["lake", "ls", "--lake", str(tmp_path)]) == 0
    assert r"\x1b[31mred" in capsys.readouterr().out


def test_drop_is_one_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = lake(tmp_path, "a.pcap", "b.pcap", "c.pcap")
    assert main(["lake", "drop", "--lake", str(tmp_path), "a.pcap", "c.pcap"]) == 0
    assert capsys.readouterr().out == "dropped a.pcap\ndropped c.pcap\n"
    assert store.version() == 4
    assert contents(store) == expected({"b.pcap": 1})
    assert main(["lake", "drop", "b.pcap", "--json", "--lake", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == {"dropped": "b.pcap", "version": 5}
    assert contents(store) == expected({})


def test_a_lake_without_captures_has_empty_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (store := Store(tmp_path)).begin() as run:
        add(run, "a.pcap")  # the first run, so that no table has a file without rows
    assert main(["lake", "drop", "--lake", str(tmp_path), "a.pcap"]) == 0
    assert contents(store) == expected({})
    capsys.readouterr()
    for table in TABLES:
        query = f"SELECT count(*) AS n FROM {table}"
        assert main(["sql", "--lake", str(tmp_path), "--csv", query]) == 0
        assert capsys.readouterr() == ("n\n0\n", "")
        assert len(store.files(table)) == 1


def test_a_capture_is_dropped_by_any_form_of_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = lake(tmp_path / "lake", "a.pcap", "caps/b.pcap", "c.pcap")
    forms = ["./a.pcap", f"file:{tmp_path}/caps//b.pcap"]
    assert main(["lake", "drop", "--lake", "lake", *forms]) == 0
    assert capsys.readouterr().out == "dropped a.pcap\ndropped caps/b.pcap\n"
    assert contents(store) == expected({"c.pcap": 1})


def test_an_unknown_capture_drops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = lake(tmp_path, "a.pcap", "monday.pcapng")
    assert main(["lake", "drop", "--lake", str(tmp_path), "a.pcap", "mondy.pcapng"]) == 2
    complaint = "no capture 'mondy.pcapng', did you mean 'monday.pcapng'?\n"
    assert capsys.readouterr().err.endswith(complaint)
    assert main(["lake", "drop", "--lake", str(tmp_path), "zzz"]) == 2
    assert capsys.readouterr().err.endswith("no capture 'zzz'\n")
    assert contents(store) == expected({"a.pcap": 1, "monday.pcapng": 1})


@pytest.mark.parametrize("operation", [["ls"], ["drop", "a"]])
def test_a_missing_lake_is_an_error(
    operation: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "nothing"
    assert main(["lake", operation[0], "--lake", str(place), *operation[1:]]) == 2
    assert capsys.readouterr().err == f"zenlake: {place}: there is no lake\n"
    assert not place.exists()
