"""FileWindow: the part of a capture that is in memory, however large the file is.

Kernels take positions in `data`. Before `base` lie bytes that were copied out of earlier parts
because they are still needed; from `base` to `end` lies the file from `offset` on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from zenlake.errors import CaptureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.scan.byte_source import ByteSource

LOAD_BYTES: Final = 4 << 20
"""Read at once: what a cache holds."""
HELD_ROOM: Final = 1 << 20
"""Room for bytes that are still needed, at first."""


class Held(Protocol):
    """Bytes of the window that are needed longer than their part of the file."""

    @property
    def size(self) -> int: ...

    def carry(self, source: NDArray[np.uint8], first: int, target: NDArray[np.uint8]) -> bool:
        """Copy what lies from `first` on in `source` to the front of `target`, behind all that
        was copied there before; False where there is no room. All is copied where `first` is 0.
        """
        ...


class Observer(Protocol):
    """Sees all bytes that are loaded."""

    def feed(self, piece: memoryview) -> None:
        """Take bytes that stay as they are until `wait` returns."""
        ...

    def wait(self) -> None: ...


class FileWindow:
    """Loads what is asked for; a file that is shorter than it was is an error of that file."""

    def __init__(self, source: ByteSource, path: str, observer: Observer | None = None) -> None:
        self.size = source.size
        self.path = path
        self.data = np.zeros(0, np.uint8)
        self.base = self.end = 0
        self.offset = 0
        self._source = source
        self._observer = observer

    @property
    def loaded(self) -> NDArray[np.uint8]:
        """What kernels may look at."""
        return self.data[: self.end]

    @property
    def is_at_end(self) -> bool:
        """Whether the file ends where the window does."""
        return self._end_offset >= self.size

    @property
    def _end_offset(self) -> int:
        return self.offset + self.end - self.base

    def position(self, offset: int) -> int:
        """Where in `data` a byte of the file is."""
        return offset - self.offset + self.base

    def offset_of(self, position: int) -> int:
        return position - self.base + self.offset

    def head(self, count: int) -> bytes:
        """The first bytes of the file, fewer where it is shorter."""
        return self.read(0, min(count, self.size)).tobytes()

    def read(self, offset: int, count: int) -> NDArray[np.uint8]:
        """Bytes from anywhere; the window stays where it is."""
        found = np.empty(count, np.uint8)
        self._read(offset, found.data)
        return found

    def load(self, at: int, held: Held) -> None:
        """Move the window on to `at`, with more bytes behind it than it had, up to the end."""
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
        """Into other memory, with room for as much as is held once more."""
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


def changed(path: str, offset: int) -> CaptureError:
    return CaptureError(path, offset, "the file changed while it was being read: run again")
