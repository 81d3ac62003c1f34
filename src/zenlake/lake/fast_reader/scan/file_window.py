"""FileWindow: the part of a capture that is in memory, however large the file is.

Kernels use positions in `data`. Before `base` are bytes of earlier parts that are still needed;
from `base` to `end` are the bytes of the file from `offset` on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from zenlake.errors import CaptureError
from zenlake.lake.fast_reader.scan.byte_source import RecordingFiles, open_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.scan.byte_source import ByteSource

LOAD_BYTES: Final = 4 << 20
"""Read at once: so much fits into a processor's cache."""
HELD_ROOM: Final = 1 << 20
"""Initial room before `base`."""


class Held(Protocol):
    """Bytes of the window that are still needed when the window moves on."""

    @property
    def size(self) -> int: ...

    def carry(self, source: NDArray[np.uint8], first: int, target: NDArray[np.uint8]) -> bool:
        """Copies held bytes at positions from `first` on in `source` to the front of `target`.

        They are put after those that were copied before; with `first` 0 all are copied. False if
        there is no room.
        """
        ...


class Observer(Protocol):
    """Gets all bytes that are loaded, such as a hash."""

    def feed(self, piece: memoryview) -> None:
        """Takes bytes, which do not change before `wait` returns."""
        ...

    def wait(self) -> None: ...


class FileWindow:
    """Loads parts of the file. A file that has become shorter is a CaptureError."""

    def __init__(self, source: ByteSource, path: str, observer: Observer | None = None) -> None:
        self.size = source.size
        self.path = path
        self.data = np.zeros(0, np.uint8)
        self.base = self.end = 0
        self.offset = 0
        self._source = source
        self._observer = observer
        self.is_recording = isinstance(source, RecordingFiles)
        self.is_growing = isinstance(source, RecordingFiles) and source.is_growing
        """Whether the last record may be incomplete without being damaged."""

    def has_size(self, size: int) -> bool:
        """Whether the file has the size that a survey found.

        A recording may have grown since: then only so many bytes of it are read.
        """
        if self.is_recording and self.size > size:
            self.size = size
            self.is_growing = True
        return self.size == size

    @property
    def loaded(self) -> NDArray[np.uint8]:
        """The bytes that kernels may read."""
        return self.data[: self.end]

    @property
    def is_at_end(self) -> bool:
        """Whether the file ends where the window does."""
        return self._end_offset >= self.size

    @property
    def _end_offset(self) -> int:
        return self.offset + self.end - self.base

    def position(self, offset: int) -> int:
        """The position in `data` of an offset in the file."""
        return offset - self.offset + self.base

    def offset_of(self, position: int) -> int:
        return position - self.base + self.offset

    def head(self, count: int) -> bytes:
        """The first bytes of the file, fewer where it is shorter."""
        return self.read(0, min(count, self.size)).tobytes()

    def read(self, offset: int, count: int) -> NDArray[np.uint8]:
        """Bytes at any offset, without moving the window."""
        found = np.empty(count, np.uint8)
        self._read(offset, found.data)
        return found

    def load(self, at: int, held: Held) -> None:
        """Moves the window to `at` and loads more bytes after it than before, up to the end."""
        if self._observer is not None:
            self._observer.wait()
        kept = max(self._end_offset - at, 0) if at >= self.offset else 0
        wanted = LOAD_BYTES if kept < LOAD_BYTES else kept + LOAD_BYTES
        count = max(min(wanted, self.size - at), 0)
        rest = self.data[self.end - kept : self.end]
        if not self._carry(held) or self.base + count > len(self.data):
            self._move(held, count)
        self.data[self.base : self.base + kept] = rest
        self.offset, self.end = at, self.base + count
        fresh = self.data.data[self.base + kept : self.end]
        self._read(at + kept, fresh)
        if self._observer is not None:
            self._observer.feed(fresh)

    def _carry(self, held: Held) -> bool:
        return not held.size or held.carry(self.data, self.base, self.data[: self.base])

    def _move(self, held: Held, count: int) -> None:
        """Allocates a larger buffer, with room for twice the held bytes."""
        base = 2 * held.size + HELD_ROOM
        data = np.empty(base + max(count, LOAD_BYTES), np.uint8)
        held.carry(self.data, 0, data[:base])
        self.data, self.base = data, base

    def _read(self, offset: int, target: memoryview) -> None:
        done = 0
        while done < len(target):
            try:
                count = self._source.read_into(offset + done, target[done:])
            except OSError as error:
                cause = f"cannot be read: {error.strerror or error}"
                raise CaptureError(self.path, offset + done, cause) from None
            if not count:
                raise changed(self.path, offset + done)
            done += count


@contextmanager
def open_window(
    path: str, observer: Observer | None = None, content: bytes | None = None
) -> Iterator[FileWindow]:
    """A window on the capture at a path or an address; `content` if it is in memory."""
    with closing(open_bytes(path, content)) as source:
        yield FileWindow(source, path, observer)


def changed(path: str, offset: int) -> CaptureError:
    return CaptureError(path, offset, "the file changed while it was being read: run again")
