"""Publishers killed before any commit and at any moment: readers always see one whole version."""

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

import pytest

from tests.chance import IS_FULL
from tests.child_process import child_environment
from tests.lake.publish import publisher_process
from tests.lake.publish.small_lake import contents, expected, publish
from zenlake.lake.publish import Store

KILLS = 200 if IS_FULL else 8
WATCHING_SECONDS = 30 if IS_FULL else 3
LIFE_SECONDS = 0.4
"""About the duration of a few publications."""


class Children:
    """Children publish inside the block `publishing` and are killed at its end."""

    def __init__(self, directory: Path) -> None:
        command = [sys.executable, publisher_process.__file__, str(directory)]
        pipe = subprocess.PIPE
        self._parent = subprocess.Popen(command, env=child_environment(), stdin=pipe, stdout=pipe)

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
            assert self._answer() == signal.SIGKILL  # it was killed and did not end by itself

    def survives(self, number: int) -> bool:
        """Publishes once and is killed before this commit; True if there are fewer commits."""
        self._ask(str(number))
        self._answer()
        status = self._answer()
        assert status in (0, signal.SIGKILL)
        return status == 0

    def close(self) -> None:
        self._parent.communicate()


@pytest.fixture
def children(tmp_path: Path) -> Iterator[Children]:
    made = Children(tmp_path)
    yield made
    made.close()


def edition_of(store: Store) -> int:
    """The edition of all rows; asserts that each row exists once."""
    rows = contents(store)
    [edition] = {edition for table in rows.values() for _, edition in table}
    assert rows == expected(dict.fromkeys(publisher_process.present(edition), edition))
    return edition


def test_publisher_killed_before_any_commit_leaves_one_version(
    tmp_path: Path, children: Children
) -> None:
    store = Store(tmp_path)
    publish(store, *publisher_process.CAPTURES)
    last, number = 1, 0
    while not children.survives(number):
        assert edition_of(store) == last == store.version()
        # The next run undoes the commits of the killed one, and publishes.
        if number % 3 == 2:
            assert children.survives(10_000)
            last += 1
            assert edition_of(store) == last
        number += 1
    assert edition_of(store) == last + 1
    assert number >= 4  # begin, two tables, the publication


def test_publisher_killed_at_any_moment_leaves_one_version(
    tmp_path: Path, children: Children
) -> None:
    store = Store(tmp_path)
    publish(store, *publisher_process.CAPTURES)
    last = 1
    for _ in range(KILLS):
        with children.publishing():
            time.sleep(random.random() * LIFE_SECONDS)  # killed at a random moment
        edition = edition_of(store)
        assert edition == store.version()
        assert edition >= last
        last = edition
    assert children.survives(10_000)
    assert edition_of(store) == last + 1
    with store.begin() as run:
        run.vacuum(0)
    assert edition_of(store) == last + 1
    for table in ("messages", "samples"):
        assert set((tmp_path / table).glob("*.parquet")) == set(store.files(table))


def test_concurrent_reader_always_sees_one_version(tmp_path: Path, children: Children) -> None:
    store = Store(tmp_path)
    publish(store, *publisher_process.CAPTURES)
    seen: set[int] = set()
    began = time.monotonic()
    with children.publishing():
        # On a busy machine, wait until a few versions exist.
        while time.monotonic() - began < WATCHING_SECONDS or len(seen) < 3:
            seen.add(edition_of(store))
            assert time.monotonic() - began < WATCHING_SECONDS + 60
