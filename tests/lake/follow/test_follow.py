"""Every version of a followed recording has the rows of one run over the packets until then."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.chance import IS_FULL
from tests.lake.follow.comparison import batch_tables, differences, rows
from tests.lake.follow.growing import GrowingRecording, raw_packets
from tests.paths import CAPTURES
from zenlake.lake.errors import LakeError
from zenlake.lake.follow.follower import Follower
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.follow.settings import Settings
from zenlake.lake.publish import Store
from zenlake.lake.publish.publisher import is_pending
from zenlake.limits import (
    FOLLOW_COMPARED_SAMPLES_MAX,
    FOLLOW_PENDING_EVENTS_MAX,
    FOLLOW_REPLAY_BYTES_MAX,
    FOLLOW_WINDOW_SAMPLES_MAX,
)

SEGMENTS = 9
"""Segments so short that requests, replies and fragments are in different ones."""


def recording_of(folder: Path, name: str) -> GrowingRecording:
    found = raw_packets(CAPTURES / name)
    return GrowingRecording(folder / "recording", found, max(3, len(found) // SEGMENTS))


@contextmanager
def opened(
    recording: GrowingRecording, lake: Path, spark: Any, settings: Settings
) -> Iterator[Follower]:
    store = Store(lake)
    with store.begin() as run:
        follower = Follower(str(recording.folder), store, run, spark, settings)
        with follower.opened():
            yield follower


VERSIONS = [("queries.pcapng.gz", 1), ("fragments.pcapng.gz", 4), ("impaired.pcapng.gz", 5)]
if IS_FULL:
    # Of other captures only the last version is compared, with rows settled before.
    VERSIONS += [("liveliness.pcapng.gz", 2), ("routers_ring.pcapng.gz", 3)]


@pytest.mark.parametrize(("name", "seed"), VERSIONS)
def test_every_version_equals_one_run_over_the_packets_so_far(
    tmp_path: Path, here: Any, name: str, seed: int
) -> None:
    random = Random(seed)
    recording = recording_of(tmp_path, name)
    count = len(recording.packets)
    fewest = 1 if IS_FULL else count // 4
    lake = tmp_path / "lake"
    versions = 0
    with opened(recording, lake, here, Settings()) as follower:
        while not follower.is_ended:
            if recording.is_written:
                recording.finish()
            else:
                recording.grow(random.randint(fewest, count // 2), random.choice((0, 9, 50)))
            if follower.step() is None:
                continue
            versions += 1
            batch = batch_tables(tmp_path / "batch", recording.packets[: follower.packets])
            assert differences(lake, batch) == {}, f"after packet {follower.packets}"
        assert follower.packets == count
    assert versions > 1
    assert rows(lake)["messages"] > 0


def test_follower_goes_on_behind_the_last_version(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "queries.pcapng.gz")
    lake = tmp_path / "lake"
    random = Random(7)
    starts = 0
    while not recording.is_written:
        recording.grow(random.randint(1, 300 if IS_FULL else 600), 20)
        with opened(recording, lake, here, Settings(rows_max=400)) as follower:
            starts += 1
            follower.step()
    recording.finish()
    follow([str(recording.folder)], lake, here, Stop(), Settings(until_end=True))
    assert starts > 2
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}


@pytest.mark.parametrize("name", ["queries.pcapng.gz", "sessions.pcapng.gz"][: 1 + IS_FULL])
def test_follower_of_a_long_recording_begins_with_the_state_of_a_segment(
    tmp_path: Path, here: Any, name: str
) -> None:
    recording = recording_of(tmp_path, name)
    lake = tmp_path / "lake"
    settings = Settings(replay_bytes=1, until_end=True)
    begun: list[int | None] = []
    while not recording.is_written:
        recording.grow(len(recording.packets) // 3)
        with opened(recording, lake, here, settings) as follower:
            begun.append(follower._start()["segment"])
            follower.step()
    assert begun[0] is None
    assert all(segment is not None and segment > 1 for segment in begun[1:])
    # The first segments are not needed any more: a recorder may delete them.
    (recording.folder / "00000001.pcapng").unlink()
    recording.finish()
    follow([str(recording.folder)], lake, here, Stop(), settings)
    batch = batch_tables(tmp_path / "batch", recording.packets)
    # Rules keep no facts from before the state: a note may be repeated, a count begin anew.
    assert differences(lake, batch).keys() <= {"violations"}


@pytest.mark.parametrize(
    "name",
    ["queries.pcapng.gz", "routers_ring.pcapng.gz", "liveliness.pcapng.gz"],
)
def test_settled_rows_equal_those_of_one_run(tmp_path: Path, here: Any, name: str) -> None:
    recording = recording_of(tmp_path, name)
    lake = tmp_path / "lake"
    with opened(recording, lake, here, Settings(settle_s=0.3, settle_events=5)) as follower:
        while not recording.is_written:
            recording.grow(len(recording.packets) // 6 + 1)
            follower.step()
        recording.finish()
        follower.step()
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}
    files = [*Store(lake).files("queries"), *Store(lake).files("declarations")]
    final = [file for file in files if not is_pending(file.name)]
    assert sum(pq.read_metadata(file).num_rows for file in final) > 0, "nothing was settled"


def test_sessions_that_were_silent_for_an_hour_go_on(tmp_path: Path, here: Any) -> None:
    """At the end of a version their leases are over, and nothing has ended."""
    found = raw_packets(CAPTURES / "liveliness.pcapng.gz")
    middle = len(found) // 3
    for packet in found[middle:]:
        packet.time_ns += 3_600_000_000_000
    recording = GrowingRecording(tmp_path / "recording", found)
    lake = tmp_path / "lake"
    with opened(recording, lake, here, Settings(settle_s=0.3, settle_events=5)) as follower:
        for count in (middle, 1, 1, len(found)):
            recording.grow(count)
            follower.step()
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}


def state_files(lake: Path) -> list[Path]:
    return [*(lake / "_followed").glob("*/*_events-*.parquet")]


def test_oldest_events_above_the_limit_are_given_up_and_reported(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "queries.pcapng.gz")
    lake = tmp_path / "lake"
    settings = Settings(settle_events=50, pending_events=100)
    with opened(recording, lake, here, settings) as follower:
        while not recording.is_written:
            recording.grow(90 if IS_FULL else 180)
            follower.step()
    kept = [pq.read_metadata(file).num_rows for file in state_files(lake)]
    assert sum(kept) < 400
    batch = batch_tables(tmp_path / "batch", recording.packets)
    found = differences(lake, batch)
    assert found["losses"][0] > 0
    kinds = [pq.read_table(file)["kind"].to_pylist() for file in Store(lake).files("losses")]
    assert {kind for one in kinds for kind in one} == {"given_up"}
    assert rows(lake)["queries"] == rows(batch)["queries"], "no row is lost, and none is double"
    assert rows(lake)["replies"] == rows(batch)["replies"]
    assert found.keys().isdisjoint(("messages", "batches", "sessions", "violations"))


def test_limits_are_the_defaults() -> None:
    settings = Settings()
    assert settings.replay_bytes == FOLLOW_REPLAY_BYTES_MAX
    assert settings.pending_events == FOLLOW_PENDING_EVENTS_MAX
    assert settings.window_samples == FOLLOW_WINDOW_SAMPLES_MAX
    assert settings.compared_samples == FOLLOW_COMPARED_SAMPLES_MAX


@pytest.mark.parametrize("joined", [16 if IS_FULL else 4])
def test_small_files_are_joined(
    tmp_path: Path, here: Any, monkeypatch: pytest.MonkeyPatch, joined: int
) -> None:
    monkeypatch.setattr("zenlake.lake.follow.derivation.JOINED_FILES", joined)
    recording = recording_of(tmp_path, "queries.pcapng.gz")
    lake = tmp_path / "lake"
    with opened(recording, lake, here, Settings()) as follower:
        while not recording.is_written:
            recording.grow(len(recording.packets) // (2 * joined))
            assert follower.step() is not None
        versions = Store(lake).version()
        assert versions is not None
        assert versions > 2 * joined
    assert len(Store(lake).files("messages")) < joined + 4
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}
    state = [*(lake / "_followed").glob("*/*")]
    assert len(state) < 60, "files of events are joined too, and those of older batches removed"


def test_replaced_files_are_deleted_after_a_while(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "queries.pcapng.gz")
    lake = tmp_path / "lake"
    for keep_s, is_kept in ((3_600.0, True), (0.0, False)):
        with opened(recording, lake, here, Settings(keep_s=keep_s)) as follower:
            for _ in range(4):
                recording.grow(50)
                follower.step()
        found = {file.name for file in (lake / "queries").glob("*.parquet")}
        active = {file.name for file in Store(lake).files("queries")}
        assert (found > active) is is_kept
        assert active <= found


def test_stop_reads_what_is_recorded_and_publishes_it(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "queries.pcapng.gz")
    recording.grow(500)
    stop = Stop()
    stop.request()
    lake = tmp_path / "lake"
    follow([str(recording.folder)], lake, here, stop, Settings(rows_max=100))
    batch = batch_tables(tmp_path / "batch", recording.packets[:500])
    assert differences(lake, batch) == {}


def test_two_recordings_are_two_captures_of_one_lake(tmp_path: Path, here: Any) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    recordings = [
        recording_of(first, "queries.pcapng.gz"),
        recording_of(second, "liveliness.pcapng.gz"),
    ]
    for one in recordings:
        one.finish()
    lake = tmp_path / "lake"
    paths = [str(one.folder) for one in recordings]
    follow(paths, lake, here, Stop(), Settings(until_end=True))
    assert sorted(Store(lake).manifest().captures) == sorted(paths)


def test_other_recording_under_the_same_path_is_refused(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    recording.finish()
    lake = tmp_path / "lake"
    follow([str(recording.folder)], lake, here, Stop(), Settings(until_end=True))
    (recording.folder / "recording.json").write_text('{"format": 1, "id": "other"}')
    with pytest.raises(LakeError, match="is another recording than the one that the lake has"):
        follow([str(recording.folder)], lake, here, Stop(), Settings(until_end=True))


def test_second_follower_of_the_same_recording_is_refused(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "liveliness.pcapng.gz")
    lake = tmp_path / "lake"
    with (
        opened(recording, lake, here, Settings()),
        pytest.raises(LakeError, match="another process follows"),
        opened(recording, lake, here, Settings()),
    ):
        pass


def test_reader_that_dies_is_started_again(tmp_path: Path, here: Any) -> None:
    recording = recording_of(tmp_path, "queries.pcapng.gz")
    lake = tmp_path / "lake"
    with opened(recording, lake, here, Settings()) as follower:
        while not recording.is_written:
            recording.grow(150)
            follower.step()
            if follower._reader is not None:
                os.kill(follower._reader.pid, signal.SIGKILL)
        recording.finish()
        for _ in range(3):
            follower.step()
        assert follower.packets == len(recording.packets)
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}
