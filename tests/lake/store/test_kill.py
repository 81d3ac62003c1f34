"""Killed at any instant, watched at every instant: always one whole version."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from tests.lake.store import publisher
from tests.lake.store.small_lake import ROWS, add, capture, contents, empty_files, expected, rows_of
from zenlake.lake.store import Store
from zenlake.lake.store.layout import VERSIONS_KEPT_MAX

IS_FULL = os.environ.get("ZENLAKE_FULL") == "1"
KILLS = 200 if IS_FULL else 25
WATCHING_SECONDS = 30 if IS_FULL else 3
# About the time of a few publications.
LIFE_SECONDS = 0.1


class Publisher:
    """Publishes while its `publishing` is entered; killed when it is left."""

    def __init__(self, directory: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, publisher.__file__, str(directory)]
        pipe = subprocess.PIPE
        self._parent = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe)

    def _ask(self, question: str) -> None:
        assert self._parent.stdin is not None
        self._parent.stdin.write(f"{question}\n".encode())
        self._parent.stdin.flush()

    def _answer(self) -> int:
        assert self._parent.stdout is not None
        return int(self._parent.stdout.readline())

    @contextmanager
    def publishing(self) -> Iterator[None]:
        self._ask("")
        child = self._answer()
        try:
            yield
        finally:
            os.kill(child, signal.SIGKILL)
            assert self._answer() == signal.SIGKILL  # and not an end of its own

    def survives(self, step: int) -> bool:
        """Publishes once, and dies before this step; True where there are not that many."""
        self._ask(str(step))
        self._answer()
        status = self._answer()
        assert status in (0, signal.SIGKILL)
        return status == 0

    def close(self) -> None:
        self._parent.communicate()


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Publisher]:
    with Store(tmp_path).begin() as run:
        run.publish(
            {path: capture(run.staging, path) for path in publisher.CAPTURES},
            empty_files=empty_files(run.staging),
        )
    made = Publisher(tmp_path)
    yield made
    made.close()


def edition_of(rows: dict[str, list[tuple[str, int]]]) -> int:
    """The one edition of all rows; they are all there, once."""
    [edition] = {edition for table in rows.values() for _, edition in table}
    present = publisher.CAPTURES if edition % 2 else publisher.CAPTURES[:2]
    assert rows == expected(dict.fromkeys(present, edition))
    return edition


def check_after_kill(store: Store, last: int) -> int:
    """One whole version, and nothing else after the next run has begun; the version."""
    version = store.version()
    assert version is not None
    assert edition_of(contents(store)) == version
    assert version >= last
    with store.begin() as run:
        assert os.listdir(store.directory / "_staging") == [run.staging.name]
        assert store.version() == version
    kept = range(max(version - VERSIONS_KEPT_MAX + 1, 1), version + 1)
    assert {int(name) for name in os.listdir(store.directory / "_versions")} == set(kept)
    return version


def test_killed_at_any_instant(tmp_path: Path, child: Publisher) -> None:
    store = Store(tmp_path)
    leftovers = 0
    last = 1
    for _ in range(KILLS):
        with child.publishing():
            time.sleep(random.random() * LIFE_SECONDS)
        leftovers += any(tmp_path.glob("_staging/*"))
        last = check_after_kill(store, last)
    assert leftovers, "no kill hit a run at work"
    assert last > 1
    with store.begin() as run:
        run.publish(remove=set(store.manifest().captures))
        add(run, "a", edition=last)
    assert contents(store) == expected({"a": last})


def test_killed_before_each_step(tmp_path: Path, child: Publisher) -> None:
    store = Store(tmp_path)
    versions = [1]
    while not child.survives(len(versions)):
        versions.append(check_after_kill(store, versions[-1]))
    # Some steps come before the one that readers see, some after it.
    assert versions.count(1) > 20
    assert versions[-1] > 2
    assert check_after_kill(store, versions[-1]) == versions[-1] + 1


def test_readers_see_whole_versions(tmp_path: Path, child: Publisher) -> None:
    """A reader that takes a snapshot, tables one after the other, by DuckDB and by pyarrow."""
    store = Store(tmp_path)
    seen: set[int] = set()
    overtaken = 0
    with child.publishing(), duckdb.connect() as connection:
        end = time.monotonic() + WATCHING_SECONDS
        while time.monotonic() < end:
            snapshot = store.snapshot()
            rows = {}
            try:
                for number, table in enumerate(ROWS):
                    files = snapshot.files(table)
                    if number ^ snapshot.version % 2:
                        rows[table] = rows_of(files)
                    else:
                        query = "SELECT capture, edition FROM read_parquet($files) ORDER BY ALL"
                        names = {"files": [str(file) for file in files]}
                        rows[table] = connection.execute(query, names).fetchall()
            except (FileNotFoundError, duckdb.IOException):
                # That many versions later the files are gone, never before.
                assert (store.version() or 0) >= snapshot.version + VERSIONS_KEPT_MAX
                overtaken += 1
                continue
            assert edition_of(rows) == snapshot.version
            seen.add(snapshot.version)
    assert len(seen) > 3
    assert overtaken < len(seen)


def test_readers_by_the_name_of_a_table_never_see_a_mixture(
    tmp_path: Path, child: Publisher
) -> None:
    """A list that replacing overtakes may lack files or name files that are gone, no more."""
    seen = set()
    complaints = []
    with child.publishing(), duckdb.connect() as connection:
        end = time.monotonic() + WATCHING_SECONDS / 2
        query = f"SELECT capture, edition FROM '{tmp_path}/messages/*.parquet' ORDER BY ALL"
        while time.monotonic() < end:
            try:
                rows = connection.execute(query).fetchall()
            except duckdb.IOException as error:
                complaints.append(str(error))
                continue
            editions = {edition for _, edition in rows}
            assert len(editions) <= 1
            assert len(rows) % ROWS["messages"] == 0
            seen |= editions
    assert all("No such file" in text or "No files found" in text for text in complaints)
    assert len(seen) > 3


@pytest.mark.parametrize("leftover", ["_versions/2", "_versions/9", "_staging/123-4"])
def test_what_a_killed_run_left_is_removed(tmp_path: Path, leftover: str) -> None:
    store = Store(tmp_path)
    with store.begin() as run:
        add(run, "a")
    (tmp_path / leftover / "messages").mkdir(parents=True)
    with store.begin() as run:
        assert not (tmp_path / leftover).exists()
        add(run, "b")
    assert contents(store) == expected({"a": 1, "b": 1})
