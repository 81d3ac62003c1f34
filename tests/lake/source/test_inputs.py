"""Inputs: files, lists, folders and patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

from zenlake.errors import ZenlakeError
from zenlake.lake.source.inputs import inputs_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.pcap", "a.pcapng.gz", "notes.txt", "x[1].pcap", "odd.bin"):
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.pcap").touch()
    return tmp_path


def names(*paths: str) -> list[str]:
    return [Path(one.path).name for one in inputs_of(paths)]


def test_a_folder_and_a_list(folder: Path) -> None:
    assert names(str(folder)) == ["a.pcapng.gz", "b.pcap", "x[1].pcap"]
    both = (str(folder / "odd.bin"), str(folder / "b.pcap"), str(folder / "odd.bin"))
    assert names(*both) == ["odd.bin", "b.pcap"]


def test_patterns(folder: Path) -> None:
    assert names(f"{folder}/*") == ["a.pcapng.gz", "b.pcap", "c.pcap", "x[1].pcap"]
    assert names(f"{folder}/**/*.pcap") == ["b.pcap", "c.pcap", "x[1].pcap"]
    assert names(f"{folder}/?.pcap") == ["b.pcap"]
    assert names(f"{folder}/*.bin") == ["odd.bin"]


def test_a_name_that_exists_is_no_pattern(folder: Path) -> None:
    assert names(f"{folder}/x[1].pcap") == ["x[1].pcap"]


def test_the_name_in_tables_is_as_given(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    [found] = inputs_of(["b.pcap"])
    assert found == ("b.pcap", str(folder / "b.pcap"))


def test_addresses(folder: Path) -> None:
    [found] = inputs_of([f"file://{folder}/b.pcap"])
    assert found.path == str(folder / "b.pcap")
    assert names(f"file:{folder}/x%5B1%5D.pcap") == ["x[1].pcap"]
    for elsewhere in ("s3://bucket/a.pcap", "hdfs://x/a.pcap", "file://host/a.pcap"):
        with pytest.raises(ZenlakeError, match="from a folder that all workers see"):
            inputs_of([elsewhere])


def test_nothing_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZenlakeError, match=r"\*.none: no file has such a name$"):
        inputs_of([f"{folder}/*.none"])
    monkeypatch.chdir(folder)
    with pytest.raises(ZenlakeError, match=r"no file has such a name \(in .*: better give a"):
        inputs_of(["*.none"])
    with pytest.raises(ZenlakeError, match="standard input"):
        inputs_of(["-"])
