"""A recording without threads and clocks: the same entries in every run."""

from __future__ import annotations

import errno
from pathlib import Path

from tests.recording.recorded_values import Peer
from zenlake.recording.batch_queue import BatchQueue, LinkRecorder
from zenlake.recording.files import Files
from zenlake.recording.folder import RecordingFolder
from zenlake.recording.packet_headers import end_of_locator
from zenlake.recording.segment_writer import SegmentWriter
from zenlake.recording.settings import RecordingSettings

OWN, OTHER = "tcp/127.0.0.1:7447", "tcp/127.0.0.1:40000"


class ScriptedRecording:
    """One link with publications that are written step by step."""

    def __init__(self, path: Path, files: Files, segment_bytes: int = 6_000) -> None:
        self.now = 100.0
        self.queue = BatchQueue()
        settings = RecordingSettings(str(path), segment_bytes=segment_bytes)
        self.folder = RecordingFolder(str(path), files)
        self.writer = SegmentWriter(self.folder, settings, self.queue, clock=lambda: self.now)
        self.writer.start(self.folder.recover(), 1_000_000)
        self.peer = Peer(self)
        self.peer.declare()
        self.sent = 0

    def open(self, src: str, dst: str, is_stream: bool, is_accepted: bool) -> LinkRecorder:
        return LinkRecorder(self.queue, (end_of_locator(dst), end_of_locator(src)), is_stream, 1)

    def step(self, puts: int, size: int = 100) -> None:
        """Add publications, write all of them at once, and run what is due after some time."""
        for _ in range(puts):
            self.peer.put(self.sent, size)
            self.sent += 1
        self.writer.write(self.queue.pop(1 << 30))
        self.now += 0.25
        self.writer.tick()

    def close(self) -> None:
        self.queue.close()
        self.writer.close()
        self.folder.close()


class FailingFiles(Files):
    """File operations of which one call fails, or all calls from it on."""

    def __init__(self, at: int, count: int = 1) -> None:
        self.at = at
        self.count = count
        self.calls = 0
        self.is_armed = True
        self.names: list[str] = []

    def _call(self, name: str) -> None:
        if not self.is_armed:
            return
        self.calls += 1
        self.names.append(name)
        if self.at <= self.calls < self.at + self.count:
            raise OSError(errno.EIO, f"{name} failed")

    def create(self, path: str) -> int:
        self._call("create")
        return super().create(path)

    def open_end(self, path: str) -> int:
        self._call("open_end")
        return super().open_end(path)

    def write(self, fd: int, pieces: list[bytes], size: int) -> None:
        try:
            self._call("write")
        except OSError:
            # A part of the bytes may be on the disk.
            part = b"".join(pieces)[: size // 2]
            super().write(fd, [part], len(part))
            raise
        super().write(fd, pieces, size)

    def truncate(self, fd: int, size: int) -> None:
        self._call("truncate")
        super().truncate(fd, size)

    def sync(self, fd: int) -> None:
        self._call("sync")

    def rename(self, old: str, new: str) -> None:
        self._call("rename")
        super().rename(old, new)

    def remove(self, path: str) -> None:
        self._call("remove")
        super().remove(path)

    def sync_folder(self, path: str) -> None:
        self._call("sync_folder")
