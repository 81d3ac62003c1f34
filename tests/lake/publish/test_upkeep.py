"""Small files are merged, old ones deleted, and lakes of the old format converted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.lake.publish.old_lake import OldRows
from tests.lake.publish.old_lake import make as make_old
from tests.lake.publish.small_lake import (
    add,
    contents,
    expected,
    lake,
    publish,
    remove,
    rows_of_captures,
)
from zenlake.cli.main import main
from zenlake.lake.errors import LakeError
from zenlake.lake.publish import Store, old_format, publisher
from zenlake.lake.schema import TABLES

NAMES = [f"capture-{number}" for number in range(5)]


def test_compaction_keeps_rows_and_names_of_captures(tmp_path: Path) -> None:
    store = lake(tmp_path, *NAMES)
    assert len(store.files("messages")) == len(NAMES)
    before = store.snapshot()
    with store.begin() as run:
        assert run.compact() == len(NAMES) + 1
    assert len(store.files("messages")) == 1
    assert contents(store) == expected(dict.fromkeys(NAMES, 1))
    assert all(file.exists() for file in before.files("messages"))
    remove(store, NAMES[2])
    left = [name for name in NAMES if name != NAMES[2]]
    assert contents(store) == expected(dict.fromkeys(left, 1))


def test_run_that_leaves_many_small_files_compacts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "LAKE_SMALL_FILES_MAX", 3)
    store = lake(tmp_path, *NAMES)
    assert len(store.files("messages")) <= 3
    assert contents(store) == expected(dict.fromkeys(NAMES, 1))


def test_vacuum_deletes_files_that_no_version_needs(tmp_path: Path) -> None:
    store = lake(tmp_path, "a", "b")
    publish(store, "a", edition=2)
    stray = tmp_path / "messages" / "stray.parquet"
    stray.write_bytes(b"")
    os.utime(stray, (0, 0))
    assert len(list((tmp_path / "messages").glob("*.parquet"))) > len(store.files("messages"))
    with store.begin() as run:
        kept = run.vacuum(24)
        assert kept["messages"] == 1  # the stray file: all others are young
        deleted = run.vacuum(0)
    assert deleted["messages"] == 1
    assert set((tmp_path / "messages").glob("*.parquet")) == set(store.files("messages"))
    assert contents(store) == expected({"a": 2, "b": 1})
    publish(store, "c")
    assert contents(store) == expected({"a": 2, "b": 1, "c": 1})


def test_compact_and_vacuum_commands_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lake(tmp_path, "a", "b")
    assert main(["lake", "compact", "--lake", str(tmp_path)]) == 0
    before, after = (int(word) for word in capsys.readouterr().out.split() if word.isdecimal())
    assert before > after
    assert main(["lake", "vacuum", "--json", "--lake", str(tmp_path), "--retain", "0"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["deleted"] == sum(printed["by_table"].values()) > 0
    with pytest.raises(SystemExit):
        main(["lake", "vacuum", "--lake", str(tmp_path), "--retain", "-1"])
    assert "not a number of hours: '-1'" in capsys.readouterr().err
    assert main(["lake", "vacuum", "--lake", str(tmp_path / "none")]) == 2
    assert "there is no lake" in capsys.readouterr().err


def old_lake(directory: Path, *paths: str) -> Store:
    """A lake of the old format, without newer columns."""
    names = ("captures", "messages", "samples")
    schemas = {name: pa.schema(list(TABLES[name].arrow)[:11]) for name in names}
    parts = []
    for path in paths:
        rows = {**rows_of_captures((path,)), "captures": [{"capture": path, "sha256": "1"}]}
        parts += [OldRows(path, name, schemas[name], listed) for name, listed in rows.items()]
    return make_old(directory, schemas, parts)


def test_a_lake_of_the_old_format_is_read_and_converted(tmp_path: Path) -> None:
    store = old_lake(tmp_path, "a", "b")
    assert store.version() == 7
    assert contents(store) == expected({"a": 1, "b": 1})
    assert old_format.is_there(store.address)
    assert publish(store, "c") == 8
    assert not old_format.is_there(store.address)
    assert contents(store) == expected({"a": 1, "b": 1, "c": 1})
    assert set(store.manifest().captures) == {"a", "b", "c"}
    assert store.manifest().has_older_rows
    assert sorted(os.listdir(tmp_path)) == sorted(TABLES)
    remove(store, "a")
    assert contents(store) == expected({"b": 1, "c": 1})


def test_killed_conversion_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = old_lake(tmp_path, "a")
    original = os.replace
    left = iter(range(1))

    def dying(source: Any, target: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        original(source, target)

    monkeypatch.setattr(os, "replace", dying)
    with pytest.raises(KeyboardInterrupt), store.begin() as run:
        add(run, "b")
    monkeypatch.setattr(os, "replace", original)
    publish(store, "b")
    assert contents(store) == expected({"a": 1, "b": 1})


def test_an_old_manifest_cannot_lead_outside(tmp_path: Path) -> None:
    store = old_lake(tmp_path, "a")
    path = tmp_path / "_versions" / "7" / "manifest.json"
    path.write_text(path.read_text().replace('"0.parquet"', '"../../../x.parquet"'))
    with pytest.raises(LakeError, match="outside the lake"):
        store.snapshot()


def test_run_does_not_replace_a_missing_table_by_an_empty_one(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", "a")
    (tmp_path / "lake" / "samples").rename(tmp_path / "samples")
    with pytest.raises(LakeError, match="the table samples is missing"), store.begin() as run:
        add(run, "b")
    (tmp_path / "samples").rename(tmp_path / "lake" / "samples")
    assert contents(store) == expected({"a": 1})
    publish(store, "b")
    assert contents(store) == expected({"a": 1, "b": 1})
