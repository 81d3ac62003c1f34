"""A recording that is followed into a lake in a store; what is kept between versions is local."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import duckdb
import pytest

from tests.chance import IS_FULL
from tests.child_process import child_environment
from tests.lake.follow.comparison import batch_tables
from tests.lake.follow.growing import GrowingRecording
from tests.lake.follow.test_follow import recording_of
from tests.lake.s3 import following
from tests.lake.s3.server import BUCKET
from zenlake.lake.errors import LakeError
from zenlake.lake.follow.follower import Follower
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.follow.settings import Settings
from zenlake.lake.publish import Store
from zenlake.lake.publish.local_copy import on_this_machine
from zenlake.lake.publish.publisher import is_pending
from zenlake.lake.schema import TABLES
from zenlake.lake.stored_files import names_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")


@pytest.fixture
def lake(s3: int) -> str:
    return f"s3://{BUCKET}/{uuid4().hex}.lake"


def follow_once(recording: GrowingRecording, lake: str, spark: SparkSession) -> list[str]:
    """Reads what is recorded and publishes it; the lines for the user."""
    stop, notes = Stop(), list[str]()
    stop.request()
    follow([str(recording.folder)], lake, spark, stop, note=notes.append)
    return notes


def assert_equal_to_batch(recording: GrowingRecording, lake: str, folder: Path) -> None:
    batch = batch_tables(folder / "batch", recording.packets[: recording.written])
    with on_this_machine(Store(lake).snapshot()) as here:
        for table in TABLES:
            text = "SELECT count(*) FROM ({} EXCEPT ALL {})"
            found = rows(here.files(table), table), rows(batch.files(table), table)
            for one, other in (found, found[::-1]):
                [(count,)] = duckdb.execute(text.format(one, other)).fetchall()
                assert count == 0, table


def rows(files: list[Path], table: str) -> str:
    left_out = "read_ns, read_at, sha256, bytes, address"
    columns = f"* EXCLUDE ({left_out})" if table == "captures" else "*"
    source = f"read_parquet({[str(file) for file in files]}, union_by_name = true)"
    return f"(SELECT {columns} REPLACE ('' AS capture) FROM {source})"


def test_versions_in_a_store_equal_one_run_and_go_on_after_a_restart(
    tmp_path: Path, spark: SparkSession, lake: str
) -> None:
    recording = recording_of(tmp_path, "pubsub_router.pcapng")
    recording.grow(len(recording.packets) // 3)
    assert follow_once(recording, lake, spark) == []
    assert_equal_to_batch(recording, lake, tmp_path)
    recording.finish()
    assert follow_once(recording, lake, spark) == []
    assert_equal_to_batch(recording, lake, tmp_path)
    place = recording.folder.with_name(recording.folder.name + ".followed")
    [state] = place.iterdir()
    names = {path.name for path in state.iterdir()}
    assert "lock" in names
    assert "work" not in names
    assert "_followed" not in names_in(Store(lake).address)


def test_state_in_a_given_folder_that_is_lost_is_made_again(
    tmp_path: Path, spark: SparkSession, lake: str
) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    state = tmp_path / "state"
    stop, notes = Stop(), list[str]()
    stop.request()
    for count in (40, 40):
        recording.grow(count)
        settings = Settings(state=str(state))
        follow([str(recording.folder)], lake, spark, stop, settings, note=notes.append)
    assert notes == []
    assert not recording.folder.with_name(recording.folder.name + ".followed").exists()
    shutil.rmtree(state)
    recording.grow(40)
    follow([str(recording.folder)], lake, spark, stop, settings, note=notes.append)
    assert len(notes) == 1
    assert "the recording is read again to packet 80" in notes[0]
    assert_equal_to_batch(recording, lake, tmp_path)


@pytest.mark.skipif(not IS_FULL, reason="publishes dozens of versions: in make test-full")
def test_small_files_are_joined_and_all_samples_compared(
    tmp_path: Path, spark: SparkSession, s3: int, lake: str
) -> None:
    folder = tmp_path / "followed"
    folder.mkdir()
    command = [sys.executable, following.__file__, str(folder), lake]
    subprocess.run(command, check=True, env=child_environment())
    recording = recording_of(tmp_path, following.NAME)
    recording.finish()
    assert_equal_to_batch(recording, lake, tmp_path)
    store = Store(lake)
    assert len(store.snapshot().addresses("messages")) < following.STEPS
    there = [name for name in names_in(store.address / "queries") if is_pending(name)]
    active = [one.name for one in store.snapshot().addresses("queries")]
    assert {*there} <= {*active}, "replaced files are deleted"


@pytest.mark.skipif(not IS_FULL, reason="starts all processes again: in make test-full")
@pytest.mark.usefixtures("s3")
def test_up_has_a_lake_in_a_store(tmp_path: Path, lake: str) -> None:
    from tests.cli.test_up import Up, run_documented_program

    up = Up(tmp_path, lake)
    try:
        run_documented_program(up.endpoint)
        up.until_published("SELECT 1 FROM samples")
        assert up.end(signal.SIGINT) == 0
        assert up.sql("SELECT count(DISTINCT payload) AS n FROM samples") == [{"n": 50}]
    finally:
        up.process.kill()
        up.process.communicate()


def test_second_follower_on_this_machine_is_refused(
    tmp_path: Path, spark: SparkSession, lake: str
) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    store = Store(lake)
    with store.begin() as run:
        one, other = (
            Follower(str(recording.folder), store, run, spark, Settings()) for _ in range(2)
        )
        with one.opened(), pytest.raises(LakeError, match="another process follows"):
            other.opened().__enter__()
