"""At the end of a recording, `trace_id` and latencies are those of one run, however long it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.lake.follow.comparison import batch_tables, differences
from tests.lake.follow.growing import GrowingRecording
from tests.lake.follow.test_follow import opened, recording_of
from tests.paths import CAPTURES
from zenlake.lake.derive import derive_task
from zenlake.lake.follow.derive_batch import follow_task
from zenlake.lake.follow.follower import Follower
from zenlake.lake.follow.following import Stop, follow
from zenlake.lake.follow.settings import Settings
from zenlake.lake.pipeline import run as run_pipeline
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES

SMALL_WINDOW = Settings(window_samples=20)
"""Hops of one publication are in different windows."""
SAMPLES = 400_000
MEMORY_BYTES = 48 << 20
"""Less memory than the hashes of these samples need."""


def read_in_steps(recording: GrowingRecording, follower: Follower) -> None:
    while not recording.is_written:
        recording.grow(80)
        follower.step()
    recording.finish()
    follower.step()


def test_samples_are_compared_once_more_when_the_recording_has_ended(
    tmp_path: Path, here: Any
) -> None:
    recording = recording_of(tmp_path, "pubsub_router.pcapng")
    lake = tmp_path / "lake"
    with opened(recording, lake, here, SMALL_WINDOW) as follower:
        read_in_steps(recording, follower)
        batch = batch_tables(tmp_path / "batch", recording.packets)
        assert differences(lake, batch).keys() == {"samples", "latencies"}
        version = Store(lake).version()
        progress = follower.compare_all_samples()
        assert progress is not None
        assert progress.version == Store(lake).version() != version
        assert differences(lake, batch) == {}
        assert follower.compare_all_samples() is None


def test_stopped_follower_compares_a_limited_number_and_the_next_one_all(
    tmp_path: Path, here: Any
) -> None:
    recording = recording_of(tmp_path, "pubsub_router.pcapng")
    lake = tmp_path / "lake"
    settings = Settings(window_samples=20, compared_samples=100, until_end=True)
    with opened(recording, lake, here, settings) as follower:
        read_in_steps(recording, follower)
    stop, notes = Stop(), list[str]()
    stop.request()
    follow([str(recording.folder)], lake, here, stop, settings, note=notes.append)
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch).keys() == {"samples", "latencies"}
    [note] = notes
    assert f"zenlake pipeline --follow {recording.folder} --lake {lake} --until-end" in note
    follow([str(recording.folder)], lake, here, Stop(), settings, note=notes.append)
    assert differences(lake, batch) == {}
    assert len(notes) == 1


def test_recording_that_goes_on_after_the_comparison_is_compared_again(
    tmp_path: Path, here: Any
) -> None:
    recording = recording_of(tmp_path, "pubsub_router.pcapng")
    lake = tmp_path / "lake"
    with opened(recording, lake, here, SMALL_WINDOW) as follower:
        recording.grow(len(recording.packets) // 2)
        follower.step()
        follower.compare_all_samples()
        half = batch_tables(tmp_path / "half", recording.packets[: recording.written])
        assert differences(lake, half) == {}
        read_in_steps(recording, follower)
        assert follower.compare_all_samples() is not None
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}


def test_comparison_leaves_the_rows_of_other_captures(tmp_path: Path, here: Any) -> None:
    """Files that compaction has joined have rows of several captures."""
    recording = recording_of(tmp_path, "pubsub_router.pcapng")
    other, lake = str(CAPTURES / "routers_ring.pcapng.gz"), tmp_path / "lake"
    run_pipeline([other], lake, here)
    with opened(recording, lake, here, SMALL_WINDOW) as follower:
        read_in_steps(recording, follower)
        with Store(lake).begin() as run:
            run.compact()
        shared = [file for file in Store(lake).files("samples") if len(captures_in(file)) > 1]
        assert shared
        assert follower.compare_all_samples() is not None
    batch = batch_tables(tmp_path / "batch", recording.packets, other)
    assert differences(lake, batch) == {}


def captures_in(file: Path) -> set[str]:
    return set(pq.read_table(file)["capture"].to_pylist())


def test_failed_comparison_changes_nothing_and_is_made_by_the_next_run(
    tmp_path: Path, here: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = recording_of(tmp_path, "pubsub_router.pcapng")
    lake = tmp_path / "lake"

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with opened(recording, lake, here, SMALL_WINDOW) as one:
        read_in_steps(recording, one)
        version = Store(lake).version()
        with monkeypatch.context() as patched:
            patched.setattr("zenlake.lake.follow.state.os.replace", fail)
            with pytest.raises(KeyboardInterrupt):
                one.compare_all_samples()
    assert Store(lake).version() == version
    with opened(recording, lake, here, SMALL_WINDOW) as follower:
        follower.step()
        assert follower.compare_all_samples() is not None
    batch = batch_tables(tmp_path / "batch", recording.packets)
    assert differences(lake, batch) == {}


def test_more_samples_than_memory_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each publication has two hops, far from each other, in different files."""
    # Only one attempt, so that a second one does not get more memory.
    first = derive_task.attempts
    monkeypatch.setattr(derive_task, "attempts", lambda *limits: first(*limits)[:1])
    names = [f"{number}.parquet" for number in range(4)]
    part = SAMPLES // len(names)
    for number, name in enumerate(names):
        pq.write_table(samples(number * part, part), tmp_path / name)
    result = follow_task(
        {
            "kind": "all_publications",
            "staging": str(tmp_path),
            "memory_bytes": MEMORY_BYTES,
            "row": {"capture": "c", "address": "c"},
            "files": [
                {"name": name, "path": str(tmp_path / name), "is_shared": False} for name in names
            ],
            "window": [],
        }
    )
    assert "failure" not in result, result
    # The second half of the rows are second hops of the first half.
    assert sorted(result["replaced"]) == names[2:]
    paths = [file["path"] for listed in result["replaced"].values() for file in listed]
    found = duckdb.execute(
        f"SELECT count(*), count(DISTINCT trace_id), min(seq - trace_id), max(seq - trace_id) "
        f"FROM read_parquet({paths})"
    ).fetchall()
    assert found == [(SAMPLES // 2, SAMPLES // 2, SAMPLES // 2, SAMPLES // 2)]
    latencies = sum(file["rows"] for file in result["latencies"])
    assert latencies == SAMPLES


def samples(first: int, count: int) -> pa.Table:
    """Different values: a node sends all of them to a router, which passes them on later."""
    schema = TABLES["samples"].base.arrow
    is_second = first >= SAMPLES // 2
    numbers = range(first, first + count)
    same: dict[str, Any] = {
        "capture": "c",
        "session": "b" if is_second else "a",
        "link": "b" if is_second else "a",
        "kind": "put",
        "key": "k",
        "sender_zid": "2" if is_second else "1",
        "receiver_zid": "3" if is_second else "2",
    }
    each = {
        "seq": [*numbers],
        "trace_id": [*numbers],
        "packet": [*numbers],
        "time_ns": [*numbers],
        "payload": [str(number % (SAMPLES // 2)).encode() for number in numbers],
    }
    columns = {**{name: [value] * count for name, value in same.items()}, **each}
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
