"""Checks of a lake while a driver is killed, and afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lake.comparison import differences
from tests.lake.faults import watcher
from tests.lake.faults.captures import A, B
from tests.lake.faults.conftest import Lakes
from tests.lake.faults.driver import environment
from tests.lake.faults.leftovers import leftovers
from zenlake.lake.pipeline import run
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def watching(lake: Path, lakes: Lakes) -> Iterator[None]:
    """Runs a concurrent reader: all that it reads must be one of the two states."""
    command = [sys.executable, watcher.__file__, str(lake)]
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, env=environment(), stdin=pipe, stdout=pipe)
    try:
        yield
    finally:
        said, _ = child.communicate(b"\n")
    assert child.returncode == 0
    seen = json.loads(said)
    allowed = [watcher.by_snapshot(place) for place in (lakes.old, lakes.new)]
    for table in watcher.TABLES:
        allowed += [watcher.by_name(place, table) for place in (lakes.old, lakes.new)]
    assert {*seen} <= {json.dumps(one) for one in allowed}
    assert sum(seen.values()) >= 3 * len(watcher.TABLES)


def state_of(lake: Path, lakes: Lakes) -> str:
    """The state of the lake: old or new."""
    changes = {name: differences(lake, getattr(lakes, name)) for name in ("old", "new")}
    [state] = [name for name, found in changes.items() if not found]
    return state


def check(lake: Path, lakes: Lakes, spark: SparkSession, added: str = B) -> str:
    """After a kill: returns the state; then a normal run must produce the new one."""
    state = state_of(lake, lakes)
    outcome = run([A, added], lake, spark)
    assert not outcome.failed
    assert outcome.read == ([added] if state == "old" else [])
    assert differences(lake, lakes.new) == {}
    assert leftovers(lake) == []
    return state


def check_vacuum(lake: Path) -> None:
    """`vacuum` must remove every file on the disk that is in no version."""
    store = Store(lake)
    with store.begin() as started:
        started.vacuum(0)
    for table in TABLES:
        assert set((lake / table).glob("*.parquet")) == set(store.files(table)), table
    known = {*TABLES}
    assert {place.name for place in lake.iterdir()} == known
