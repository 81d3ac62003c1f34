"""What a store holds, version by version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from tests.lake.store.small_lake import (
    ROWS,
    SCHEMAS,
    add,
    capture,
    contents,
    empty_files,
    expected,
    lake,
    write,
)
from zenlake.lake.schema import VERSION
from zenlake.lake.store import CaptureFiles, LakeError, Manifest, Store, layout
from zenlake.lake.store.layout import READER_SECONDS, VERSIONS_KEPT, VERSIONS_KEPT_MAX


def test_a_new_lake_is_empty(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "not-yet"):
        store = Store(place)
        assert store.version() is None
        assert store.manifest() == Manifest()
        with pytest.raises(LakeError, match="there is no lake"):
            store.snapshot()
    assert not (tmp_path / "not-yet").exists()


def test_captures_are_added_replaced_and_removed(tmp_path: Path) -> None:
    store = lake(tmp_path, "a", "b")
    with store.begin() as run:
        assert add(run, "b", "c", edition=2) == 2
    assert contents(store) == expected({"a": 1, "b": 2, "c": 2})
    with store.begin() as run:
        assert run.publish(remove={"a", "c"}) == 3
    assert contents(store) == expected({"b": 2})
    with store.begin() as run:
        run.publish(remove={"b"})
    assert contents(store) == expected({})
    assert store.snapshot().manifest.tables == tuple(SCHEMAS)


def test_removing_and_adding_a_capture_is_replacing_it(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    with store.begin() as run:
        run.publish({"a": capture(run.staging, "a", 2)}, remove={"a"})
    assert contents(store) == expected({"a": 2})


def test_the_manifest_says_what_is_there(tmp_path: Path) -> None:
    manifest = lake(tmp_path, "a", "b").manifest()
    assert manifest.version == 1
    assert manifest.created_ns > 0
    assert list(manifest.captures) == ["a", "b"]
    entry = manifest.captures["a"]
    assert (entry.sha256, entry.size, entry.rows) == (f"{1:064x}", 100, ROWS)
    assert entry.info == {"first_ns": 1, "last_ns": 2}
    assert manifest.has("a", f"{1:064x}")
    assert not manifest.has("a", f"{2:064x}")
    assert not manifest.has("z", f"{1:064x}")


def test_a_capture_read_into_older_tables_is_to_be_read_again(tmp_path: Path) -> None:
    store = lake(tmp_path, "a", "b")
    path = tmp_path / "_versions" / "1" / "manifest.json"
    written = json.loads(path.read_text())
    assert [entry["schema_version"] for entry in written["captures"]] == [VERSION, VERSION]
    del written["captures"][0]["schema_version"]
    path.write_text(json.dumps({**written, "schema_version": 1}))
    manifest = store.manifest()
    assert manifest.captures["a"].schema_version == 1
    assert not manifest.has("a", f"{1:064x}")
    assert manifest.has("b", f"{1:064x}")
    with store.begin() as run:
        add(run, "a")
    assert store.manifest().has("a", f"{1:064x}")


def test_a_path_that_is_no_text_comes_back(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.pcap")
    store = Store(tmp_path)
    with store.begin() as run:
        run.publish({name: CaptureFiles("", 0, {}, {})}, empty_files=empty_files(run.staging))
    assert list(store.manifest().captures) == [name]


def test_no_change_is_no_version(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    with store.begin() as run:
        assert run.publish() == 1
        assert run.publish(empty_files=empty_files(run.staging)) == 1
    assert store.version() == 1


def test_several_versions_in_one_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        assert [add(run, name) for name in "abc"] == [1, 2, 3]
    assert contents(store) == expected({"a": 1, "b": 1, "c": 1})


def test_a_run_that_publishes_nothing_leaves_nothing(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ZeroDivisionError), store.begin() as run:  # noqa: PT012  # leaving the block is what is tested
        capture(run.staging, "b")
        raise ZeroDivisionError
    assert sorted(tmp_path.rglob("*")) == before


def test_any_reader_finds_a_table_by_its_name(tmp_path: Path) -> None:
    lake(tmp_path, "a", "b")
    files = f"{tmp_path}/samples/*.parquet"
    query = f"SELECT count(*), count(DISTINCT capture) FROM '{files}'"
    rows = duckdb.execute(query).fetchall()
    assert rows == [(2 * ROWS["samples"], 2)]
    assert ds.dataset(tmp_path / "messages").count_rows() == 2 * ROWS["messages"]
    assert os.readlink(tmp_path / "_current") == "_versions/1"
    assert os.readlink(tmp_path / "samples") == "_current/samples"


def test_a_list_by_name_stays_good_while_captures_are_added(tmp_path: Path) -> None:
    store = lake(tmp_path, "a", "b")
    listed = sorted((tmp_path / "messages").iterdir())
    before = [path.read_bytes() for path in listed]
    with store.begin() as run:
        for name in "cdef":
            add(run, name)
    assert [path.read_bytes() for path in listed] == before


def test_a_lake_may_be_moved(tmp_path: Path) -> None:
    lake(tmp_path / "here", "a")
    (tmp_path / "here").rename(tmp_path / "there")
    assert contents(Store(tmp_path / "there")) == expected({"a": 1})
    assert ds.dataset(tmp_path / "there" / "messages").count_rows() == ROWS["messages"]


def test_a_table_without_rows_has_its_schema(tmp_path: Path) -> None:
    store = lake(tmp_path)
    for table, schema in SCHEMAS.items():
        assert ds.dataset(store.files(table)).schema == schema
        assert ds.dataset(tmp_path / table).count_rows() == 0


def test_columns_that_older_files_lack_are_null(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    grown = SCHEMAS["messages"].append(pa.field("size", pa.int64()))
    with store.begin() as run:
        row = {"capture": "b", "edition": 1, "size": 5}
        new = capture(run.staging, "b")
        files = {**new.files, "messages": [write(run.staging / "grown", grown, [row])]}
        empty = write(run.staging / "empty", grown, [])
        run.publish({"b": CaptureFiles("", 0, files, {})}, empty_files={"messages": empty})
    files_now = [str(file) for file in store.files("messages")]
    relation = duckdb.read_parquet(files_now, union_by_name=True)
    found = relation.aggregate("capture, sum(size) AS size").order("capture").fetchall()
    assert found == [("a", None), ("b", 5)]


def test_a_snapshot_outlives_one_more_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "READER_SECONDS", -1)
    store = lake(tmp_path, "a")
    snapshot = store.snapshot()
    with store.begin() as run:
        add(run, "a", edition=2)
    assert all(file.exists() for table in SCHEMAS for file in snapshot.files(table))
    with store.begin() as run:
        add(run, "a", edition=3)
    assert sorted(os.listdir(tmp_path / "_versions")) == ["2", "3"]
    assert VERSIONS_KEPT == 2


def test_a_version_that_was_current_a_moment_ago_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "VERSIONS_KEPT_MAX", 4)
    store = Store(tmp_path)
    with store.begin() as run:
        for edition in range(1, 8):
            add(run, "a", edition=edition)
    assert sorted(os.listdir(tmp_path / "_versions")) == ["4", "5", "6", "7"]
    # The fifth has been current until a while ago, the fourth until longer ago.
    replaced = time.time() - READER_SECONDS - 1
    os.utime(tmp_path / "_versions" / "5" / "manifest.json", (replaced, replaced))
    with store.begin():
        assert sorted(os.listdir(tmp_path / "_versions")) == ["5", "6", "7"]
    assert VERSIONS_KEPT_MAX == 32


def test_no_file_name_is_used_twice(tmp_path: Path) -> None:
    store = lake(tmp_path, "a", "b")
    names = {path.name for path in store.files("messages")}
    assert len(names) == 3
    with store.begin() as run:
        add(run, "a", edition=2)
    later = {path.name for path in store.files("messages")}
    assert len(names & later) == 2  # the empty one, and that of "b"


def test_names_are_the_same_each_time(tmp_path: Path) -> None:
    one, two = (lake(tmp_path / place, "a", "b") for place in ("one", "two"))
    assert [f.name for f in one.files("samples")] == [f.name for f in two.files("samples")]


def test_one_run_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    other = "import sys; from zenlake.lake.store import Store; Store(sys.argv[1]).begin()"
    command = [sys.executable, "-c", f"{other}.__enter__()", str(tmp_path)]
    with store.begin(), pytest.raises(LakeError, match=rf"another run .*\(pid {os.getpid()}\)"):
        store.begin().__enter__()
    with store.begin():
        result = subprocess.run(command, capture_output=True, text=True)
        assert f"another run is writing (pid {os.getpid()})" in result.stderr
    with store.begin() as run:
        assert run.staging.is_dir()


def test_unknown_captures_and_tables(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    with pytest.raises(LakeError, match="no table 'replies', there are: messages, samples"):
        store.files("replies")
    with store.begin() as run:
        with pytest.raises(LakeError, match="no capture 'b' in it"):
            run.publish(remove={"a", "b"})
        new = CaptureFiles("", 0, {"replies": [tmp_path]}, {})
        with pytest.raises(LakeError, match="'replies' has no empty file"):
            run.publish({"b": new})
    assert contents(store) == expected({"a": 1})


def test_something_else_is_not_taken_for_a_lake(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("")
    for place, cause in (("folder", "something else"), ("folder/notes.txt", "this is a file")):
        store = Store(tmp_path / place)
        for use in (store.version, store.manifest, store.snapshot, store.begin().__enter__):
            with pytest.raises(LakeError, match=f"{place}: .*{cause}"):
                use()
    assert os.listdir(tmp_path / "folder") == ["notes.txt"]


def test_what_is_in_the_way_of_a_table_stays(tmp_path: Path) -> None:
    store = lake(tmp_path)
    (tmp_path / "samples").unlink()
    (tmp_path / "samples").mkdir()
    with store.begin() as run, pytest.raises(LakeError, match=r"samples: in the way of a table"):
        add(run, "a")
    assert store.version() == 1


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        ("", "the manifest is damaged"),
        ("[]", "the manifest is damaged"),
        ('{"schema_version": 1}', "damaged: no 'version'"),
        ('{"schema_version": 1, "version": 7}', "it says version 7"),
        ('{"schema_version": "1"}', "'1' is no int"),
        ('{"schema_version": 5}', r"newer zenlake \(schema 5, known: 4\)"),
    ],
)
def test_a_damaged_or_newer_manifest(tmp_path: Path, damage: str, cause: str) -> None:
    store = lake(tmp_path, "a")
    (tmp_path / "_versions" / "1" / "manifest.json").write_text(damage)
    for use in (store.manifest, store.begin().__enter__):
        with pytest.raises(LakeError, match=rf"manifest\.json: .*{cause}"):
            use()


def test_every_field_of_a_manifest_is_checked(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    path = tmp_path / "_versions" / "1" / "manifest.json"
    whole = json.loads(path.read_text())
    for name in whole:
        path.write_text(json.dumps({**whole, name: 1.5}))
        with pytest.raises(LakeError, match="damaged"):
            store.manifest()
    for name in whole["captures"][0]:
        broken = {**whole["captures"][0], name: 1.5}
        path.write_text(json.dumps({**whole, "captures": [broken]}))
        with pytest.raises(LakeError, match="damaged"):
            store.manifest()


def test_a_missing_manifest_and_a_damaged_pointer(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    (tmp_path / "_versions" / "1" / "manifest.json").unlink()
    with pytest.raises(LakeError, match="the manifest is missing"):
        store.manifest()
    (tmp_path / "_current").unlink()
    (tmp_path / "_current").write_text("nonsense")
    with pytest.raises(LakeError, match="'nonsense' is no version"):
        store.version()
