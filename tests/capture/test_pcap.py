"""Classic pcap: every variant of the format, against another reader, and its damage."""

from __future__ import annotations

import io
import struct
import time
from pathlib import Path

import dpkt
import pytest

from tests.capture.built_files import (
    START_S,
    Outcome,
    payloads,
    pcap_header,
    pcap_record,
    pcap_records,
    read,
    time_ns,
)
from tests.paths import CAPTURES
from zenlake.capture import pcap
from zenlake.errors import CaptureError
from zenlake.limits import CAPTURE_RESYNC_BYTES_MAX, PACKET_BYTES_MAX


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("magic", "unit_ns"), [(0xA1B2C3D4, 1_000), (0xA1B23C4D, 1)])
def test_both_orders_and_resolutions(tmp_path: Path, order: str, magic: int, unit_ns: int) -> None:
    bodies = payloads(50)
    content = pcap_header(order, magic) + b"".join(pcap_records(bodies, order))
    outcome = read(tmp_path, content)
    assert outcome.data == bodies
    assert outcome.times == [(START_S + n) * 1_000_000_000 + n * unit_ns for n in range(50)]
    assert [packet.number for packet in outcome.packets] == list(range(1, 51))
    assert {packet.link_type for packet in outcome.packets} == {1}
    assert not outcome.skipped
    theirs = list(dpkt.pcap.Reader(io.BytesIO(content)))
    assert [data for _, data in theirs] == outcome.data
    assert [float(t) for t, _ in theirs] == pytest.approx([t / 1e9 for t in outcome.times])


def test_real_capture_reads_as_another_reader_has_it() -> None:
    path = CAPTURES / "qos_matrix.pcap"
    outcome = Outcome(path)
    with path.open("rb") as file:
        theirs = list(dpkt.pcap.Reader(file))
    assert len(theirs) == 805
    assert [data for _, data in theirs] == outcome.data
    assert [round(float(t) * 1e6) for t, _ in theirs] == [t // 1_000 for t in outcome.times]
    assert not outcome.skipped


def test_frame_check_bits_are_not_part_of_the_link_type(tmp_path: Path) -> None:
    outcome = read(tmp_path, pcap_header(link=0x5400_0071) + pcap_record(b"x", 0))
    assert outcome.packets[0].link_type == 113


def test_packets_cut_by_the_snap_length_are_marked(tmp_path: Path) -> None:
    outcome = read(tmp_path, pcap_header() + pcap_record(b"abc", 0, original=1500))
    assert outcome.packets[0].is_cut
    assert outcome.packets[0].original_bytes == 1500
    assert not outcome.skipped


def test_records_without_bytes_are_packets(tmp_path: Path) -> None:
    records = [pcap_record(b"", n, original=60) for n in range(5)]
    outcome = read(tmp_path, pcap_header() + b"".join(records))
    assert outcome.data == [b""] * 5
    assert outcome.times == [time_ns(n) for n in range(5)]
    assert not outcome.skipped


def test_longest_packet_is_read_and_a_longer_one_is_damage(tmp_path: Path) -> None:
    longest = bytes(PACKET_BYTES_MAX)
    rest = b"".join(pcap_records(payloads(3)))
    assert read(tmp_path, pcap_header() + pcap_record(longest, 0) + rest).data[0] == longest
    longer = pcap_record(longest + b"x", 0)
    outcome = read(tmp_path, pcap_header() + longer + rest)
    assert outcome.data == payloads(3)
    assert outcome.skipped.bytes == {pcap.DAMAGED: len(longer)}


def test_records_across_the_window_are_whole(tmp_path: Path) -> None:
    bodies = [bytes([n]) * 200_001 for n in range(20)]
    assert read(tmp_path, pcap_header() + b"".join(pcap_records(bodies))).data == bodies


def test_concatenated_captures_are_read(tmp_path: Path) -> None:
    first = pcap_header() + pcap_record(b"one", 0)
    second = pcap_header(">", 0xA1B23C4D, link=101) + pcap_record(b"two", 1, ">")
    outcome = read(tmp_path, first + pcap_header() * 2_000 + second)
    assert outcome.data == [b"one", b"two"]
    assert [packet.link_type for packet in outcome.packets] == [1, 101]
    assert outcome.times[1] == (START_S + 1) * 1_000_000_000 + 1
    assert not outcome.skipped


def test_captured_above_original_is_read_if_the_next_record_follows(tmp_path: Path) -> None:
    records = pcap_records([b"a" * 60, b"b" * 60, b"c" * 60])
    records[1] = struct.pack("<IIII", START_S, 0, 60, 59) + b"b" * 60
    outcome = read(tmp_path, pcap_header() + b"".join(records))
    assert outcome.data == [b"a" * 60, b"b" * 60, b"c" * 60]
    assert outcome.packets[1].original_bytes == 60
    assert outcome.skipped.counts == {pcap.ODD: 1}


@pytest.mark.parametrize(
    "seconds",
    [
        [*range(50), *range(START_S, START_S + 50)],
        [*range(START_S, START_S + 50), 4_000_000_000],
        [5, START_S] * 50,
        [year * 31_536_000 for year in range(10) for _ in range(2)],
    ],
    ids=["clock set", "last far", "two clocks", "years"],
)
def test_clocks_that_jump_are_no_damage(tmp_path: Path, seconds: list[int]) -> None:
    records = [struct.pack("<IIII", second, 0, 1, 1) + b"x" for second in seconds]
    outcome = read(tmp_path, pcap_header() + b"".join(records))
    assert outcome.times == [second * 1_000_000_000 for second in seconds]
    assert not outcome.skipped


def test_zeros_of_a_crashed_machine_are_counted_quickly(tmp_path: Path) -> None:
    good = pcap_header() + b"".join(pcap_records(payloads(10)))
    zeros = bytes(2 * CAPTURE_RESYNC_BYTES_MAX)
    for head, count in ((good, 10), (pcap_header(), 0)):
        start = time.thread_time()
        outcome = read(tmp_path, head + zeros)
        assert time.thread_time() - start < 5
        assert len(outcome.packets) == count
        assert outcome.skipped.bytes == {pcap.DAMAGED: len(zeros)}


def test_records_after_a_hole_are_found_up_to_the_limit(tmp_path: Path) -> None:
    before, after = pcap_records(payloads(10)), pcap_records(payloads(10, seed=2))
    hole = bytes(CAPTURE_RESYNC_BYTES_MAX - 1)
    outcome = read(tmp_path, pcap_header() + b"".join(before) + hole + b"".join(after))
    assert outcome.data == payloads(10) + payloads(10, seed=2)
    assert outcome.skipped.bytes == {pcap.DAMAGED: len(hole)}
    hole += b"\0"
    outcome = read(tmp_path, pcap_header() + b"".join(before) + hole + b"".join(after))
    assert outcome.data == payloads(10)
    assert outcome.skipped.bytes == {pcap.DAMAGED: len(hole) + len(b"".join(after))}


@pytest.mark.parametrize("length", [4, 23])
def test_file_cut_in_its_header_is_no_capture(tmp_path: Path, length: int) -> None:
    with pytest.raises(CaptureError, match="the header of the file is cut"):
        read(tmp_path, pcap_header()[:length])


def test_file_without_records_is_an_empty_capture(tmp_path: Path) -> None:
    outcome = read(tmp_path, pcap_header())
    assert outcome.packets == []
    assert not outcome.skipped
