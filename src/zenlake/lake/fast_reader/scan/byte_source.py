"""ByteSource: random access to the bytes of a capture: of a file, a recording, or in a store."""

from __future__ import annotations

import os
from bisect import bisect_right
from typing import Protocol

from zenlake.capture.recordings import SegmentFile, current_path, is_recording, segments
from zenlake.errors import CaptureError
from zenlake.lake.address import Address, parse


class ByteSource(Protocol):
    """A file of fixed size that can be read at any offset."""

    size: int

    def read_into(self, offset: int, target: memoryview) -> int:
        """Reads bytes from `offset` on into `target`; their number, 0 only at the end."""
        ...

    def close(self) -> None: ...


class LocalFile:
    """A file of this machine. It is not mapped: a mapped file that is cut kills the process."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  # until `close`
        try:
            self.size = self._file.seek(0, os.SEEK_END)
        except BaseException:
            self._file.close()
            raise

    def read_into(self, offset: int, target: memoryview) -> int:
        self._file.seek(offset)
        return self._file.readinto(target) or 0

    def close(self) -> None:
        self._file.close()


class RecordingFiles:
    """The segments of a recording of this machine, one after the other.

    A recording may grow, so that bytes after those of an earlier reader appear; deleted segments
    are a change of the file.
    """

    def __init__(self, folder: str) -> None:
        self._segments: list[SegmentFile] = []
        self._starts: list[int] = []
        self._file: LocalFile | None = None
        self._place = -1
        self.size = 0
        self.is_growing = False
        for segment in segments(folder):
            self._segments.append(segment)
            self.is_growing = not segment.is_sealed
            self._starts.append(self.size)
            self.size += os.stat(current_path(segment)).st_size

    def read_into(self, offset: int, target: memoryview) -> int:
        if offset >= self.size:
            return 0
        place = bisect_right(self._starts, offset) - 1
        if self._file is None or place != self._place:
            self.close()
            self._file = LocalFile(current_path(self._segments[place]))
            self._place = place
        start = self._starts[place]
        stop = self.size if place + 1 == len(self._starts) else self._starts[place + 1]
        return self._file.read_into(offset - start, target[: stop - offset])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class StoredFile:
    """A file in a store; only the requested parts are transferred."""

    def __init__(self, address: Address) -> None:
        self._file = address.filesystem.open_input_file(address.fs_path)
        self.size = int(self._file.size())

    def read_into(self, offset: int, target: memoryview) -> int:
        found = self._file.read_at(min(len(target), max(0, self.size - offset)), offset)
        target[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._file.close()


class Content:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self.size = len(data)
        self._view = memoryview(data)

    def read_into(self, offset: int, target: memoryview) -> int:
        found = self._view[offset : offset + len(target)]
        target[: len(found)] = found
        return len(found)

    def close(self) -> None:
        pass


def open_bytes(address: str, content: bytes | None = None) -> ByteSource:
    """Opens a capture at a local path or an address; `content` if it is in memory."""
    if content is not None:
        return Content(content)
    try:
        place = parse(address)
        if place.is_local and is_recording(address):
            return RecordingFiles(address)
        return LocalFile(address) if place.is_local else StoredFile(place)
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else None
        cause = cause or " ".join(str(error).split())
        raise CaptureError(address, 0, f"cannot be opened: {cause}") from None
