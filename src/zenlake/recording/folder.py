"""RecordingFolder: the files of a recording, and the one process that may add to it.

    recording.json          {"format": 1, "id": "<32 hexadecimal digits>"}
    recorder.lock           locked (flock) by the recorder
    00000001.pcapng         segments that are complete
    00000002.pcapng.part    the segment that is being written

A recorder that was killed leaves a `.part`. The next recorder cuts it after its last valid block
and renames it to its final name.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import uuid
from contextlib import suppress
from typing import Final, NamedTuple

from zenlake.capture.recordings import GROWING_SUFFIX, MARKER_NAME, is_recording, segments
from zenlake.errors import CaptureError, RecordingError
from zenlake.recording.files import Files
from zenlake.recording.segment_scan import SegmentScan, scan_segment

RECORDING_FILE: Final = MARKER_NAME
LOCK_FILE: Final = "recorder.lock"
FORMAT: Final = 1
_RECORDING_BYTES_MAX: Final = 65_536


class SegmentEntry(NamedTuple):
    """One segment in a folder."""

    number: int
    path: str
    is_sealed: bool
    size: int
    modified_ns: int


def recording_id(path: str) -> str:
    """The id of a recording; RecordingError if the folder is no recording, or of a later format."""
    name = os.path.join(path, RECORDING_FILE)
    try:
        with open(name, "rb") as file:
            found = json.loads(file.read(_RECORDING_BYTES_MAX))
    except FileNotFoundError:
        raise RecordingError(path, f"no recording: it has no {RECORDING_FILE}") from None
    except OSError as error:
        raise RecordingError(name, error.strerror or str(error)) from None
    except (ValueError, RecursionError):
        raise RecordingError(name, "not JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("id"), str):
        raise RecordingError(name, "it has no id")
    if found.get("format") != FORMAT:
        cause = f"format {found.get('format')!r}, this version reads {FORMAT}"
        raise RecordingError(name, cause)
    return str(found["id"])


def list_segments(path: str) -> list[SegmentEntry]:
    """The segments of a recording by number; a segment that vanishes meanwhile is left out."""
    found = []
    try:
        listed = segments(path)
    except CaptureError as error:
        raise RecordingError(path, error.cause) from None
    for one in listed:
        with suppress(OSError):
            status = os.stat(one.path)
            found.append(
                SegmentEntry(
                    one.number, one.path, one.is_sealed, status.st_size, status.st_mtime_ns
                )
            )
    return found


class RecordingFolder:
    """A recording that this process alone may extend, until `close`."""

    def __init__(self, path: str, files: Files | None = None) -> None:
        self.path = path
        self.files = Files() if files is None else files
        self._lock = -1
        try:
            self._prepare()
            self._lock_folder()
            self.id = self._read_or_create_id()
        except RecordingError:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise RecordingError(path, describe_error(error)) from None

    def _prepare(self) -> None:
        if os.path.lexists(self.path) and not os.path.isdir(self.path):
            raise RecordingError(self.path, "not a folder")
        os.makedirs(self.path, 0o700, exist_ok=True)
        if is_recording(self.path):
            return
        others = [name for name in os.listdir(self.path) if name != LOCK_FILE]
        others = [name for name in others if not name.startswith(RECORDING_FILE)]
        if others:
            cause = f"no recording and not empty (it has {sorted(others)[0]}): choose a new folder"
            raise RecordingError(self.path, cause)

    def _lock_folder(self) -> None:
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
        self._lock = os.open(os.path.join(self.path, LOCK_FILE), flags, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordingError(self.path, "another recorder writes to it") from None

    def _read_or_create_id(self) -> str:
        if is_recording(self.path):
            return recording_id(self.path)
        name = os.path.join(self.path, RECORDING_FILE)
        id = uuid.uuid4().hex
        data = json.dumps({"format": FORMAT, "id": id}).encode() + b"\n"
        with suppress(FileNotFoundError):
            self.files.remove(name + ".new")
        fd = self.files.create(name + ".new")
        try:
            self.files.write(fd, [data], len(data))
            self.files.sync(fd)
        finally:
            self.files.close(fd)
        self.files.rename(name + ".new", name)
        self.files.sync_folder(self.path)
        return id

    def recover(self) -> SegmentScan | None:
        """Seal what a killed recorder left. Returns the content of the last segment, if any."""
        last: SegmentScan | None = None
        try:
            for entry in list_segments(self.path):
                if not entry.is_sealed:
                    self._seal_leftover(entry)
            left = list_segments(self.path)
            # A last segment without a valid header does not show how the one before it ended.
            while left and last is None:
                last = scan_segment(left.pop().path)
        except OSError as error:
            raise RecordingError(self.path, describe_error(error)) from None
        return last

    def _seal_leftover(self, entry: SegmentEntry) -> None:
        scan = scan_segment(entry.path)
        if scan is None:
            self.files.remove(entry.path)  # its first blocks did not reach the disk
            return
        fd = self.files.open_end(entry.path)
        try:
            if scan.end != entry.size:
                self.files.truncate(fd, scan.end)
            self.files.sync(fd)
        finally:
            self.files.close(fd)
        self.files.rename(entry.path, entry.path[: -len(GROWING_SUFFIX)])
        self.files.sync_folder(self.path)

    def next_number(self) -> int:
        """The number of the next segment."""
        present = list_segments(self.path)
        return present[-1].number + 1 if present else 1

    def trim(self, bytes_max: int | None, age_max_s: float | None, now_ns: int) -> list[str]:
        """Remove the oldest sealed segments beyond a total size or an age; returns their names."""
        present = list_segments(self.path)
        total = sum(one.size for one in present)
        removed = []
        for one in present:
            is_old = age_max_s is not None and now_ns - one.modified_ns > age_max_s * 1e9
            if not one.is_sealed or not (is_old or (bytes_max is not None and total > bytes_max)):
                break
            self.files.remove(one.path)
            total -= one.size
            removed.append(os.path.basename(one.path))
        return removed

    def is_missing(self) -> bool:
        """Whether the folder was removed or replaced."""
        return not os.path.isfile(os.path.join(self.path, RECORDING_FILE))

    def close(self) -> None:
        """Release the lock."""
        if self._lock >= 0:
            fd, self._lock = self._lock, -1
            os.close(fd)


def describe_error(error: OSError) -> str:
    """One line: the error, and what to do about it."""
    if error.errno == errno.EROFS:
        return "the file system is read-only"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "no permission to write into it"
    return error.strerror or str(error)
