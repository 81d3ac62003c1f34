"""A lake on a server of the S3 protocol: the same steps as on a disk."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.dataset as ds
import pytest

from tests.lake.publish.small_lake import ROWS, capture_row, expected, rows_of_captures, written
from tests.lake.s3.server import BUCKET, client
from zenlake.cli.main import main
from zenlake.lake.publish import Run, Store
from zenlake.lake.publish.delta_table import ConcurrentCommit, Table

pytestmark = pytest.mark.xdist_group("s3")


@pytest.fixture
def store(s3: int) -> Store:
    return Store(f"s3a://{BUCKET}/{uuid4().hex}.lake")


def add(run: Run, folder: Path, *paths: str, edition: int = 1) -> int:
    files = written(folder, rows_of_captures(paths, edition))
    return run.publish([capture_row(path, edition) for path in paths], files)


def contents(store: Store) -> dict[str, list[tuple[str, int]]]:
    found = {}
    snapshot = store.snapshot()
    for table in ROWS:
        paths = [one.fs_path for one in snapshot.addresses(table)]
        rows = ds.dataset(paths, format="parquet", filesystem=store.address.filesystem)
        columns = rows.to_table(["capture", "seq"]).to_pydict()
        found[table] = sorted(zip(columns["capture"], columns["seq"], strict=True))
    return found


def test_captures_are_added_replaced_and_removed(store: Store, tmp_path: Path) -> None:
    with store.begin() as run:
        assert add(run, tmp_path, "a", "b") == 1
    with store.begin() as run:
        assert add(run, tmp_path, "b", "c", edition=2) == 2
    assert contents(store) == expected({"a": 1, "b": 2, "c": 2})
    with store.begin() as run:
        run.publish(remove={"c"})
    assert contents(store) == expected({"a": 1, "b": 2})
    with store.begin() as run:
        run.compact()
        assert sum(run.vacuum(0).values()) > 0
    assert contents(store) == expected({"a": 1, "b": 2})
    assert Store(str(store.address).replace("s3:", "s3a:")).version() == store.version()


def test_second_commit_of_a_version_fails(store: Store, tmp_path: Path) -> None:
    with store.begin() as run:
        add(run, tmp_path, "a")
    one, other = (Table.open(store.address / "messages") for _ in range(2))
    assert one is not None
    assert other is not None
    one.commit(facts={"run": "one"})
    with pytest.raises(ConcurrentCommit):
        other.commit(facts={"run": "other"})


def test_concurrent_runs_wait_for_each_other(store: Store, tmp_path: Path) -> None:
    with store.begin() as run:
        add(run, tmp_path, "first")
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            with store.begin() as run:
                add(run, tmp_path / name, name)
        except BaseException as error:
            failures.append(error)

    names = ["x", "y", "z"]
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert contents(store) == expected(dict.fromkeys(["first", *names], 1))


def test_failed_run_leaves_the_old_version(
    store: Store, s3: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.begin() as run:
        add(run, tmp_path, "a")
    files = [one for one in _keys(s3, store) if one.endswith(".parquet")]

    def failing(self: Table, *args: Any, **kwargs: Any) -> Table:
        if kwargs.get("facts", {}).get("publish"):
            raise ZeroDivisionError
        return original(self, *args, **kwargs)

    original = Table.commit
    monkeypatch.setattr(Table, "commit", failing)
    with pytest.raises(ZeroDivisionError), store.begin() as run:
        add(run, tmp_path, "b")
    monkeypatch.setattr(Table, "commit", original)
    assert contents(store) == expected({"a": 1})
    with store.begin() as run:
        add(run, tmp_path, "c")
    assert contents(store) == expected({"a": 1, "c": 1})
    assert len([one for one in _keys(s3, store) if one.endswith(".parquet")]) > len(files)


def _keys(port: int, store: Store) -> list[str]:
    from pyarrow import fs

    chosen = fs.FileSelector(store.address.fs_path, recursive=True)
    return [one.path for one in client(port).get_file_info(chosen)]


def test_commands_work_on_an_object_store(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with store.begin() as run:
        add(run, tmp_path, "a")
    lake = str(store.address)
    assert main(["lake", "ls", "--lake", lake]) == 0
    assert "\na " in capsys.readouterr().out
    assert main(["sql", "--lake", lake, "--json", "SELECT count(*) AS n FROM messages"]) == 0
    assert capsys.readouterr().out == f'{{"n": {ROWS["messages"]}}}\n'
    assert main(["why", lake]) == 0
    assert "a" in capsys.readouterr().out
    assert main(["lake", "drop", "--lake", lake, "b"]) == 2
    assert capsys.readouterr().err == f"zenlake: {lake}: no capture 'b'\n"
    assert main(["lake", "ls", "--lake", f"s3://{BUCKET}/nothing"]) == 2
    assert "there is no lake" in capsys.readouterr().err
