"""Segments and recordings: every damaged block is found and skipped, its neighbours are read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.capture.recorded import (
    parts_of,
    raw_packets,
    segment_bytes,
    segment_head,
    state_block,
    wire_block,
    write_recording,
)
from tests.paths import CAPTURES
from zenlake.capture import segment_format as fmt
from zenlake.capture import segment_reader
from zenlake.capture.files import packets
from zenlake.capture.input import Input
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.pcapng import CUT
from zenlake.capture.recordings import is_recording, segments
from zenlake.capture.segment_reader import SegmentReader
from zenlake.errors import CaptureError
from zenlake.limits import RECORDING_STATE_BYTES_MAX

Found = list[tuple[int, int, bytes]]


def made(count: int, first: int = 1) -> list[Packet]:
    chance = random.Random(count)
    return [
        Packet(first + i, 1_700_000_000_000_000_000 + i, 101, chance.randbytes(20 + i % 50), 0)
        for i in range(count)
    ]


def shown(found: list[Packet]) -> Found:
    return [(one.number, one.time_ns, one.data) for one in found]


def read(path: Path) -> tuple[Found, Skipped]:
    skipped = Skipped()
    return shown(list(packets([str(path)], skipped))), skipped


def test_state_packets_have_numbers_up_to_zero(tmp_path: Path) -> None:
    sent = made(9)
    file = tmp_path / "any_name.pcapng"
    file.write_bytes(segment_bytes(3, sent[4:], sent[:4]))
    found, skipped = read(file)
    assert [number for number, _, _ in found] == [-3, -2, -1, 0, 5, 6, 7, 8, 9]
    assert [data for _, _, data in found] == [one.data for one in sent]
    assert not skipped


def test_recording_is_one_capture_with_the_state_of_its_first_segment(tmp_path: Path) -> None:
    sent = made(40)
    folder = write_recording(tmp_path / "recording", parts_of(sent, 4))
    assert is_recording(str(folder))
    found, skipped = read(folder)
    assert found == shown(sent)
    assert not skipped
    (folder / "00000001.pcapng").unlink()
    found, skipped = read(folder)
    assert found[10:] == shown(sent[10:])
    assert [number for number, _, _ in found[:10]] == [*range(-9, 1)]
    assert not skipped


def test_missing_segment_is_counted(tmp_path: Path) -> None:
    sent = made(40)
    folder = write_recording(tmp_path / "recording", parts_of(sent, 4))
    (folder / "00000002.pcapng").unlink()
    found, skipped = read(folder)
    assert found == shown(sent[:10] + sent[20:])
    assert skipped.counts == {segment_reader.MISSING: 10}


@pytest.mark.parametrize("name", ["pubsub_router.pcapng", "queries.pcapng.gz"])
def test_packets_of_real_captures_survive_a_recording(tmp_path: Path, name: str) -> None:
    sent = raw_packets(CAPTURES / name)
    folder = write_recording(tmp_path / "recording", parts_of(sent, 5))
    found, skipped = read(folder)
    assert found == shown(sent)
    assert not skipped


def test_growing_segment_is_read_to_its_last_whole_block(tmp_path: Path) -> None:
    sent = made(20)
    folder = write_recording(tmp_path / "recording", parts_of(sent, 2), is_growing=True)
    part = folder / "00000002.pcapng.part"
    whole = part.read_bytes()
    last = len(wire_block(sent[-1]))
    for size in range(len(whole) - last, len(whole)):
        part.write_bytes(whole[:size])
        found, skipped = read(folder)
        assert found == shown(sent[:-1])
        assert not skipped
    part.write_bytes(whole[:-last] + bytes(last))
    assert read(folder)[0] == shown(sent[:-1])
    assert not read(folder)[1]
    for size in range(len(segment_head(2, 10))):
        part.write_bytes(whole[:size])
        found, skipped = read(folder)
        assert found == shown(sent[:10])
        assert not skipped


def test_sealed_segment_that_is_cut_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "00000001.pcapng"
    sent = made(5)
    file.write_bytes(segment_bytes(1, sent, is_sealed=False)[:-7])
    found, skipped = read(file)
    assert found == shown(sent[:-1])
    assert skipped.counts == {CUT: 1}


def block_bounds(data: bytes) -> list[tuple[int, int]]:
    bounds, start = [], 0
    while start < len(data):
        stop = start + int.from_bytes(data[start + 4 : start + 8], "little")
        bounds.append((start, stop))
        start = stop
    return bounds


def test_each_of_a_thousand_flipped_bits_costs_one_block(tmp_path: Path) -> None:
    """R04: each flip is detected, that block alone is skipped and reported."""
    sent = made(60)
    state, wire = sent[:10], sent[10:]
    data = segment_bytes(2, wire, state)
    bounds = block_bounds(data)
    file = tmp_path / "00000002.pcapng"
    chance = random.Random(4)
    places = [
        *range(bounds[3][0] * 8),  # every bit before the state
        *(chance.randrange(len(data) * 8) for _ in range(1_000)),
    ]
    for place in places:
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        file.write_bytes(changed)
        found, skipped = read(file)
        index = next(i for i, (start, stop) in enumerate(bounds) if start <= place // 8 < stop)
        lost = index - 3
        kept_state = [one.data for i, one in enumerate(state) if i != lost]
        kept = [one for i, one in enumerate(sent) if i >= len(state) and i != lost]
        assert [one[2] for one in found[: len(kept_state)]] == kept_state, place
        assert found[len(kept_state) :] == shown(kept), place
        size = bounds[index][1] - bounds[index][0]
        reasons = {segment_reader.WRONG_CHECKSUM, CUT}
        assert sum(skipped.counts.get(one, 0) for one in reasons) == 1, place
        assert skipped.counts.keys() <= reasons, place
        assert sum(skipped.bytes.values()) == size, place


def test_blocks_inside_of_a_damaged_packet_are_not_read(tmp_path: Path) -> None:
    sent = made(3)
    inner = segment_bytes(7, made(2, 1_000), made(2))
    sent[1] = Packet(2, sent[1].time_ns, 101, inner, 0)
    data = bytearray(segment_bytes(1, sent))
    at = data.index(inner) + len(inner) // 2
    data[at] ^= 1
    file = tmp_path / "00000001.pcapng"
    file.write_bytes(data)
    found, skipped = read(file)
    assert found == shown([sent[0], sent[2]])
    assert skipped.counts == {segment_reader.WRONG_CHECKSUM: 1}


def test_numbers_out_of_order_are_skipped(tmp_path: Path) -> None:
    file = tmp_path / "00000001.pcapng"
    far = Packet(1 << 60, 5, 101, b"x", 1)
    one, two = made(2)
    blocks = [wire_block(packet) for packet in (one, one, far, two)]
    file.write_bytes(segment_head(1, 0) + b"".join(blocks))
    found, skipped = read(file)
    assert found == shown([one, two])
    assert skipped.counts == {segment_reader.OUT_OF_ORDER: 2}


def test_state_above_the_limit_is_left_out() -> None:
    assert RECORDING_STATE_BYTES_MAX >= 1 << 20
    sent = made(6)
    size = len(state_block(sent[0]))
    skipped = Skipped()
    input = Input("00000001.pcapng", skipped, content=segment_bytes(2, sent[3:], sent[:3]))
    reader = SegmentReader(input, skipped, state_bytes_max=size)
    found = shown(list(reader.packets()))
    assert found == [(0, sent[0].time_ns, sent[0].data), *shown(sent[3:])]
    assert skipped.counts == {segment_reader.STATE_LEFT_OUT: 2}


def test_packets_that_the_recorder_dropped_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "00000001.pcapng"
    one, two = made(2)
    blocks = [
        segment_head(1, 0),
        wire_block(one),
        fmt.statistics_block(1, 7),
        wire_block(two),
        fmt.statistics_block(2, 9),
    ]
    file.write_bytes(b"".join(blocks))
    found, skipped = read(file)
    assert found == shown([one, two])
    assert skipped.counts == {segment_reader.DROPPED: 9}


def test_segments_are_ordered_by_number_and_other_files_are_ignored(tmp_path: Path) -> None:
    names = ("00000010.pcapng", "00000009.pcapng", "00000011.pcapng.part", "notes.txt", "1.pcapng")
    for name in names:
        (tmp_path / name).touch()
    found = segments(str(tmp_path))
    assert [(one.number, one.is_sealed) for one in found] == [(9, True), (10, True), (11, False)]
    with pytest.raises(CaptureError, match="cannot be listed"):
        segments(str(tmp_path / "nowhere"))


def test_random_bytes_after_a_valid_beginning_end(tmp_path: Path) -> None:
    file = tmp_path / "00000001.pcapng"
    sent = made(3)
    head = segment_bytes(1, sent, is_sealed=False)
    chance = random.Random(1)
    for _ in range(50):
        file.write_bytes(head + chance.randbytes(5_000))
        found, skipped = read(file)
        assert found == shown(sent)
        assert skipped
