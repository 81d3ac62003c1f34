"""Cursor: every packet once, in order, however the recording grows, is sealed and trimmed."""

from __future__ import annotations

import fcntl
import json
import random
from pathlib import Path

import pytest

from tests.capture.recorded import RECORDING_ID, segment_bytes, write_recording
from zenlake.capture import segment_format as fmt
from zenlake.capture import segment_reader
from zenlake.capture.packet import Packet
from zenlake.capture.recordings import MARKER_NAME, segment_name
from zenlake.errors import CaptureError, SegmentsDeletedError
from zenlake.recording.cursor import LOCK_NAME, Cursor, Position


def made(count: int, first: int = 1) -> list[Packet]:
    chance = random.Random(first)
    return [
        Packet(first + i, 10**18 + first + i, fmt.LINK_TYPE_RAW_IP, chance.randbytes(30 + i), 0)
        for i in range(count)
    ]


def empty_recording(folder: Path) -> Path:
    folder.mkdir()
    (folder / MARKER_NAME).write_text(json.dumps({"format": 1, "id": RECORDING_ID}))
    return folder


def numbers(found: list[Packet]) -> list[int]:
    return [one.number for one in found]


def test_growing_bytes_give_each_packet_once(tmp_path: Path) -> None:
    folder = empty_recording(tmp_path / "recording")
    cursor = Cursor(str(folder))
    assert cursor.read(1_000) == []
    parts = [made(6, 1), made(6, 7), made(6, 13)]
    found: list[Packet] = []
    chance = random.Random(2)
    for index, part in enumerate(parts):
        state = [one for before in parts[:index] for one in before]
        data = segment_bytes(index + 1, part, state)
        sealed = folder / segment_name(index + 1)
        growing = sealed.with_name(sealed.name + ".part")
        written = 0
        while written < len(data):
            step = chance.randrange(1, 120)
            with growing.open("ab") as file:
                file.write(data[written : written + step])
            written += step
            found += cursor.read(chance.choice((1, 200, 100_000)))
        growing.rename(sealed)
        while more := cursor.read(50):
            found += more
    sent = [one for part in parts for one in part]
    assert [(one.number, one.time_ns, one.data) for one in found] == [
        (one.number, one.time_ns, one.data) for one in sent
    ]
    assert not cursor.skipped
    assert cursor.number == 18


def test_position_continues_after_the_packets_that_were_read(tmp_path: Path) -> None:
    sent = made(30)
    folder = write_recording(tmp_path / "recording", [sent[:10], sent[10:20], sent[20:]])
    cursor = Cursor(str(folder))
    found: list[Packet] = []
    while more := cursor.read(1):
        found += more
        cursor.close()
        cursor = Cursor(str(folder), cursor.position)
    assert numbers(found) == [*range(1, 31)]


def test_reading_begins_with_the_state_of_the_first_segment(tmp_path: Path) -> None:
    sent = made(30)
    folder = write_recording(tmp_path / "recording", [sent[:10], sent[10:20], sent[20:]])
    (folder / segment_name(1)).unlink()
    with Cursor(str(folder)) as cursor:
        assert numbers(cursor.read(1)) == [*range(-9, 1), 11]
    with Cursor(str(folder), Position(3, 0)) as cursor:
        assert numbers(cursor.read(1)) == [*range(-19, 1), 21]


def test_unsealed_tail_of_a_killed_recorder_is_counted_when_another_segment_begins(
    tmp_path: Path,
) -> None:
    sent = made(30)
    folder = write_recording(tmp_path / "recording", [sent[:10]], is_growing=True)
    part = folder / (segment_name(1) + ".part")
    part.write_bytes(part.read_bytes()[:-5])
    cursor = Cursor(str(folder))
    assert numbers(cursor.read(10_000)) == [*range(1, 10)]
    assert cursor.read(10_000) == []
    assert not cursor.skipped
    (folder / segment_name(2)).write_bytes(segment_bytes(2, sent[10:]))
    assert numbers(cursor.read(10_000)) == [*range(11, 31)]
    assert segment_reader.MISSING in cursor.skipped.counts


def test_deleted_segments_are_an_error_with_their_numbers(tmp_path: Path) -> None:
    """R07, for a reader: the error names the range, and reading continues if requested."""
    sent = made(40)
    parts = [sent[:10], sent[10:20], sent[20:30], sent[30:]]
    folder = write_recording(tmp_path / "recording", parts)
    cursor = Cursor(str(folder), Position(1, 0))
    for number in (1, 2, 3):
        (folder / segment_name(number)).unlink()
    with pytest.raises(SegmentsDeletedError, match="segments 1 to 3 were deleted") as error:
        cursor.read(10)
    assert (error.value.first, error.value.last) == (1, 3)
    assert cursor.skip_deleted() == 3
    found = cursor.read(100_000)
    assert numbers(found) == [*range(-29, 1), *range(31, 41)]


def test_segments_deleted_between_two_are_an_error(tmp_path: Path) -> None:
    sent = made(40)
    parts = [sent[:10], sent[10:20], sent[20:30], sent[30:]]
    folder = write_recording(tmp_path / "recording", parts)
    (folder / segment_name(2)).unlink()
    (folder / segment_name(3)).unlink()
    cursor = Cursor(str(folder))
    assert numbers(cursor.read(100_000)) == [*range(1, 11)]
    with pytest.raises(SegmentsDeletedError, match="segments 2 to 3"):
        cursor.read(1)
    assert cursor.skip_deleted() == 2


def test_damaged_block_is_skipped(tmp_path: Path) -> None:
    sent = made(10)
    folder = write_recording(tmp_path / "recording", [sent])
    file = folder / segment_name(1)
    data = bytearray(file.read_bytes())
    data[data.index(sent[4].data)] ^= 1
    file.write_bytes(data)
    cursor = Cursor(str(folder))
    assert numbers(cursor.read(100_000)) == [1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert cursor.skipped.counts == {segment_reader.WRONG_CHECKSUM: 1}


def test_recording_ends_when_all_is_sealed_and_nobody_writes(tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "recording", [made(3), made(3, 4)], is_growing=True)
    cursor = Cursor(str(folder))
    assert not cursor.is_ended
    part = folder / (segment_name(2) + ".part")
    part.rename(folder / segment_name(2))
    assert cursor.is_ended
    with (folder / LOCK_NAME).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not cursor.is_ended
    assert cursor.is_ended


def test_folder_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"no recording: it has no recording\.json"):
        Cursor(str(tmp_path))
