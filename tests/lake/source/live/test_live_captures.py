"""Streams of rotated captures: sealed ones first, then the one that grows."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from tests.lake.source.live.recorded import CAPTURES
from tests.lake.source.live.streams import Stream, rows
from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.errors import ZenlakeError
from zenlake.lake.exact_reader.exact_tables import ExactReader
from zenlake.testing.envelopes import Envelope, PcapEnvelope, PcapngEnvelope
from zenlake.trace.trace import from_packets

TABLES = ("batches", "messages", "samples")


def read_packets(name: str) -> list[Packet]:
    return list(packets([str(CAPTURES / name)], Skipped()))


def file_bytes(found: list[Packet], kind: str) -> bytes:
    """A capture file with these packets."""
    envelope: Envelope = (PcapEnvelope if kind == "pcap" else PcapngEnvelope)(found)
    parts = [envelope.head]
    times = envelope.times([packet.time_ns for packet in found])
    for packet, time in zip(found, times, strict=True):
        before, between, after = envelope.around(packet)
        parts += [before, time, between, packet.data, after]
    return b"".join(parts)


def expected_rows(found: list[Packet], table: str) -> list[str]:
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
    return comparable(pa.concat_tables(parts))


def comparable(found: pa.Table) -> list[str]:
    """Rows without packet numbers, which each file counts by itself."""
    kept = found.drop_columns(["capture", "packet", "seq"])
    times = [name for name in kept.column_names if name == "time" or name.endswith("_at")]
    return rows(kept.drop_columns(times))


def write_rotated(folder: Path, found: list[Packet], size: int, kind: str) -> None:
    for start in range(0, len(found), size):
        path = folder / f"robot_{start:06}.{kind}"
        path.write_bytes(file_bytes(found[start : start + size], kind))


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
