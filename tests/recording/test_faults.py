"""R02, R03: a recording is valid after any failed call, and after any power cut."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tests.chance import IS_FULL, first_seed
from tests.recording.recorded_values import values, wire_packets
from tests.recording.scripted_recording import FailingFiles, ScriptedRecording
from zenlake.errors import RecordingError
from zenlake.recording.files import Files
from zenlake.recording.folder import RecordingFolder

STEPS = 120
PUTS = 2
PAGE = 4_096
CUTS = 20_000 if IS_FULL else 1_000


def run_script(path: Path, files: Files) -> ScriptedRecording:
    recording = ScriptedRecording(path, files)
    for _ in range(STEPS):
        recording.step(PUTS)
    return recording


def calls_of_one_run(path: Path) -> int:
    files = FailingFiles(at=0, count=0)
    recording = run_script(path, files)
    recording.close()
    assert values(path) == list(range(STEPS * PUTS))
    assert {"create", "write", "sync", "rename", "sync_folder"} <= set(files.names)
    return files.calls


def check_valid(path: Path) -> list[int]:
    """The values in a recording that a new recorder has recovered."""
    folder = RecordingFolder(str(path))
    folder.recover()
    folder.close()
    found = values(path, may_lack_alias=True)
    assert found == sorted(set(found))
    numbers = sorted(wire_packets(path))
    assert numbers == list(range(1, len(numbers) + 1))
    return found


def test_one_failed_call_loses_what_it_is_counted_for(tmp_path: Path) -> None:
    calls = calls_of_one_run(tmp_path / "whole")
    assert calls > 200
    refused = 0
    for at in range(1, calls + 1):
        path = tmp_path / f"r{at}"
        files = FailingFiles(at)
        try:
            recording = run_script(path, files)
        except (RecordingError, OSError):
            refused += 1  # the recorder could not begin
            continue
        recording.close()
        offered = recording.queue.added_packets
        check_valid(path)
        written = len(wire_packets(path))
        assert written + recording.writer.dropped == offered, (at, files.names[at - 1])
        assert recording.writer.dropped <= 40
    assert refused < 20


def test_recording_is_valid_if_all_calls_fail_and_the_process_is_killed(tmp_path: Path) -> None:
    calls = calls_of_one_run(tmp_path / "whole")
    for at in range(30, calls + 1):
        path = tmp_path / f"r{at}"
        recording = run_script(path, FailingFiles(at, 1 << 30))
        written = recording.writer.packets
        recording.folder.close()  # the kernel closes the files; nothing is sealed
        recording.writer._segment = None
        check_valid(path)
        assert len(wire_packets(path)) >= min(written, recording.writer.synced_packets)


class LoggedFiles(Files):
    """Logs the operations of a disk in order, so that a power cut can be placed anywhere."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, bytes | int | str]] = []
        self._names: dict[int, str] = {}

    def create(self, path: str) -> int:
        fd = super().create(path)
        self._names[fd] = path
        self.log.append(("create", path, b""))
        return fd

    def write(self, fd: int, pieces: list[bytes], size: int) -> None:
        super().write(fd, pieces, size)
        self.log.append(("write", self._names[fd], b"".join(pieces)))

    def sync(self, fd: int) -> None:
        self.log.append(("sync", self._names[fd], b""))

    def rename(self, old: str, new: str) -> None:
        super().rename(old, new)
        self._names = {fd: new if name == old else name for fd, name in self._names.items()}
        self.log.append(("rename", old, new))

    def sync_folder(self, path: str) -> None:
        self.log.append(("sync_folder", path, b""))


class Disk:
    """The files after a part of the log; names and pages that were not synced may be lost."""

    def __init__(self) -> None:
        self.content: dict[str, bytearray] = {}
        self.synced: dict[str, int] = {}
        self.renamed: dict[str, str] = {}
        self.is_name_synced: dict[str, bool] = {}

    def apply(self, kind: str, name: str, value: bytes | int | str) -> None:
        if kind == "create":
            self.content[name] = bytearray()
            self.synced[name] = 0
            self.is_name_synced[name] = False
        elif kind == "write":
            assert isinstance(value, bytes)
            self.content[name] += value
        elif kind == "sync":
            self.synced[name] = len(self.content[name])
        elif kind == "rename":
            assert isinstance(value, str)
            self.content[value] = self.content.pop(name)
            self.synced[value] = self.synced.pop(name)
            self.is_name_synced[value] = self.is_name_synced.pop(name)
            self.renamed[value] = name
        elif kind == "sync_folder":
            self.renamed.clear()
            for one in self.is_name_synced:
                self.is_name_synced[one] = True

    def after_cut(self, random: random.Random) -> dict[str, bytes]:
        """The files, with their contents, that may be left after a power cut."""
        found: dict[str, bytes] = {}
        for name, content in self.content.items():
            synced = self.synced[name]
            if not synced and not self.is_name_synced[name] and random.random() < 0.5:
                continue
            end = random.randint(synced, len(content))
            left = bytearray(content[:end])
            for start in range(synced - synced % PAGE, end, PAGE):
                fate = random.random()
                first = max(start, synced)
                last = min(start + PAGE, end)
                if fate < 0.3:
                    left[first:last] = bytes(last - first)
                elif fate < 0.5:
                    torn = random.randint(first, last)
                    left[torn:last] = bytes(last - torn)
            old = self.renamed.get(name)
            found[old if old is not None and random.random() < 0.5 else name] = bytes(left)
        return found


def test_everything_synced_is_read_after_a_power_cut(tmp_path: Path) -> None:
    files = LoggedFiles()
    whole = tmp_path / "whole"
    recording = ScriptedRecording(whole, files, segment_bytes=60_000)
    marks = []
    for _ in range(STEPS):
        recording.step(PUTS, 1_500)
        marks.append((len(files.log), recording.writer.synced_packets))
    recording.close()
    written = wire_packets(whole)
    assert len([one for one in files.log if one[0] == "rename"]) > 4
    for seed in range(first_seed(), first_seed() + CUTS):
        chance = random.Random(seed)
        cut, synced = marks[chance.randrange(len(marks))]
        disk = Disk()
        for entry in files.log[:cut]:
            disk.apply(*entry)
        path = tmp_path / "cut"
        path.mkdir()
        for name, data in disk.after_cut(chance).items():
            (path / Path(name).name).write_bytes(data)
        folder = RecordingFolder(str(path))
        folder.recover()
        folder.close()
        found = wire_packets(path)
        assert set(range(1, synced + 1)) <= set(found), seed
        assert all(written[number] == data for number, data in found.items()), seed
        for one in os.listdir(path):
            os.remove(path / one)
        path.rmdir()


def test_recorder_goes_on_after_a_time_of_failures(tmp_path: Path) -> None:
    files = FailingFiles(at=0, count=0)
    recording = ScriptedRecording(tmp_path / "r", files)
    recording.step(30)
    files.at, files.count = files.calls + 1, 1 << 30
    for _ in range(20):
        recording.step(10)
    assert recording.writer.dropped > 0
    files.is_armed = False
    for _ in range(20):
        recording.step(10)
    recording.close()
    found = values(tmp_path / "r")
    assert found[:30] == list(range(30))
    assert found[-1] == recording.sent - 1
    written = len(wire_packets(tmp_path / "r"))
    assert written + recording.writer.dropped == recording.queue.added_packets
