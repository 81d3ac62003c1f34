"""Inputs: files, lists, folders and patterns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from zenlake.errors import ZenlakeError
from zenlake.lake.plan.capture_names import size_of, why_not_opened
from zenlake.lake.plan.file_search import FileChoice
from zenlake.lake.plan.inputs import captures_in, inputs_of, local_path
from zenlake.lake.source.working_directory import check_paths


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.pcap", "a.pcapng.gz", "notes.txt", "x[1].pcap", "odd.bin"):
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.pcap").touch()
    return tmp_path


def names(*paths: str) -> list[str]:
    return [Path(one.path).name for one in inputs_of(paths)]


def test_folders_and_lists_are_expanded(folder: Path) -> None:
    assert names(str(folder)) == ["a.pcapng.gz", "b.pcap", "x[1].pcap"]
    both = (str(folder / "odd.bin"), str(folder / "b.pcap"), str(folder / "odd.bin"))
    assert names(*both) == ["odd.bin", "b.pcap"]


def test_patterns_are_expanded(folder: Path) -> None:
    assert names(f"{folder}/*") == ["a.pcapng.gz", "b.pcap", "c.pcap", "x[1].pcap"]
    assert names(f"{folder}/**/*.pcap") == ["b.pcap", "c.pcap", "x[1].pcap"]
    assert names(f"{folder}/?.pcap") == ["b.pcap"]
    assert names(f"{folder}/*.bin") == ["odd.bin"]


def test_existing_name_is_not_a_pattern(folder: Path) -> None:
    assert names(f"{folder}/x[1].pcap") == ["x[1].pcap"]


def test_name_in_tables_is_as_the_user_wrote_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    [found] = inputs_of(["b.pcap"])
    assert found == ("b.pcap", str(folder / "b.pcap"))


def test_file_addresses_are_paths(folder: Path) -> None:
    [found] = inputs_of([f"file://{folder}/b.pcap"])
    assert found.path == str(folder / "b.pcap")
    assert names(f"file:{folder}/x%5B1%5D.pcap") == ["x[1].pcap"]
    (folder / "x%5B1%5D.pcap").touch()
    assert names(f"file:{folder}/x%5B1%5D.pcap") == ["x%5B1%5D.pcap"]
    assert names(f"file:{folder}/?.pcap") == ["b.pcap"]
    for elsewhere in ("file://host/a.pcap", "file:a.pcap", "file:", "file://"):
        with pytest.raises(ZenlakeError, match="a file: address is file:/PATH"):
            inputs_of([elsewhere])


def test_an_unknown_scheme_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if a folder has that name; the name of a file may contain a colon."""
    monkeypatch.chdir(folder)
    (folder / "foo:" / "x").mkdir(parents=True)
    (folder / "foo:" / "x" / "a.pcap").touch()
    (folder / "ab:c.pcap").touch()
    assert names("ab:c.pcap") == ["ab:c.pcap"]
    for address in ("foo://x/a.pcap", "foo:bar"):
        with pytest.raises(ZenlakeError, match="no address scheme 'foo'; captures are read from"):
            inputs_of([address])


@pytest.mark.parametrize("scheme", ["s3", "S3A", "gs", "hdfs"])
def test_addresses_of_stores_are_no_local_paths(scheme: str) -> None:
    with pytest.raises(ZenlakeError, match=r"captures in a store are read by spark\.read"):
        local_path(f"{scheme}://bucket/a.pcap")
    with pytest.raises(ZenlakeError, match=f"write {scheme}://bucket/a.pcap for the address"):
        inputs_of([f"{scheme}:bucket/a.pcap"])
    check_paths([f"{scheme}://bucket/a.pcap"], is_table=True)


def test_pipeline_expands_patterns(folder: Path) -> None:
    def found(*paths: str) -> list[str]:
        return [str(Path(one).relative_to(folder)) for one in captures_in(paths)]

    assert found(f"{folder}/*.pcap", f"{folder}/b.*") == ["b.pcap", "x[1].pcap"]
    assert found(f"{folder}/x[1].pcap") == ["x[1].pcap"]
    assert found(f"file:{folder}/s*/*.pcap") == ["sub/c.pcap"]
    assert captures_in([f"file:{folder}/sub"]) == [f"file:{folder}/sub/c.pcap"]
    assert captures_in([f"file:{folder}/b.pcap"]) == [f"file:{folder}/b.pcap"]
    (folder / ".hidden.pcap").touch()
    assert found(str(folder)) == ["a.pcapng.gz", "b.pcap", "x[1].pcap"]
    assert captures_in([f"{folder}/none.pcap"]) == [f"{folder}/none.pcap"]
    with pytest.raises(ZenlakeError, match=r"\*\.none: no file has such a name"):
        captures_in([f"{folder}/*.none"])


def test_file_with_several_names_is_read_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    ways = ["sub/c.pcap", "./sub/c.pcap", "sub//c.pcap", str(folder / "sub" / "c.pcap"), "sub"]
    ways += [f"file:{folder}/sub/c.pcap", f"file://{folder}/sub/c.pcap", "sub/../sub/c.pcap"]
    for first in ways[:5]:
        [found] = inputs_of([first, *ways])
        assert found.path == str(folder / "sub" / "c.pcap")
        assert found.capture == ("sub/c.pcap" if first == "sub" else first)


def test_hidden_files_are_left_out_of_folders_and_patterns(folder: Path) -> None:
    hidden = ("_tmp.pcap", ".x.pcap", "y.pcap._COPYING_", "_SUCCESS")
    for name in (*hidden, "_day=1.pcap"):
        (folder / name).touch()
    (folder / "_old").mkdir()
    (folder / "_old" / "d.pcap").touch()
    expected = ["_day=1.pcap", "a.pcapng.gz", "b.pcap", "x[1].pcap"]
    assert names(str(folder)) == expected
    assert names(f"{folder}/*p*") == expected
    assert "d.pcap" not in names(f"{folder}/**/*.pcap")
    assert names(f"{folder}/_tmp.pcap", f"{folder}/.x*") == ["_tmp.pcap", ".x.pcap"]
    assert names(f"{folder}/_old/*") == ["d.pcap"]


def chosen(folder: Path, **choice: Any) -> list[str]:
    return [Path(one.path).name for one in inputs_of([str(folder)], FileChoice(**choice))]


def test_files_are_chosen_by_name(folder: Path) -> None:
    """The filter replaces the usual names of captures."""
    assert chosen(folder, name_filter="*.{bin,gz}") == ["a.pcapng.gz", "odd.bin"]
    assert chosen(folder, name_filter="nothing*") == []
    both = inputs_of([f"{folder}/*", str(folder / "b.pcap")], FileChoice("[^a-x]*"))
    assert both == []


def test_subfolders_are_searched_if_requested(folder: Path) -> None:
    (folder / "sub" / "loop").symlink_to(folder)
    deep = folder / "sub" / "deep"
    deep.mkdir()
    (deep / "d.pcap").touch()
    assert chosen(folder) == ["a.pcapng.gz", "b.pcap", "x[1].pcap"]
    expected = ["a.pcapng.gz", "b.pcap", "x[1].pcap", "c.pcap", "d.pcap"]
    assert chosen(folder, is_recursive=True) == expected
    assert chosen(folder, is_recursive=True, name_filter="d*") == ["d.pcap"]


def test_files_are_chosen_by_time(folder: Path) -> None:
    os.utime(folder / "b.pcap", ns=(5, 5))
    assert chosen(folder, modified_before_ns=6) == ["b.pcap"]
    assert chosen(folder, modified_before_ns=5) == []
    assert chosen(folder, modified_after_ns=5) == ["a.pcapng.gz", "x[1].pcap"]
    assert chosen(folder, modified_after_ns=4, modified_before_ns=6) == ["b.pcap"]


def test_relative_paths_are_refused_if_the_folder_is_not_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over Connect, Spark plans in a folder that is named after the session."""
    monkeypatch.chdir(folder)
    check_paths(["b.pcap"], is_table=False)
    with pytest.raises(ZenlakeError, match=r"is a relative path, and paths of a table start"):
        check_paths([str(folder), "b.pcap"], is_table=True)
    monkeypatch.setenv("SPARK_JOB_ARTIFACT_UUID", folder.name)
    with pytest.raises(ZenlakeError, match=r"'./b.pcap' .* this Spark .Connect. plans in another"):
        check_paths(["./b.pcap"], is_table=False)
    check_paths([str(folder), f"file:{folder}/b.pcap"], is_table=False)


def test_a_missing_path_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZenlakeError, match=r"\*.none: no file has such a name$"):
        inputs_of([f"{folder}/*.none"])
    monkeypatch.chdir(folder)
    with pytest.raises(ZenlakeError, match=r"no file has such a name \(in .*: better use an a"):
        inputs_of(["*.none"])
    assert inputs_of(["*.none"], ignore_missing=True) == []
    (folder / "empty").mkdir()
    for path in ("empty", "empt*"):
        with pytest.raises(ZenlakeError, match=r"no captures in .*empt.*: none is named like"):
            inputs_of([path])
    with pytest.raises(ZenlakeError, match="standard input"):
        inputs_of(["-"])


def test_recording_is_one_capture_and_other_folders_are_not(tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    recording.mkdir()
    (recording / "recording.json").write_text("{}")
    for name in ("00000001.pcapng", "00000002.pcapng.part"):
        (recording / name).write_bytes(b"12345")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "00000001.pcapng").touch()
    paths = [str(recording), str(plain / "00000001.pcapng")]
    assert [one.capture for one in inputs_of([str(recording), str(plain)])] == paths
    assert [one.capture for one in inputs_of([f"{tmp_path}/*"])] == sorted(paths)
    assert captures_in([str(recording), str(plain)]) == paths
    assert size_of(str(recording)) == 10
    assert why_not_opened(str(recording)) is None
