"""Timestamps of rows are the same whenever the row is sent."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from zenlake.errors import ZError
from zenlake.sink.stream_progress import BatchStart, latest_batch_start
from zenlake.sink.timestamps import RowClock

NOW_NS = 1_794_995_600_321_000_000


def test_a_row_has_the_same_timestamp_in_every_attempt() -> None:
    assert RowClock("q/1", 3, NOW_NS).at(7) == RowClock("q/1", 3, NOW_NS).at(7)


def test_rows_batches_and_partitions_have_different_timestamps() -> None:
    clocks = [
        RowClock(write, partition, NOW_NS) for write in ("q/1", "q/2") for partition in (0, 1)
    ]
    assert len({clock.at(row) for clock in clocks for row in range(100)}) == 400


def test_timestamps_grow_within_a_partition_and_stay_near_its_start() -> None:
    clock = RowClock("q/1", 0, NOW_NS)
    stamps = [clock.at(row) for row in (0, 1, 2, 1_000_000)]
    assert stamps == sorted(stamps)
    assert stamps[-1].get_time_as_ntp64().as_nanos() - NOW_NS < 1_000_000


def test_timestamps_of_the_column() -> None:
    clock = RowClock("q/1", 0, NOW_NS)
    made = clock.from_value(NOW_NS)
    assert made.get_time_as_ntp64().as_nanos() == NOW_NS
    assert made.get_id() == clock.at(0).get_id()
    assert str(clock.from_value("7709448928895638048/ab12")) == "7709448928895638048/ab12"
    assert clock.from_value("2026-11-18T10:00:00.5Z/ab12").get_time().microsecond == 500_000


@pytest.mark.parametrize("value", [-1, 1 << 63, "x", "1/", "/1", "1/xyz", f"{1 << 64}/ab", "T/ab"])
def test_invalid_timestamps_are_errors(value: int | str) -> None:
    with pytest.raises(ZError):
        RowClock("q/1", 0, NOW_NS).from_value(value)


def test_the_newest_batch_of_a_checkpoint_is_found(tmp_path: Path) -> None:
    offsets = tmp_path / "offsets"
    offsets.mkdir()
    for batch in (9, 10):
        (offsets / str(batch)).write_text(f'v1\n{{"batchTimestampMs":{batch}}}\n0')
    (offsets / ".10.crc").touch()
    expected = BatchStart(10, 10_000_000)
    assert latest_batch_start(str(tmp_path)) == expected
    assert latest_batch_start(f"file:{tmp_path}") == expected
    assert latest_batch_start(f"file://{tmp_path}") == expected


@pytest.mark.parametrize(
    "text", ["", "v1", "v1\n", "v1\n[]", "v1\n{}", 'v1\n{"batchTimestampMs":"x"}']
)
def test_an_unreadable_checkpoint_has_no_batch(tmp_path: Path, text: str) -> None:
    assert latest_batch_start(None) is None
    assert latest_batch_start("s3://bucket/checkpoint") is None
    assert latest_batch_start(str(tmp_path)) is None
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").write_text(text)
    assert latest_batch_start(str(tmp_path)) is None


def test_the_start_of_a_write_is_not_in_the_future() -> None:
    now_ns = time.time_ns()
    assert RowClock("q", 0, now_ns).at(0).get_time_as_ntp64().as_nanos() <= now_ns + 1
