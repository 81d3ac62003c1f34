"""Streams of recordings, called as Spark calls them: each row once, whatever the batches."""

from __future__ import annotations

import json
import logging
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pytest

from tests.lake.source.live.recorded import (
    RECORDING_ID,
    Recorded,
    TestRecorder,
    recorded_packets,
    write_recording,
)
from tests.lake.source.live.streams import ALL, Stream, rows
from zenlake.capture import segment_format as fmt
from zenlake.errors import LocalError, ZenlakeError
from zenlake.lake.exact_reader.exact_tables import stage
from zenlake.limits import STREAM_HANDSHAKE_SECONDS_MAX

TABLES = ("batches", "messages", "samples")
NAMES = ("sessions.pcapng.gz", "fragments.pcapng.gz", "routers_ring.pcapng.gz")


@pytest.fixture(scope="module")
def packets() -> list[Recorded]:
    return recorded_packets("sessions.pcapng.gz", "fragments.pcapng.gz")


@pytest.fixture(scope="module")
def expected(
    packets: list[Recorded], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, pa.Table]:
    """All rows, read at once."""
    return expected_rows(tmp_path_factory.mktemp("expected") / "recording", packets)


def expected_rows(folder: Path, packets: list[Recorded]) -> dict[str, pa.Table]:
    write_recording(folder, packets, 1)
    return stage(str(folder / "00000001.pcapng.part"), "expected")


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    assert rows(found.select(expected.column_names)) == rows(expected)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("limit", [10_000, 1_000_000])
def test_every_row_is_read_once_with_any_limit(
    tmp_path: Path, packets: list[Recorded], expected: dict[str, pa.Table], table: str, limit: int
) -> None:
    folder = write_recording(tmp_path / "recording", packets, 7)
    assert_same(Stream(folder, table, maxBytesPerTrigger=str(limit)).all(), expected[table])


@pytest.mark.parametrize("limit", [1, 1_000, 10_000])
def test_limit_of_bytes_is_never_exceeded(tmp_path: Path, limit: int) -> None:
    """A batch of one block may exceed it: otherwise the stream would not go on."""
    packets = recorded_packets("pubsub_router.pcapng")
    folder = write_recording(tmp_path / "recording", packets, 3)
    stream = Stream(folder, "batches", maxBytesPerTrigger=str(limit))
    start = stream.start()
    batches = 0
    while (end := stream.next(start)) != start:
        batches += 1
        pieces = [one.value for one in stream.reader.partitions(start, end)]
        size = sum(piece.stop - piece.start for piece in pieces)
        packets_read = end["packet"] - start["packet"]
        assert size <= limit or packets_read <= 1
        start = end
    assert start["packet"] == len(packets)
    assert batches > (100 if limit == 1 else 2)


def test_limit_of_files_is_never_exceeded(tmp_path: Path, packets: list[Recorded]) -> None:
    folder = write_recording(tmp_path / "recording", packets, 7)
    stream = Stream(folder, "batches", maxFilesPerTrigger="2")
    start = stream.start()
    segments = []
    while (end := stream.next(start)) != start:
        segments.append({one.value.name for one in stream.reader.partitions(start, end)})
        start = end
    assert [len(names) for names in segments] == [2, 2, 2, 1]


def test_all_available_ignores_limits(tmp_path: Path, packets: list[Recorded]) -> None:
    folder = write_recording(tmp_path / "recording", packets, 7)
    stream = Stream(folder, "batches", maxBytesPerTrigger="1", maxFilesPerTrigger="1")
    assert stream.next(stream.start(), ALL)["packet"] == len(packets)


@pytest.mark.parametrize("count", [1, 2, 8, 40])
def test_batch_is_divided_into_partitions(
    tmp_path: Path, packets: list[Recorded], expected: dict[str, pa.Table], count: int
) -> None:
    folder = write_recording(tmp_path / "recording", packets, 2)
    stream = Stream(folder, "messages", minPartitions=str(count))
    assert_same(stream.batch(), expected["messages"])
    assert count <= stream.partitions <= 2 * count + 2


def test_rows_appear_while_the_recording_grows(
    tmp_path: Path, packets: list[Recorded], expected: dict[str, pa.Table]
) -> None:
    recorder = TestRecorder(tmp_path / "recording")
    stream = Stream(recorder.folder, "messages")
    found = [stream.batch()]
    for start in range(0, len(packets), 97):
        recorder.write(packets[start : start + 97])
        found.append(stream.batch())
        if start % 2:
            recorder.rotate()
    recorder.seal()
    found.append(stream.batch())
    assert sum(part.num_rows > 0 for part in found) >= len(packets) // 97
    assert_same(pa.concat_tables(found), expected["messages"])


def test_block_that_is_being_written_is_left_for_the_next_batch(
    tmp_path: Path, packets: list[Recorded]
) -> None:
    recorder = TestRecorder(tmp_path / "recording")
    recorder.write(packets[:50])
    whole = recorder.path.read_bytes()
    recorder.write(packets[50:60])
    later = recorder.path.read_bytes()
    stream = Stream(recorder.folder, "batches")
    found = []
    for size in range(len(whole) - 40, len(later) + 1, 13):
        recorder.path.write_bytes(later[:size])
        found.append(stream.batch())
    recorder.path.write_bytes(later)
    found.append(stream.batch())
    wanted = expected_rows(tmp_path / "expected", packets[:60])
    assert_same(pa.concat_tables(found), wanted["batches"])


def test_batch_in_two_packets_is_not_cut(tmp_path: Path) -> None:
    """A batch of 65,535 bytes needs two packets."""
    packets = recorded_packets("pubsub_router.pcapng")
    place = next(i for i, one in enumerate(packets) if one.flags and len(one.data) > 200)
    first, rest = split_batch(packets[place])
    recorder = TestRecorder(tmp_path / "recording")
    recorder.write([*packets[:place], first])
    stream = Stream(recorder.folder, "batches")
    stream.batch()
    assert stream.offset is not None
    assert stream.offset["packet"] == place
    recorder.write([rest])
    assert stream.batch().num_rows == 1
    assert stream.offset["packet"] == place + 2


def split_batch(packet: Recorded) -> tuple[Recorded, Recorded]:
    """The batch with a length of 65,535 bytes, in two packets."""
    data = packet.data[:40] + b"\xff\xff" + packet.data[42:].ljust(65_493, b"\0")
    seq = int.from_bytes(data[24:28], "big") + 65_495
    rest = data[:24] + seq.to_bytes(4, "big") + data[28:40] + bytes(42)
    flags = packet.flags & ~fmt.FIRST
    return packet._replace(data=_with_length(data)), Recorded(
        packet.time_ns, _with_length(rest), flags
    )


def _with_length(data: bytes) -> bytes:
    return data[:2] + len(data).to_bytes(2, "big") + data[4:]


def test_any_start_is_possible_after_a_restart(
    tmp_path: Path, packets: list[Recorded], expected: dict[str, pa.Table]
) -> None:
    """Every batch is planned and read by a new process."""
    folder = write_recording(tmp_path / "recording", packets, 3)
    offset = None
    found = []
    while True:
        stream = Stream(folder, "samples", maxBytesPerTrigger="30k")
        stream.offset = offset
        found.append(stream.batch())
        if stream.offset == offset:
            break
        offset = stream.offset
    assert_same(pa.concat_tables(found), expected["samples"])


def test_same_offsets_give_the_same_rows_after_more_was_recorded(
    tmp_path: Path, packets: list[Recorded]
) -> None:
    recorder = TestRecorder(tmp_path / "recording")
    recorder.write(packets[:300])
    stream = Stream(recorder.folder, "messages")
    start = stream.start()
    end = stream.next(start)
    first = rows(stream.rows(start, end))
    recorder.write(packets[300:400])
    recorder.rotate()
    recorder.write(packets[400:])
    again = Stream(recorder.folder, "messages", minPartitions="5")
    assert rows(again.rows(start, end)) == first


def test_available_now_reads_to_the_mark(
    tmp_path: Path, packets: list[Recorded], expected: dict[str, pa.Table]
) -> None:
    recorder = TestRecorder(tmp_path / "recording")
    found = []
    offset = None
    for start in range(0, len(packets), 300):
        recorder.write(packets[start : start + 200])
        stream = Stream(recorder.folder, "messages", maxBytesPerTrigger="15k")
        stream.offset = offset
        stream.reader.prepareForTriggerAvailableNow()
        mark = recorder.number
        found.append(stream.batch())
        # The recording grows while the query runs.
        recorder.write(packets[start + 200 : start + 300])
        found.append(stream.all())
        offset = stream.offset
        assert offset is not None
        assert offset["packet"] == mark
    last = Stream(recorder.folder, "messages")
    last.offset = offset
    found.append(last.batch())
    assert_same(pa.concat_tables(found), expected["messages"])


def test_conditions_choose_rows(tmp_path: Path, packets: list[Recorded]) -> None:
    folder = write_recording(tmp_path / "recording", packets, 3)
    everything = Stream(folder, "messages").all()
    some = Stream(folder, "messages", kind="PUSH", key="**").all()
    kinds = set(some["kind"].to_pylist())
    assert kinds <= {"PUSH/PUT", "PUSH/DEL"}
    wanted = [kind for kind in everything["kind"].to_pylist() if kind in kinds]
    assert some.num_rows == len(wanted) > 0


def test_starts_at_an_offset_a_time_or_the_end(tmp_path: Path, packets: list[Recorded]) -> None:
    folder = write_recording(tmp_path / "recording", packets, 4)
    limited = Stream(folder, "batches", maxBytesPerTrigger="70k")
    offset = limited.next(limited.start())
    text = json.dumps({"segment": offset["segment"], "position": offset["position"]})
    from_offset = Stream(folder, "batches", startingOffsets=text)
    assert from_offset.start() == offset
    assert Stream(folder, "batches", startingOffsets="latest").start()["packet"] == len(packets)
    time_ns = packets[400].time_ns
    from_time = Stream(folder, "batches", startingTimestamp=str(time_ns)).start()
    assert packets[from_time["packet"]].time_ns >= time_ns
    assert packets[from_time["packet"] - 1].time_ns < time_ns
    late = Stream(folder, "batches", startingTimestamp="2100-01-01").start()
    assert late["packet"] == len(packets)


@pytest.mark.parametrize(
    ("offset", "complaint"),
    [
        ({"segment": "00000001", "position": 17}, "not the end of a batch"),
        ({"segment": "00000001", "position": 1 << 60}, "not the end of a batch"),
        ({"segment": "00000099", "position": 0}, "has no '00000099' to start from"),
        ({"segment": "recording.json", "position": 0}, "is no segment"),
        ({"segment": "00000001", "position": 0, "recording": "xyz"}, "another folder"),
    ],
)
def test_offsets_that_do_not_exist_are_errors(
    tmp_path: Path, packets: list[Recorded], offset: dict[str, object], complaint: str
) -> None:
    folder = write_recording(tmp_path / "recording", packets[:100], 2)
    stream = Stream(folder, "batches", startingOffsets=json.dumps(offset))
    with pytest.raises(ZenlakeError) as raised:
        stream.start()
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


def test_checkpoint_of_another_folder_is_refused(tmp_path: Path, packets: list[Recorded]) -> None:
    one = write_recording(tmp_path / "one", packets[:100], 2)
    other = TestRecorder(tmp_path / "other", recording="ff" * 16)
    other.write(packets[:100])
    stream = Stream(one, "batches")
    stream.all()
    moved = Stream(other.folder, "batches")
    with pytest.raises(LocalError, match="a checkpoint cannot be used for another folder"):
        moved.next(stream.offset or {})


def test_removed_segments_stop_the_query_or_are_counted(
    tmp_path: Path,
    packets: list[Recorded],
    expected: dict[str, pa.Table],
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = write_recording(tmp_path / "recording", packets, 7)
    stream = Stream(folder, "batches", maxFilesPerTrigger="1")
    before = stream.batch()
    for number in (1, 2, 3):
        (folder / f"{number:08}.pcapng").unlink()
    size = -(-len(packets) // 7)
    with pytest.raises(ZenlakeError) as raised:
        stream.batch()
    missing = f"packets {size + 1} to {3 * size}, segments 00000001 to 00000003 are gone"
    assert missing in str(raised.value)
    tolerant = Stream(folder, "batches", failOnDataLoss="false")
    tolerant.offset = stream.offset
    with caplog.at_level(logging.WARNING, "zenlake.lake.source"):
        after = tolerant.all()
    assert [missing in record.getMessage() for record in caplog.records] == [True]
    numbers = expected["batches"]["packet"].to_pylist()
    kept = [number for number in numbers if number <= size or number > 3 * size]
    assert sorted(pa.concat_tables([before, after])["packet"].to_pylist()) == sorted(kept)


def test_segment_removed_after_planning_is_a_loss(
    tmp_path: Path, packets: list[Recorded], caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_recording(tmp_path / "recording", packets, 3)
    stream = Stream(folder, "batches")
    tolerant = Stream(folder, "batches", failOnDataLoss="false")
    start = stream.start()
    tasks = stream.reader.partitions(start, stream.next(start))
    (folder / "00000002.pcapng").unlink()
    with pytest.raises(ZenlakeError, match="00000002 was removed before its packets from"):
        list(stream.reader.read(tasks[1]))
    with caplog.at_level(logging.WARNING, "zenlake.lake.source"):
        has_rows = [bool(list(tolerant.reader.read(task))) for task in tasks]
    assert has_rows == [True, False, True]
    assert len(caplog.records) == 1


def test_removed_segment_that_was_read_is_no_loss(tmp_path: Path, packets: list[Recorded]) -> None:
    recorder = TestRecorder(tmp_path / "recording")
    recorder.write(packets[:100])
    stream = Stream(recorder.folder, "batches")
    stream.batch()
    recorder.rotate()
    (recorder.folder / "00000001.pcapng").unlink()
    recorder.write(packets[100:150])
    assert stream.batch().num_rows
    assert stream.offset is not None
    assert stream.offset["packet"] == 150


def test_segment_missing_in_the_middle_is_a_loss(tmp_path: Path, packets: list[Recorded]) -> None:
    folder = write_recording(tmp_path / "recording", packets, 5)
    (folder / "00000003.pcapng").unlink()
    with pytest.raises(ZenlakeError, match="segments 00000003 to 00000003 are gone"):
        Stream(folder, "batches").batch()
    found = Stream(folder, "batches", failOnDataLoss="false").all()
    assert found.num_rows


def test_damaged_block_is_skipped_and_its_neighbours_are_read(
    tmp_path: Path, packets: list[Recorded], expected: dict[str, pa.Table]
) -> None:
    folder = write_recording(tmp_path / "recording", packets, 2)
    path = folder / "00000001.pcapng"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)
    stream = Stream(folder, "batches", maxBytesPerTrigger="20k")
    found = stream.all()
    assert stream.offset is not None
    assert stream.offset["packet"] == len(packets)
    assert 0 < expected["batches"].num_rows - found.num_rows < 20


def test_folders_that_are_no_recordings_are_errors(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(LocalError, match="is no recording and has no captures"):
        Stream(tmp_path).start()
    with pytest.raises(LocalError, match="does not exist: a stream follows a folder"):
        Stream(tmp_path / "nothing").start()
    with pytest.raises(LocalError, match="is a file: a stream follows a folder"):
        Stream(tmp_path / "notes.txt").start()
    (tmp_path / "recording.json").write_text("[" * 4_000)
    with pytest.raises(LocalError, match="does not describe a recording"):
        Stream(tmp_path).start()
    (tmp_path / "recording.json").write_text('{"format": 2}')
    with pytest.raises(LocalError, match="does not describe a recording of format 1"):
        Stream(tmp_path).start()


def test_empty_recording_begins_when_something_is_recorded(
    tmp_path: Path, packets: list[Recorded]
) -> None:
    recorder = TestRecorder(tmp_path / "recording")
    part = recorder.path.read_bytes()
    recorder.path.unlink()
    stream = Stream(recorder.folder, "batches")
    assert stream.batch().num_rows == 0
    recorder.path.write_bytes(part[:10])
    assert stream.batch().num_rows == 0
    recorder.path.write_bytes(part)
    recorder.write(packets[:60])
    assert stream.batch().num_rows
    shutil.rmtree(recorder.folder)
    with pytest.raises(ZenlakeError):
        stream.batch()


def test_handshake_is_read_in_one_batch(tmp_path: Path, packets: list[Recorded]) -> None:
    """The rows of a handshake have ids that only its end reveals."""
    now = time.time_ns()
    fresh = [one._replace(time_ns=now + place) for place, one in enumerate(packets[:100])]
    place = next(i for i, one in enumerate(fresh) if one.flags)
    recorder = TestRecorder(tmp_path / "recording")
    recorder.write(fresh[: place + 1])
    stream = Stream(recorder.folder, "messages")
    assert stream.batch().num_rows == 0
    recorder.write(fresh[place + 1 :])
    wanted = expected_rows(tmp_path / "expected", fresh)
    assert_same(stream.batch(), wanted["messages"])


def test_handshake_that_never_ends_does_not_stop_the_stream(
    tmp_path: Path, packets: list[Recorded]
) -> None:
    """After the limit its batch is read, whether more was recorded or not."""
    place = next(i for i, one in enumerate(packets) if one.flags)
    old_ns = time.time_ns() - (STREAM_HANDSHAKE_SECONDS_MAX + 1) * 1_000_000_000
    begun = [one._replace(time_ns=old_ns) for one in packets[: place + 1]]
    recorder = TestRecorder(tmp_path / "recording")
    recorder.write(begun)
    assert Stream(recorder.folder, "messages").batch().num_rows == 1


def test_offsets_have_the_id_of_the_recording(tmp_path: Path, packets: list[Recorded]) -> None:
    folder = write_recording(tmp_path / "recording", packets[:10], 1)
    start = Stream(folder).start()
    assert start == {
        **{"segment": "00000001", "position": 0, "packet": 0, "recording": RECORDING_ID}
    }
