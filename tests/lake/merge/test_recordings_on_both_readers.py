"""Both readers return the same rows of recordings, of their segments, and of growing ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.capture.recorded import (
    RECORDING_ID,
    linked_packets,
    parts_of,
    raw_packets,
    segment_bytes,
    wire_block,
    write_recording,
    write_tracked_recording,
)
from tests.chance import IS_FULL
from tests.lake.fast_reader.captures import surveyed
from tests.lake.merge.both_readers import (
    Row,
    assert_same_rows,
    differences,
    read_by_both_readers,
    read_by_exact_reader,
)
from tests.trace.sidecar import PATHS
from zenlake.capture import segment_format as fmt
from zenlake.capture.files import packets
from zenlake.capture.packet import Skipped
from zenlake.capture.segment_reader import DROPPED
from zenlake.lake.exact_reader.exact_tables import Tables
from zenlake.lake.fast_reader import Refusal, Survey, check, index, survey
from zenlake.lake.merge import segment_range
from zenlake.lake.merge.segment_range import read_segment_bytes
from zenlake.recording.redaction_rules import RedactionRules
from zenlake.recording.segment_file import head_blocks
from zenlake.recording.state_tracker import StateTracker

_ORDINARY = {"fragments", "metadata", "qos_matrix", "queries"}
"""`make test` reads only these recordings in every way; `test_both_readers.py` does with files."""


def _compare(path: Path, name: str) -> Survey:
    found = surveyed(path)
    if name not in _ORDINARY and not IS_FULL:
        assert_same_rows(path, found, {"splits": 3, "chunk_bytes": 2_000})
        return found
    expected = assert_same_rows(path, found, {}, {"chunk_bytes": 2_000}, {"splits": 3})
    indexed = index(str(path))
    if indexed is not None:
        assert not isinstance(indexed, Refusal)
        checked = check(str(path), indexed)
        assert differences(expected, read_by_both_readers(str(path), checked)) == []
    return found


@pytest.mark.parametrize("name", sorted(PATHS))
def test_both_readers_return_the_same_rows_of_recordings(name: str, tmp_path: Path) -> None:
    sent = raw_packets(PATHS[name])
    recording = write_recording(tmp_path / "recording", parts_of(sent, 3))
    found = _compare(recording, name)
    if name in _ORDINARY:
        assert found.regular.all()
    # Retention has removed the first segment, so the state of the second one is read.
    (recording / "00000001.pcapng").unlink()
    found = _compare(recording, name)
    assert found.packets_before == len(parts_of(sent, 3)[0])
    assert found.packets == len(sent) - found.packets_before
    if name in _ORDINARY:
        assert found.regular.all()
        assert found.state_packets == found.packets_before
    _compare(recording / "00000003.pcapng", name)


def test_growing_recording_is_read_to_its_last_whole_block(tmp_path: Path) -> None:
    sent = raw_packets(PATHS["queries"])
    recording = write_recording(tmp_path / "recording", parts_of(sent, 3), is_growing=True)
    part = recording / "00000003.pcapng.part"
    whole = part.read_bytes()
    for size in (len(whole), len(whole) - 1, len(whole) - 30, len(whole) // 2, 40, 0):
        part.write_bytes(whole[:size])
        found = surveyed(recording)
        assert found.cut_bytes == 0
        assert_same_rows(recording, found)


def test_recording_that_grows_after_the_survey_is_read_as_surveyed(tmp_path: Path) -> None:
    sent = raw_packets(PATHS["queries"])
    recording = write_recording(tmp_path / "recording", parts_of(sent, 3), is_growing=True)
    part = recording / "00000003.pcapng.part"
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    found = surveyed(recording)
    expected = read_by_exact_reader(str(recording))
    part.write_bytes(whole)
    part.rename(recording / "00000003.pcapng")
    (recording / "00000004.pcapng").write_bytes(segment_bytes(4, []))
    assert differences(expected, read_by_both_readers(str(recording), found)) == []


def test_packets_that_the_recorder_dropped_are_counted_alike(tmp_path: Path) -> None:
    """The first number in a later segment says nothing: some packets were dropped before it."""
    parts = parts_of(raw_packets(PATHS["queries"]), 2)
    folder = write_recording(tmp_path / "recording", parts)
    for number, state, counts in ((1, [], (3, 5)), (2, parts[0], (5, 9))):
        part = parts[number - 1]
        blocks = [segment_bytes(number, part, state, is_sealed=False)]
        blocks += [fmt.statistics_block(part[-1].time_ns, count) for count in counts]
        (folder / f"0000000{number}.pcapng").write_bytes(b"".join(blocks))
    for name, dropped in (("", 9), ("00000001.pcapng", 5), ("00000002.pcapng", 4)):
        assert surveyed(folder / name).dropped == dropped
        skipped = Skipped()
        assert len(list(packets([str(folder / name)], skipped))) > 0
        assert skipped.counts[DROPPED] == dropped


def test_damaged_recording_is_left_to_the_exact_reader(tmp_path: Path) -> None:
    sent = raw_packets(PATHS["pubsub_router"])
    recording = write_recording(tmp_path / "recording", parts_of(sent, 2))
    file = recording / "00000002.pcapng"
    data = file.read_bytes()
    chance = random.Random(3)
    for _ in range(200):
        place = chance.randrange(len(data) * 8)
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        file.write_bytes(changed)
        assert isinstance(survey(str(recording)), Refusal), place
        assert isinstance(survey(str(file)), Refusal), place


def test_missing_segment_leaves_a_recording_to_the_exact_reader(tmp_path: Path) -> None:
    sent = raw_packets(PATHS["pubsub_router"])
    recording = write_recording(tmp_path / "recording", parts_of(sent, 3))
    (recording / "00000002.pcapng").unlink()
    assert isinstance(survey(str(recording)), Refusal)


_TRACKED = sorted(
    name
    for name in PATHS
    # Not those without a TCP link, or with none from its beginning, or with truncated batches.
    if name not in ("multicast", "pico_peers", "encrypted_links", "snaplen")
    and "midstream" not in name
)


@pytest.mark.parametrize("name", _TRACKED)
def test_state_of_a_recorder_brings_both_readers_to_the_same_rows(
    name: str, tmp_path: Path
) -> None:
    sent = linked_packets(PATHS[name])
    recording = write_tracked_recording(tmp_path / "recording", parts_of(sent, 3))
    whole = read_by_exact_reader(str(recording))
    before = 0
    for number, part in enumerate(parts_of(sent, 3), 1):
        segment = recording / f"0000000{number}.pcapng"
        found = _compare(segment, name)
        assert found.packets_before == before
        alone = read_by_exact_reader(str(segment))
        after = before + len(part)
        for table in ("messages", "samples", "batches"):
            expected = [row for row in whole[table] if before < row["packet"] <= after]
            assert [_shown(row) for row in alone[table]] == [_shown(row) for row in expected]
        assert all(row["packet"] > before for row in alone["violations"])
        lost = [row for row in whole["losses"] if before < row["packet"] < after]
        lost = [{**row, "capture": str(segment)} for row in lost]
        lost_alone = [row for row in alone["losses"] if row["packet"] < after]
        if name == "impaired":
            # Numbers that are missing because of a gap in an earlier segment are not reported.
            assert all(row in lost for row in lost_alone)
        else:
            assert lost_alone == lost
        before = after


def test_both_readers_do_not_blame_nodes_for_what_rules_removed(tmp_path: Path) -> None:
    rules = RedactionRules(["mix/old/temp"])
    parts = parts_of(linked_packets(PATHS["mixed_versions"], rules), 3)
    found = {}
    for is_redacted in (False, True):
        folder = write_tracked_recording(tmp_path / str(is_redacted), parts, is_redacted)
        assert _compare(folder, "mixed_versions").redacted == 3 * is_redacted
        found[is_redacted] = {
            row["rule"] for row in read_by_exact_reader(str(folder))["violations"]
        }
    assert found[False] - found[True] == {"frame-empty", "declaration-unasked"}
    assert found[True]


def _shown(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "capture"}


@pytest.mark.parametrize("fast_bytes", [0, 1 << 30])
def test_range_in_memory_has_the_rows_of_its_packets(
    fast_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_range, "FAST_BYTES_MIN", fast_bytes)
    sent = linked_packets(PATHS["queries"])
    recording = write_tracked_recording(tmp_path / "recording", [sent])
    whole = read_by_exact_reader(str(recording))
    tracker = StateTracker()
    for packet in sent[:200]:
        tracker.feed_packet(packet.time_ns, packet.data, packet.interface)
    head = head_blocks(RECORDING_ID, 1, 200, tracker.packets(), 0)
    blocks = b"".join(map(wire_block, sent[200:400]))
    tables = ("messages", "samples", "batches")
    found: dict[str, list[Row]] = {name: [] for name in tables}

    def write(made: Tables) -> None:
        for name, several in made.items():
            found[name] += [row for one in several for row in one.to_pylist()]

    read_segment_bytes("x", head + blocks, tables, write)
    for name in tables:
        expected = [_shown(row) for row in whole[name] if 200 < row["packet"] <= 400]
        assert [_shown(row) for row in found[name]] == expected
    assert found["messages"]
    assert found["batches"]
