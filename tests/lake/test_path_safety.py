"""Names in a lake's metadata do not lead outside the lake."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli import sql_lake
from tests.cli.command import complaint_of
from zenlake.lake.errors import LakeError
from zenlake.lake.path_safety import check_file_name, check_files, check_table_name
from zenlake.lake.publish import Store
from zenlake.lake.sql import on_duckdb

SECRET = "secret.parquet"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    store = sql_lake.make(tmp_path / "lake")
    file = store.snapshot().files("samples")[1]
    (tmp_path / SECRET).write_bytes(file.read_bytes())
    return tmp_path / "lake"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/../../x",
        "a/./b",
        "a//b",
        "/etc/passwd",
        "file:/etc/passwd",
        "file:///etc/passwd",
        "s3://bucket/x",
        "C:\\x",
        "..\\x",
        "a\0b",
    ],
)
def test_file_name_that_leaves_its_folder_is_refused(name: str) -> None:
    with pytest.raises(LakeError, match=r"^place: the metadata names a file outside the lake"):
        check_file_name(name, "place")


@pytest.mark.parametrize(
    "name", ["a.parquet", "part/a.parquet", "..a", "a..", "it's [a]*.parquet", "a b=c/%41", "ä"]
)
def test_file_name_inside_its_folder_is_accepted(name: str) -> None:
    check_file_name(name, "place")


@pytest.mark.parametrize("name", ["", "..", "a/b", 'a"b', "a b", "a;", "a'", "1a", "a\n", "ä"])
def test_unknown_table_name_is_refused(name: str) -> None:
    check_table_name("samples_2", "place")
    with pytest.raises(LakeError, match="not a table's name"):
        check_table_name(name, "place")


def test_files_are_inside_if_the_lake_is_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "table").mkdir(parents=True)
    (real / "table" / "a").touch()
    os.symlink("a", real / "table" / "link")
    os.symlink(real, tmp_path / "lake")
    lake = tmp_path / "lake"
    check_files(lake, [lake / "table" / "a", lake / "table" / "link", real / "table" / "missing"])


@pytest.mark.parametrize(
    "make",
    [
        lambda lake: lake / "table" / ".." / ".." / SECRET,
        lambda lake: lake / ".." / "lake2" / "x",
        lambda lake: lake.parent / SECRET,
        lambda lake: Path("/etc/passwd"),
        lambda lake: Path(f"{lake}2/x"),
        lambda lake: lake / "file_link",
        lambda lake: lake / "folder_link" / SECRET,
        lambda lake: lake / "broken_link",
        lambda lake: lake / "a\0b",
    ],
)
def test_file_outside_is_refused(make: Callable[[Path], Path], tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    (lake / "table").mkdir(parents=True)
    (tmp_path / SECRET).touch()
    os.symlink(tmp_path / SECRET, lake / "file_link")
    os.symlink("..", lake / "folder_link")
    os.symlink("../nowhere", lake / "broken_link")
    with pytest.raises(LakeError, match=r"lake: the metadata names a file outside the lake"):
        check_files(lake, [lake / "table" / "a", make(lake)])


def edit_manifest(lake: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    path = Store(lake).snapshot().directory / "manifest.json"
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def test_sql_refuses_a_manifest_that_leads_outside(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["captures"][0]["files"]["samples"] = [f"../../../../{SECRET}"]

    edit_manifest(lake, edit)
    complaint = complaint_of(capsys, "sql", "--lake", str(lake), "FROM samples")
    assert "the metadata names a file outside the lake" in complaint


def test_sql_refuses_a_link_that_leads_outside(lake: Path) -> None:
    snapshot = Store(lake).snapshot()
    file = snapshot.files("samples")[1]
    file.unlink()
    os.symlink(lake.parent / SECRET, file)
    with (
        pytest.raises(LakeError, match="names a file outside the lake"),
        on_duckdb.query(snapshot, "FROM samples"),
    ):
        pass


def test_table_name_is_never_run_as_sql(lake: Path, tmp_path: Path) -> None:
    target = tmp_path / "written.csv"

    def edit(document: dict[str, Any]) -> None:
        document["tables"] = [f"x\" AS SELECT 1; COPY (SELECT 1) TO '{target}' --"]

    edit_manifest(lake, edit)
    with (
        pytest.raises(LakeError, match="not a table's name"),
        on_duckdb.query(Store(lake).snapshot(), "SELECT 1"),
    ):
        pass
    assert not target.exists()
