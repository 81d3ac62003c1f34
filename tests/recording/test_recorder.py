"""A recorder writes the batches that its taps get, or counts them."""

from __future__ import annotations

import logging
import os
import struct
import threading
import time
from pathlib import Path

import pytest

from tests.recording.recorded_values import Peer, losses, values
from tests.waiting import until
from zenlake import trace
from zenlake.capture.recordings import segments
from zenlake.capture.segment_format import FIRST, PLAIN, STATISTICS
from zenlake.errors import RecordingError
from zenlake.limits import (
    RECORDING_QUEUE_BYTES_MAX,
    RECORDING_RESERVE_BYTES_MAX,
    RECORDING_UNSYNCED_BYTES_MAX,
    RECORDING_UNSYNCED_SECONDS_MAX,
)
from zenlake.recording.batch_queue import BatchQueue, LinkRecorder
from zenlake.recording.files import Files
from zenlake.recording.packet_headers import End
from zenlake.recording.recorder import Recorder
from zenlake.recording.segment_scan import blocks, scan_segment
from zenlake.recording.settings import RecordingSettings
from zenlake.wire import (
    Fragment,
    Frame,
    Push,
    Put,
    WireExpr,
)


def until_synced(recorder: Recorder) -> None:
    """Wait until everything that was queued is on the disk."""
    queue, writer = recorder._queue, recorder._writer
    until(lambda: not queue._bytes and writer.synced_packets == writer.packets)


def test_all_batches_are_recorded_in_order(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path), segment_bytes=20_000))
    peer = Peer(recorder)
    peer.declare()
    for number in range(2_000):
        peer.put(number, 8 if number % 100 else 65_000)
    peer.tap.close()
    recorder.close()
    assert values(tmp_path) == list(range(2_000))
    assert losses(tmp_path) == []
    assert len(segments(str(tmp_path))) > 5
    assert all(one.is_sealed for one in segments(str(tmp_path)))
    assert recorder.dropped_packets == 0


def test_each_segment_is_read_alone(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path), segment_bytes=5_000))
    peer = Peer(recorder)
    peer.declare()
    for number in range(300):
        peer.put(number)
        if number % 60 == 0:
            until_synced(recorder)
    recorder.close()
    found = []
    for segment in segments(str(tmp_path)):
        part = values(Path(segment.path))
        assert losses(Path(segment.path)) == []
        found += part
    assert found == list(range(300))
    assert len(segments(str(tmp_path))) > 2


def test_packets_are_numbered_through_all_segments(tmp_path: Path) -> None:
    for _ in range(3):
        recorder = Recorder(RecordingSettings(str(tmp_path), segment_bytes=3_000))
        peer = Peer(recorder)
        peer.declare()
        for number in range(100):
            peer.put(number)
        recorder.close()
    numbers: list[int] = []
    times: list[int] = []
    for segment in segments(str(tmp_path)):
        data = Path(segment.path).read_bytes()
        found = list(blocks(data))
        assert found[0].number == len(numbers)
        wire = [one for one in found if one.type == 6 and data[one.start + 8] == 0]
        numbers += [one.number for one in wire]
        for one in wire:
            high, low = struct.unpack_from("<II", data, one.start + 12)
            times.append(high << 32 | low)
        assert found[-1].type == STATISTICS
    assert numbers == list(range(1, len(numbers) + 1))
    assert times == sorted(times)


def test_links_that_were_open_when_the_recorder_ended_are_over_after_it(tmp_path: Path) -> None:
    for _ in range(2):
        recorder = Recorder(RecordingSettings(str(tmp_path)))
        Peer(recorder).declare()
        recorder.close()
    with trace.open(str(tmp_path)) as capture:
        list(capture)
        outcomes = [(one.id[-2:], one.outcome) for one in capture.sessions]
    assert outcomes == [("#1", "lost"), ("#2", "open")]


class SlowFiles(Files):
    """A disk that accepts no writes for a while."""

    def __init__(self) -> None:
        self.may_write = threading.Event()
        self.may_write.set()

    def write(self, fd: int, pieces: list[bytes], size: int) -> None:
        self.may_write.wait(20)
        super().write(fd, pieces, size)


def test_batches_that_do_not_fit_are_counted_and_are_a_gap(tmp_path: Path) -> None:
    queue = BatchQueue(bytes_max=100_000, reserve_bytes=50_000)
    files = SlowFiles()
    recorder = Recorder(RecordingSettings(str(tmp_path)), queue, files)
    peer = Peer(recorder)
    peer.declare()
    until_synced(recorder)
    files.may_write.clear()
    peer.put(0, 1_000)
    while queue._bytes:  # the writer has it and waits for the disk
        time.sleep(0.01)
    for number in range(1, 200):
        peer.put(number, 1_000)
    files.may_write.set()
    dropped = queue.dropped_packets
    assert 50 < dropped < 150
    until_synced(recorder)
    for number in range(200, 250):
        peer.put(number, 1_000)
    peer.tap.close()
    recorder.close()
    assert recorder.dropped_packets == dropped
    found = values(tmp_path)
    # After a gap a reader looks for the next batch until the evidence suffices.
    assert found[: 200 - dropped] == list(range(200 - dropped))
    assert found[200 - dropped :] == list(range(250 - len(found) + 200 - dropped, 250))
    assert len(found) > 200 - dropped + 40
    lost_bytes = sum(bytes or 0 for kind, bytes in losses(tmp_path) if kind == "tcp_gap")
    lost = range(11 + 200 - dropped, 11 + 200)  # sequence numbers
    batches = [Frame(sn, [Push(WireExpr(1), Put(b"x" * 1_000))]) for sn in lost]
    assert lost_bytes == sum(2 + len(bytes(batch)) for batch in batches)
    scan = scan_segment(segments(str(tmp_path))[-1].path)
    assert scan is not None
    assert scan.dropped == dropped


def test_other_messages_may_use_the_reserve() -> None:
    queue = BatchQueue(bytes_max=10_000, reserve_bytes=10_000)
    ends = (End(b"\0\0\0\1", 1), End(b"\0\0\0\2", 2))
    link = LinkRecorder(queue, ends, True, 0)
    for _ in range(100):
        link.received(b"x" * 800, True)
    assert queue.added_packets == 3 + 9
    for _ in range(100):
        link.received(b"x" * 800, False)
    assert queue.added_packets == 3 + 19
    assert queue.dropped_packets == 200 - 19
    assert queue.dropped_bytes == (200 - 19) * 800
    assert (RECORDING_QUEUE_BYTES_MAX, RECORDING_RESERVE_BYTES_MAX) == (64 << 20, 8 << 20)


class CountedSyncs(Files):
    """Notes how many bytes were written before each sync, and when."""

    def __init__(self) -> None:
        self.unsynced = 0
        self.largest = 0
        self.since: float | None = None
        self.longest = 0.0

    def write(self, fd: int, pieces: list[bytes], size: int) -> None:
        super().write(fd, pieces, size)
        self.unsynced += size
        self.largest = max(self.largest, self.unsynced)
        self.since = self.since or time.monotonic()

    def sync(self, fd: int) -> None:
        super().sync(fd)
        self.unsynced = 0
        if self.since is not None:
            self.longest = max(self.longest, time.monotonic() - self.since)
        self.since = None


def test_bytes_are_synced_within_a_second_and_8_mib(tmp_path: Path) -> None:
    files = CountedSyncs()
    recorder = Recorder(RecordingSettings(str(tmp_path)), files=files)
    peer = Peer(recorder)
    peer.declare()
    for number in range(600):
        peer.put(number, 60_000)
    peer.put(600)
    until_synced(recorder)
    assert files.largest < RECORDING_UNSYNCED_BYTES_MAX + (2 << 20)
    assert files.longest < RECORDING_UNSYNCED_SECONDS_MAX
    recorder.close()
    assert values(tmp_path) == list(range(601))


def test_retention_by_size(tmp_path: Path) -> None:
    settings = RecordingSettings(str(tmp_path), segment_bytes=50_000, keep_bytes=200_000)
    recorder = Recorder(settings)
    peer = Peer(recorder)
    peer.declare()
    for number in range(1_000):
        peer.put(number, 1_000)
        if number % 200 == 0:
            until_synced(recorder)
    recorder.close()
    sizes = [os.stat(one.path).st_size for one in segments(str(tmp_path))]
    assert 100_000 < sum(sizes) < 500_000
    assert segments(str(tmp_path))[0].number > 5
    kept = values(tmp_path)
    assert kept == list(range(kept[0], 1_000))


def test_flags_mark_plain_batches(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path)))
    peer = Peer(recorder)
    peer.declare()
    peer.put(1)
    peer.put(2, 65_500)
    recorder.close()
    data = Path(segments(str(tmp_path))[0].path).read_bytes()
    flags = [one.flags for one in blocks(data) if one.type == 6]
    assert flags == [0, 0, 0, *[FIRST] * 5, FIRST | PLAIN, FIRST | PLAIN, PLAIN]


def test_second_recorder_is_refused(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path)))
    with pytest.raises(RecordingError, match="another recorder writes to it"):
        Recorder(RecordingSettings(str(tmp_path)))
    recorder.close()


def test_deleted_folder_ends_the_recording_with_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "r"
    recorder = Recorder(RecordingSettings(str(path)))
    peer = Peer(recorder)
    peer.declare()
    for name in os.listdir(path):
        os.remove(path / name)
    path.rmdir()
    with caplog.at_level(logging.WARNING, "zenlake.recording"):
        deadline = time.monotonic() + 5
        while not caplog.records and time.monotonic() < deadline:
            peer.put(1)
            time.sleep(0.01)
        for number in range(100):
            peer.put(number)
        recorder.close()
    assert [one.getMessage() for one in caplog.records] == [
        f"recording to {path} ends: the folder or its last segment was deleted"
    ]
    assert recorder.dropped_packets >= 100
    assert not path.exists()


@pytest.mark.parametrize(
    ("exclude", "drop_payload"), [((), ()), (("secret/**",), ()), ((), ("camera",))]
)
def test_segments_say_whether_rules_were_applied(
    tmp_path: Path, exclude: tuple[str, ...], drop_payload: tuple[str, ...]
) -> None:
    settings = RecordingSettings(str(tmp_path), exclude=exclude, drop_payload=drop_payload)
    recorder = Recorder(settings)
    peer = Peer(recorder)
    peer.declare()
    peer.put(0)
    recorder.close()
    with trace.open(str(tmp_path)) as capture:
        list(capture)
    assert capture.is_redacted() == bool(settings.rules)
    assert len(capture.skipped.counts) == bool(settings.rules)
    assert not capture.is_damaged


def test_batch_that_rules_cannot_be_applied_to_is_a_gap(tmp_path: Path) -> None:
    recorder = Recorder(RecordingSettings(str(tmp_path), exclude=["secret/**"]))
    peer = Peer(recorder)
    peer.send(Push(WireExpr(0, "robot"), Put(bytes(8))))
    undecodable = b"\x1f secret"
    peer.tap.received(undecodable, False)
    for number in range(1, 20):
        peer.send(Push(WireExpr(0, "robot"), Put(number.to_bytes(8, "big"))))
    peer.tap.close()
    recorder.close()
    assert values(tmp_path) == list(range(20))
    assert losses(tmp_path) == [("tcp_gap", 2 + len(undecodable))]
    assert recorder.dropped_packets == 0


def test_segments_are_at_least_as_large_as_the_state_before_them(tmp_path: Path) -> None:
    """Fragments of an unfinished message are repeated in each segment."""
    recorder = Recorder(RecordingSettings(str(tmp_path), segment_bytes=100_000))
    peer = Peer(recorder)
    count, size = 100, 50_000
    for number in range(count):
        fragment = Fragment(peer.sn, more=number < count - 1, payload=b"x" * size)
        peer.tap.received(bytes(fragment), False)
        peer.sn += 1
    until_synced(recorder)
    recorder.close()
    files = [*tmp_path.glob("*.pcapng")]
    assert len(files) > 3
    assert sum(file.stat().st_size for file in files) < 3 * count * size
