"""A recording's folder: one recorder, names, recovery, retention."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.paths import CAPTURES
from tests.recording.recorded_captures import recorded, tracker_after
from zenlake.capture.recordings import is_recording, segment_name
from zenlake.capture.segment_format import STATE, WIRE, is_segment, packet_block
from zenlake.errors import RecordingError
from zenlake.recording.files import Files
from zenlake.recording.folder import (
    LOCK_FILE,
    RECORDING_FILE,
    RecordingFolder,
    list_segments,
    recording_id,
)
from zenlake.recording.segment_file import GrowingSegment, head_blocks
from zenlake.recording.segment_scan import blocks, scan_segment

PACKETS = recorded(CAPTURES / "queries.pcapng.gz")


def write_segment(folder: RecordingFolder, number: int, first: int, count: int) -> GrowingSegment:
    """A segment with `count` packets, from the one with this number on."""
    tracker = tracker_after(PACKETS[: first - 1])
    segment = GrowingSegment(folder.path, number, folder.files)
    head = head_blocks(folder.id, number, first - 1, tracker.packets(), 0)
    segment.write([head], len(head))
    for at in range(first, first + count):
        one = PACKETS[at - 1]
        block = packet_block(WIRE, one.time_ns, one.data, one.flags, at)
        segment.write([block], len(block))
    return segment


def test_new_folder_gets_an_id_that_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "recording")
    folder = RecordingFolder(path)
    assert is_recording(path)
    assert json.loads(Path(path, RECORDING_FILE).read_text()) == {"format": 1, "id": folder.id}
    folder.close()
    again = RecordingFolder(path)
    assert again.id == folder.id == recording_id(path)
    again.close()


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    write_segment(folder, 1, 1, 10).seal(1, 0)
    write_segment(folder, 2, 11, 10)
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in Path(folder.path).iterdir()}
    assert modes == dict.fromkeys(
        (RECORDING_FILE, LOCK_FILE, "00000001.pcapng", "00000002.pcapng.part"), 0o600
    )
    folder.close()


def test_second_recorder_is_refused(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    with pytest.raises(RecordingError, match=r"another recorder writes to it$"):
        RecordingFolder(folder.path)
    folder.close()
    RecordingFolder(folder.path).close()


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(RecordingError, match=r"no recording and not empty \(it has holiday.jpg\)"):
        RecordingFolder(str(tmp_path))
    assert os.listdir(tmp_path) == ["holiday.jpg"]


def test_file_is_refused_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(RecordingError, match="not a folder"):
        RecordingFolder(str(tmp_path / "f"))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"id": 3, "format": 1}', '{"id": "x", "format": 2}', "[" * 100_000, "\0"],
)
def test_damaged_description_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORDING_FILE).write_text(text)
    with pytest.raises(RecordingError):
        recording_id(str(tmp_path))
    with pytest.raises(RecordingError):
        RecordingFolder(str(tmp_path))


def test_segments_are_listed_by_number(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    write_segment(folder, 2, 1, 5)
    write_segment(folder, 1, 1, 5).seal(9, 0)
    Path(folder.path, "notes.txt").write_text("x")
    found = list_segments(folder.path)
    assert [(one.number, one.is_sealed) for one in found] == [(1, True), (2, False)]
    assert folder.next_number() == 3
    folder.close()


def test_segment_begins_with_its_section_and_has_valid_blocks(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    segment = write_segment(folder, 1, 40, 30)
    segment.seal(PACKETS[-1].time_ns, 7)
    data = Path(folder.path, segment_name(1)).read_bytes()
    assert is_segment(data)
    found = list(blocks(data))
    assert found[-1].stop == len(data)
    assert found[0].number == 39
    scan = scan_segment(segment.path)
    assert scan is not None
    assert (scan.end, scan.packets, scan.dropped) == (len(data), 69, 7)
    folder.close()


@pytest.mark.parametrize("cut", [1, 3, 40, 200, 1_000])
def test_leftover_is_cut_after_its_last_valid_block_and_sealed(tmp_path: Path, cut: int) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    write_segment(folder, 1, 1, 100).close()
    part = Path(folder.path, "00000001.pcapng.part")
    whole = part.read_bytes()
    part.write_bytes(whole[:-cut] + b"\xaa" * (cut // 2))
    folder.close()
    again = RecordingFolder(folder.path)
    scan = again.recover()
    assert scan is not None
    stops = [one.stop for one in blocks(whole)]
    assert scan.end == max(stop for stop in stops if stop <= len(whole) - cut)
    assert Path(folder.path, "00000001.pcapng").read_bytes() == whole[: scan.end]
    assert not part.exists()
    again.close()


def test_leftover_with_damage_inside_keeps_the_blocks_after_it(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    write_segment(folder, 1, 1, 100).close()
    part = Path(folder.path, "00000001.pcapng.part")
    data = bytearray(part.read_bytes())
    found = list(blocks(bytes(data)))
    data[found[50].start + 20] ^= 1
    data[found[51].start + 5] ^= 0x40
    part.write_bytes(data)
    scan = folder.recover()
    assert scan is not None
    assert (scan.end, scan.packets) == (len(data), 100)
    left = list(blocks(Path(folder.path, segment_name(1)).read_bytes()))
    assert left == found[:50] + found[52:]
    folder.close()


@pytest.mark.parametrize("content", [b"", b"\0" * 4_096, b"\n\r\r\n", b"x" * 31])
def test_leftover_without_a_beginning_is_removed(tmp_path: Path, content: bytes) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    write_segment(folder, 1, 1, 10).seal(1, 0)
    Path(folder.path, "00000002.pcapng.part").write_bytes(content)
    scan = folder.recover()
    assert scan is not None
    assert scan.packets == 10
    assert [one.number for one in list_segments(folder.path)] == [1]
    folder.close()


def test_recovery_finds_the_open_links(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    write_segment(folder, 1, 1, 60).close()
    scan = folder.recover()
    assert scan is not None
    assert scan.tracker.packets() == tracker_after(PACKETS[:60]).packets()
    assert scan.last_ns == PACKETS[59].time_ns
    folder.close()


def test_retention_removes_the_oldest_sealed_segments(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    for number in range(1, 6):
        write_segment(folder, number, 1, 50).seal(1, 0)
    write_segment(folder, 6, 1, 50)
    sizes = [one.size for one in list_segments(folder.path)]
    assert folder.trim(None, None, 0) == []
    assert folder.trim(sum(sizes) - 1, None, 0) == ["00000001.pcapng"]
    assert folder.trim(sizes[-1], None, 0) == [segment_name(number) for number in (2, 3, 4, 5)]
    assert folder.trim(0, 0.0, 1 << 62) == []
    assert [one.number for one in list_segments(folder.path)] == [6]
    folder.close()


def test_retention_removes_segments_beyond_an_age(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    for number in (1, 2, 3):
        write_segment(folder, number, 1, 5).seal(1, 0)
        os.utime(Path(folder.path, segment_name(number)), ns=(0, number * 10**9))
    assert folder.trim(None, 1.5, 4 * 10**9) == ["00000001.pcapng", "00000002.pcapng"]
    folder.close()


class ShortWrites(Files):
    """A disk with room for some bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, fd: int, pieces: list[bytes], size: int) -> None:
        data = b"".join(pieces)
        os.write(fd, data[: self.room])
        if len(data) > self.room:
            self.room = 0
            raise OSError(28, "No space left on device")
        self.room -= len(data)


def test_failed_write_leaves_whole_blocks_only(tmp_path: Path) -> None:
    files = ShortWrites(10_000)
    segment = GrowingSegment(str(tmp_path), 1, files)
    block = packet_block(STATE, 1, b"x" * 900, 0, 0)
    written = 0
    while files.room >= len(block):
        segment.write([block], len(block))
        written += 1
    with pytest.raises(OSError, match="No space"):
        segment.write([block], len(block))
    assert segment.size == written * len(block) == os.stat(segment.path + ".part").st_size
    files.room = 10_000
    segment.write([block], len(block))
    assert os.stat(segment.path + ".part").st_size == (written + 1) * len(block)
    segment.close()
