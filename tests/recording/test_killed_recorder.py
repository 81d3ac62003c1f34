"""R01: the real command is killed under load; R06: it refuses with one line."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from random import Random

import pytest

from tests.chance import IS_FULL, first_seed
from tests.recording.number_publisher import NumberPublisher
from tests.recording.recorded_values import Peer, values, wire_packets
from tests.recording.scripted_recording import FailingFiles, ScriptedRecording
from tests.small_disk import read_only, small_disk
from tests.zenlake_process import RouterProcess, run_zenlake
from zenlake import trace
from zenlake.capture.recordings import segments
from zenlake.recording.folder import RecordingFolder
from zenlake.recording.recorder import Recorder
from zenlake.recording.segment_scan import scan_segment
from zenlake.recording.settings import RecordingSettings

KILLS = 200 if IS_FULL else 3
RATE = 20_000
DISK_BYTES = 8 << 20
LOSS_S_MAX = 1.0
RESTART_S_MAX = 2.0
START_S_MAX = 8.0
"""The start of the interpreter with all imports on a busy machine, without a recovery."""


def test_killed_recorder_loses_at_most_the_last_second(tmp_path: Path) -> None:
    seed = first_seed()
    chance = Random(seed)
    folder = tmp_path / "r"
    expected: list[int] = []
    first = last_segment = 0
    for kill in range(KILLS):
        begun = time.monotonic()
        with RouterProcess("--record", str(folder), "--segment-bytes", "200K") as router:
            assert time.monotonic() - begun < START_S_MAX + RESTART_S_MAX
            publisher = NumberPublisher(router.endpoint, first)
            thread = threading.Thread(target=publisher.run, args=(10.0, RATE))
            thread.start()
            time.sleep(chance.uniform(0.2, 1.7))
            killed_at = time.monotonic()  # the end of the block kills the router
        thread.join()
        publisher.close()
        recovered = RecordingFolder(str(folder))
        recovered.recover()
        recovered.close()
        # Older segments are read again at the end.
        new = values(folder, after_segment=last_segment)
        assert new == list(range(first, first + len(new))), (seed, kill)
        certain = [last for at, last in publisher.sent if at < killed_at - LOSS_S_MAX]
        assert not certain or new[-1] >= certain[-1], (seed, kill)
        expected += new
        first, last_segment = publisher.next, segments(str(folder))[-1].number
    assert len(expected) > KILLS * 1_000
    with RouterProcess("--record", str(folder)) as router:
        assert router.end() == 0
    assert values(folder) == expected
    assert all(one.is_sealed for one in segments(str(folder)))
    with trace.open(str(folder)) as capture:
        list(capture)
        assert not capture.is_damaged
        assert [one.outcome for one in capture.sessions] == ["lost"] * KILLS


def refusal(folder: Path) -> list[str]:
    """The error line of a command that refuses to record into a folder."""
    options = ("-l", "tcp/127.0.0.1:0", "--no-multicast-scouting", "--record", str(folder))
    done = run_zenlake("router", *options)
    assert done.returncode == 2
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if " INFO " not in line]


def test_folder_that_is_no_recording_is_refused_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (line,) = refusal(tmp_path)
    assert "no recording and not empty (it has notes.txt): choose a new folder" in line


def test_second_recorder_is_refused_with_one_line(tmp_path: Path) -> None:
    folder = RecordingFolder(str(tmp_path / "r"))
    (line,) = refusal(tmp_path / "r")
    assert "another recorder writes to it" in line
    folder.close()


def test_recovery_takes_less_than_two_seconds(tmp_path: Path) -> None:
    recording = ScriptedRecording(tmp_path, FailingFiles(at=0, count=0), segment_bytes=64 << 20)
    for _ in range(200):
        recording.step(200, 100)
    recording.folder.close()  # killed
    begun = time.thread_time()
    folder = RecordingFolder(str(tmp_path))
    scan = folder.recover()
    assert time.thread_time() - begun < RESTART_S_MAX
    folder.close()
    assert scan is not None
    assert scan.packets > 40_000


def test_read_only_folder_is_refused_with_one_line(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", DISK_BYTES) as disk, read_only(disk):
        (line,) = refusal(disk / "r")
    assert "the file system is read-only" in line


def test_full_disk_is_reported_within_a_second_and_recording_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """R05"""
    with small_disk(tmp_path / "disk", DISK_BYTES) as path:
        (path / "filler").write_bytes(b"x" * (4 << 20))
        recorder = Recorder(RecordingSettings(str(path / "r"), segment_bytes=1 << 20))
        peer = Peer(recorder)
        peer.declare()
        offered = 3 + 5
        number = 0
        full_at = 0.0
        with caplog.at_level(logging.WARNING, "zenlake.recording"):
            while not caplog.records and number < 2_000:
                peer.put(number, 10_000)
                number += 1
                time.sleep(0.001)
                if not full_at and number * 10_000 > 4 << 20:
                    full_at = time.time()
            assert not full_at or caplog.records[0].created - full_at < 1.0
            for _ in range(100):
                peer.put(number, 10_000)
                number += 1
            (path / "filler").unlink()
            deadline = time.monotonic() + 10
            while len(caplog.records) < 2 and time.monotonic() < deadline:
                peer.put(number, 1_000)
                number += 1
                time.sleep(0.01)
            for _ in range(20):
                peer.put(number, 1_000)
                number += 1
            recorder.close()
        texts = [one.getMessage() for one in caplog.records]
        assert "is interrupted: No space left on device" in texts[0]
        assert "continues" in texts[1]
        assert len(texts) == 2
        written = wire_packets(path / "r")
        assert len(written) + recorder.dropped_packets == offered + number
        assert recorder.dropped_packets > 0
        found = values(path / "r")
        assert found == sorted(set(found))
        assert found[-1] == number - 1
        scan = scan_segment(segments(str(path / "r"))[-1].path)
        assert scan is not None
        assert scan.dropped == recorder.dropped_packets
