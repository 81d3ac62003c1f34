"""The contents of a lake, version by version."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lake.publish.small_lake import (
    ROWS,
    add,
    capture_row,
    contents,
    expected,
    lake,
    publish,
    remove,
    rows_of_captures,
    written,
)
from zenlake.lake.errors import LakeError
from zenlake.lake.publish import Manifest, Store, publication_log, publish_lock, publisher
from zenlake.lake.publish.delta_table import ConcurrentCommit, Table
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import VERSION


def test_new_lake_is_empty(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "not-yet"):
        store = Store(place)
        assert store.version() is None
        assert store.manifest() == Manifest()
        with pytest.raises(LakeError, match="there is no lake"):
            store.snapshot()
    assert not (tmp_path / "not-yet").exists()


def test_captures_are_added_replaced_and_removed(tmp_path: Path) -> None:
    store = lake(tmp_path, "a", "b")
    assert publish(store, "b", "c", edition=2) == 3
    assert contents(store) == expected({"a": 1, "b": 2, "c": 2})
    assert remove(store, "a", "c") == 4
    assert contents(store) == expected({"b": 2})
    remove(store, "b")
    assert contents(store) == expected({})
    assert set(store.snapshot().manifest.tables) == set(TABLES)


def test_captures_that_share_files_are_removed_one_by_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    publish(store, "a", "b", "c")
    assert len(store.files("messages")) == 1
    remove(store, "b")
    assert contents(store) == expected({"a": 1, "c": 1})
    publish(store, "c", edition=2)
    assert contents(store) == expected({"a": 1, "c": 2})


def test_manifest_lists_the_captures(tmp_path: Path) -> None:
    store = lake(tmp_path, "a", "b")
    manifest = store.manifest()
    assert (manifest.version, list(manifest.captures)) == (2, ["a", "b"])
    entry = manifest.captures["a"]
    assert (entry.sha256, entry.size, entry.schema_version) == (f"{1:064x}", 100, VERSION)
    assert entry.rows == {"messages": 3, "sessions": 0, "samples": 2, "queries": 0}
    assert (entry.info["first_ns"], entry.info["last_ns"]) == (1, 2)
    here = os.path.abspath("a")
    assert manifest.has(here, f"{1:064x}")
    assert not manifest.has(here, f"{2:064x}")
    assert not manifest.has(os.path.abspath("z"), f"{1:064x}")


def test_capture_in_tables_of_an_older_schema_is_read_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        files = written(Path(run.staging.path), rows_of_captures(("a",)))
        run.publish([capture_row("a", schema_version=VERSION - 1)], files)
    assert store.manifest().has_older_rows
    assert not store.manifest().has(os.path.abspath("a"), f"{1:064x}")
    publish(store, "a")
    assert store.manifest().has(os.path.abspath("a"), f"{1:064x}")
    assert contents(store) == expected({"a": 1})


def test_run_without_changes_adds_no_version(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    with store.begin() as run:
        assert run.publish() == 1
        assert add(run, "a") == 1  # the same content at the same address
    assert contents(store) == expected({"a": 1})


def test_rows_of_a_concurrent_run_are_not_duplicated(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.begin() as slow, store.begin() as quick:
        add(quick, "a")
        assert add(slow, "a", "b") == 2
    assert contents(store) == expected({"a": 1, "b": 1})


def test_run_that_publishes_nothing_leaves_no_files(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ZeroDivisionError), store.begin() as run:  # noqa: PT012  # leaving the block is what is tested
        written(Path(run.staging.path), rows_of_captures(("b",)))
        raise ZeroDivisionError
    assert sorted(tmp_path.rglob("*")) == before


def test_moved_lake_is_readable(tmp_path: Path) -> None:
    lake(tmp_path / "here", "a")
    (tmp_path / "here").rename(tmp_path / "there")
    assert contents(Store(tmp_path / "there")) == expected({"a": 1})


def test_a_snapshot_stays_readable(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    snapshot = store.snapshot()
    for edition in range(2, 5):
        publish(store, "a", edition=edition)
    assert contents(store) == expected({"a": 4})
    assert all(file.exists() for table in ROWS for file in snapshot.files(table))


def test_concurrent_publications_wait_for_each_other(tmp_path: Path) -> None:
    store = lake(tmp_path)
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            publish(Store(tmp_path), name)
        except BaseException as error:
            failures.append(error)

    names = [f"capture-{number}" for number in range(6)]
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert contents(store) == expected(dict.fromkeys(names, 1))
    assert store.version() == 7


def test_a_run_that_waits_too_long_names_the_lock_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = lake(tmp_path, "a")
    captures = Table.open(store.address / "captures")
    assert captures is not None
    captures.commit(facts=publication_log.begin_facts("somebody"))
    monkeypatch.setattr(publish_lock, "LAKE_WAIT_SECONDS_MAX", 0.2)
    with store.begin() as run, pytest.raises(LakeError, match=rf"pid {os.getpid()} on"):
        add(run, "b")
    assert contents(store) == expected({"a": 1})


def test_commits_of_a_dead_run_are_undone(tmp_path: Path) -> None:
    """Killed between two tables: readers never see its commits, and the next run removes them."""
    store = lake(tmp_path, "a")
    with store.begin() as run:
        files = written(Path(run.staging.path), rows_of_captures(("b",)))
        dead = publisher.Publisher(run.lake, run.name, run.staging)
        captures = Table.open(store.address / "captures")
        assert captures is not None
        facts = publication_log.begin_facts(run.name)
        facts["begin"]["start"] = "another process"
        captures.commit(facts=facts)
        table = Table.open(store.address / "messages")
        assert table is not None
        dead._commit_files("messages", table, files["messages"], frozenset())
        dead._place("samples", files["samples"][0])
    assert contents(store) == expected({"a": 1})
    publish(store, "c")
    assert contents(store) == expected({"a": 1, "c": 1})
    assert set((tmp_path / "samples").glob("*.parquet")) == set(store.files("samples"))


def test_a_run_that_lost_the_lock_cannot_publish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = lake(tmp_path, "a")
    original = publisher.Publisher._commit_publication

    def slow(self: publisher.Publisher, *args: Any, **kwargs: Any) -> int:
        monkeypatch.setattr(publisher.Publisher, "_commit_publication", original)
        monkeypatch.setattr(publication_log, "LEASE_SECONDS", -1.0)
        publish(Store(tmp_path), "c")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(publisher.Publisher, "_commit_publication", slow)
    with store.begin() as run, pytest.raises(LakeError, match="another run took over"):
        add(run, "b")
    assert contents(store) == expected({"a": 1, "c": 1})


def test_a_commit_on_an_outdated_version_fails(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    one, other = (Table.open(store.address / "messages") for _ in range(2))
    assert one is not None
    assert other is not None
    one.commit(facts={"run": "one"})
    with pytest.raises(ConcurrentCommit):
        other.commit(facts={"run": "other"})


def test_a_repeated_commit_is_harmless(tmp_path: Path) -> None:
    store = lake(tmp_path)
    with store.begin() as run:
        files = written(Path(run.staging.path), rows_of_captures(("a",)))
        table = Table.open(store.address / "messages")
        assert table is not None
        twice = publisher.Publisher(run.lake, run.name, run.staging)
        table = twice._commit_files("messages", table, files["messages"], frozenset())
        again = twice._commit_files("messages", table, files["messages"], frozenset())
        assert again.version == table.version


def test_unknown_captures_and_tables_are_errors(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    with pytest.raises(LakeError, match="no table 'nothing', there are: "):
        store.files("nothing")
    with store.begin() as run, pytest.raises(LakeError, match="no capture 'b' in it"):
        run.publish(remove={"a", "b"})
    assert contents(store) == expected({"a": 1})


def test_folder_with_other_files_is_not_used_as_a_lake(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("")
    for place, cause in (("folder", "is no lake"), ("folder/notes.txt", "this is a file")):
        store = Store(tmp_path / place)
        for use in (store.snapshot, store.begin().__enter__):
            with pytest.raises(LakeError, match=f"{place}: .*{cause}"):
                use()
    assert os.listdir(tmp_path / "folder") == ["notes.txt"]


def test_a_file_outside_of_the_lake_is_refused(tmp_path: Path) -> None:
    store = lake(tmp_path / "lake", "a")
    log = sorted((tmp_path / "lake" / "messages" / "_delta_log").glob("*.json"))[-1]
    lines = log.read_text().splitlines()
    for outside in ("../samples/x.parquet", "/etc/passwd", "file:///etc/passwd"):
        changed = []
        for line in lines:
            action = json.loads(line)
            if "add" in action:
                action["add"]["path"] = outside
            changed.append(json.dumps(action))
        log.write_text("\n".join(changed))
        with pytest.raises(LakeError, match="names a file outside the lake"):
            store.files("messages")


def test_a_newer_lake_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "SCHEMA_VERSION", VERSION + 1)
    store = lake(tmp_path, "a")
    with pytest.raises(LakeError, match=rf"newer zenlake \(schema {VERSION + 1}, known"):
        store.snapshot()


def test_a_damaged_log_is_an_error_in_one_line(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    for log in (tmp_path / "messages" / "_delta_log").glob("*.json"):
        log.write_text("{nonsense")
    with pytest.raises(LakeError, match="messages: "):
        store.files("messages")
    assert len(store.files("samples")) == 1


def test_folders_of_dead_runs_are_removed(tmp_path: Path) -> None:
    store = lake(tmp_path, "a")
    host = publication_log.host_name()
    dead = tmp_path / "_staging" / f"{host}-{os.getpid()}-1-abc"
    foreign = tmp_path / "_staging" / "00000000-5-77-abc"
    for folder in (dead, foreign):
        folder.mkdir(parents=True)
    with store.begin():
        assert not dead.exists()
        assert foreign.exists()
    old = time.time() - 3 * 86_400
    os.utime(foreign, (old, old))
    with store.begin():
        assert not foreign.exists()
