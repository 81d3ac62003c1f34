"""Streams of rotated captures: sealed ones first, then the one that grows."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.lake.source.live.rotated import file_bytes, read_packets, write_rotated
from tests.lake.source.live.streams import Stream, rows
from zenlake.capture.packet import Packet
from zenlake.errors import ZenlakeError
from zenlake.lake.exact_reader.exact_tables import ExactReader
from zenlake.lake.source.live import capture_rows
from zenlake.lake.source.live.capture_reader import CaptureReader
from zenlake.trace.trace import from_packets

TABLES = ("batches", "messages", "samples")


def expected_rows(found: list[Packet], table: str) -> list[str]:
    return comparable(expected_table(found, table))


def expected_table(found: list[Packet], table: str) -> pa.Table:
    """The rows of one capture with all packets, without its end."""
    read = from_packets((0, 0))
    reader = ExactReader(read, "", (table,))
    parts = [
        part
        for number, packet in enumerate(found, 1)
        for item, events in read.feed(
            Packet(number, packet.time_ns, packet.link_type, packet.data, packet.original_bytes)
        )
        for part in reader.feed(item, events).get(table, ())
    ]
    parts += reader.finish().get(table, ())
    return pa.concat_tables(parts)


def comparable(found: pa.Table) -> list[str]:
    """Rows without packet numbers, which each file counts by itself."""
    kept = found.drop_columns(["capture", "packet", "seq"])
    times = [name for name in kept.column_names if name == "time" or name.endswith("_at")]
    return rows(kept.drop_columns(times))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_rotated_captures_are_one_stream(tmp_path: Path, table: str, kind: str) -> None:
    """Aliases that were declared in the first file are known in the last one."""
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 40, kind)
    read = Stream(tmp_path, table).all()
    assert comparable(read) == expected_rows(found, table)
    limited = Stream(tmp_path, table, maxBytesPerTrigger="9k").all()
    assert rows(limited, ()) == rows(read, ())


def test_rows_name_their_file_and_their_packet_in_it(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 100, "pcap")
    read = Stream(tmp_path, "batches").all()
    names = sorted({Path(name).name for name in read["capture"].to_pylist()})
    assert names == sorted(path.name for path in tmp_path.iterdir())
    assert max(read["packet"].to_pylist()) <= 100


def test_rows_appear_while_a_capture_grows(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    stream = Stream(tmp_path, "messages")
    parts = [stream.batch()]
    for number, start in enumerate((0, 150)):
        part = found[start : start + 150] if number == 0 else found[start:]
        whole = file_bytes(part, "pcap")
        path = tmp_path / f"robot.pcap{number}"
        for size in range(0, len(whole), 2_111):
            path.write_bytes(whole[:size])
            parts.append(stream.batch())
        path.write_bytes(whole)
        parts.append(stream.batch())
    assert comparable(pa.concat_tables(parts)) == expected_rows(found, "messages")


def test_sealed_capture_may_be_compressed(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 100, "pcap")
    stream = Stream(tmp_path, "batches", maxFilesPerTrigger="1")
    parts = [stream.batch()]
    for path in sorted(tmp_path.iterdir())[:-1]:
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    parts.append(stream.all())
    assert comparable(pa.concat_tables(parts)) == expected_rows(found, "batches")


@pytest.mark.parametrize(
    "name",
    ["midstream.pcapng.gz", "impaired.pcapng.gz", "compression.pcapng.gz", "pico_reopened.pcapng"],
)
def test_batches_have_the_rows_of_the_whole_capture(tmp_path: Path, name: str) -> None:
    """Also of connections whose beginning or middle was not captured."""
    found = read_packets(name)[:600]
    write_rotated(tmp_path, found, 150, "pcap")
    stream = Stream(tmp_path, "messages", maxBytesPerTrigger="20k")
    assert messages(stream.all()) == messages_of(found)


def messages(found: pa.Table) -> list[str]:
    """Rows without the ids of sessions, which are known when their handshake ends."""
    return comparable(found.drop_columns(["session"]))


def messages_of(found: list[Packet]) -> list[str]:
    return messages(expected_table(found, "messages"))


def test_older_files_are_not_needed(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 40, "pcap")
    stream = Stream(tmp_path, "messages", maxFilesPerTrigger="1")
    parts = []
    for _ in range(-(-len(found) // 40)):
        parts.append(stream.batch())
        assert stream.offset is not None
        for path in tmp_path.iterdir():
            if path.name < stream.offset["segment"]:
                path.unlink()
    assert len(list(tmp_path.iterdir())) == 1
    assert comparable(pa.concat_tables(parts)) == expected_rows(found, "messages")


def test_each_packet_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 40, "pcap")
    fed: list[int] = []
    feed = CaptureReader._feed

    def count(self: CaptureReader, *arguments: Any) -> None:
        before = self._number
        feed(self, *arguments)
        fed.append(self._number - before)

    monkeypatch.setattr(CaptureReader, "_feed", count)
    Stream(tmp_path, "batches", maxBytesPerTrigger="5k").all()
    assert sum(fed) == len(found)
    assert len(fed) > 10


@pytest.mark.parametrize("planned", [0, 6_000])
def test_a_batch_has_the_same_rows_wherever_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planned: int
) -> None:
    """In the planning process, in a task if it is large, and again after a restart."""
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 40, "pcapng")
    stream = Stream(tmp_path, "messages", maxBytesPerTrigger="9k")
    begin = stream.start()
    batches = []
    while (end := stream.next(begin)) != begin:
        batches.append((begin, end, rows(stream.rows(begin, end), ())))
        assert rows(stream.rows(begin, end), ()) == batches[-1][2]
        begin = end
    assert len(batches) > 5
    monkeypatch.setattr(capture_rows, "PLANNED_BYTES_MAX", planned)
    large = Stream(tmp_path, "messages", maxBytesPerTrigger="9k")
    for start, end, wanted in batches:
        assert rows(large.rows(start, end), ()) == wanted
    for start, end, wanted in reversed(batches):
        assert rows(Stream(tmp_path, "messages").rows(start, end), ()) == wanted


def test_older_capture_that_appears_late_is_read_for_the_state(tmp_path: Path) -> None:
    """The reader that is kept has not read it, so that another one begins."""
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 100, "pcap")
    first = tmp_path / "robot_000000.pcap"
    data = first.read_bytes()
    first.unlink()
    stream = Stream(tmp_path, "messages", maxFilesPerTrigger="1")
    stream.batch()
    first.write_bytes(data)
    begin, end = stream.offset, stream.next(stream.offset or {})
    assert begin is not None
    wanted = rows(Stream(tmp_path, "messages").rows(begin, end), ())
    assert rows(stream.rows(begin, end), ()) == wanted


def test_rows_of_a_batch_are_divided(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 300, "pcap")
    stream = Stream(tmp_path, "messages", minPartitions="3")
    assert comparable(stream.batch()) == expected_rows(found, "messages")
    assert stream.partitions == 3


def test_removed_capture_stops_the_query(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    write_rotated(tmp_path, found, 100, "pcap")
    stream = Stream(tmp_path, "batches", maxBytesPerTrigger="5k")
    stream.batch()
    (tmp_path / "robot_000000.pcap").unlink()
    with pytest.raises(ZenlakeError, match=r"robot_000000.pcap, from byte \d+ on, is gone"):
        stream.batch()
    tolerant = Stream(tmp_path, "batches", failOnDataLoss="false")
    tolerant.offset = stream.offset
    assert tolerant.all().num_rows


def test_capture_that_was_replaced_is_an_error(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    path = tmp_path / "robot.pcap"
    path.write_bytes(file_bytes(found, "pcap"))
    stream = Stream(tmp_path, "batches")
    stream.all()
    path.write_bytes(file_bytes(found[:10], "pcap"))
    with pytest.raises(ZenlakeError, match="it was replaced by another file"):
        stream.batch()


def test_damaged_capture_is_read_as_far_as_possible(tmp_path: Path) -> None:
    found = read_packets("pubsub_router.pcapng")
    whole = bytearray(file_bytes(found[:150], "pcap"))
    middle = len(whole) // 2
    whole[middle : middle + 60] = bytes([255]) * 60
    (tmp_path / "robot_1.pcap").write_bytes(whole)
    (tmp_path / "robot_2.pcap").write_bytes(file_bytes(found[150:], "pcap"))
    stream = Stream(tmp_path, "batches")
    assert stream.all().num_rows
    assert stream.offset is not None
    assert stream.offset["segment"] == "robot_2.pcap"
