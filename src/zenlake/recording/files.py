"""The file operations of a recorder in one place, so that tests can make each of them fail."""

from __future__ import annotations

import os
from typing import Final

_PIECES_MAX: Final = 512
"""Fewer than IOV_MAX, which is 1024 on Linux."""


class Files:
    """The operating system's files. Every method raises OSError as the system does."""

    def create(self, path: str) -> int:
        """A new file that only its owner may read."""
        return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)

    def open_end(self, path: str) -> int:
        """An existing file, to be truncated or appended to."""
        return os.open(path, os.O_WRONLY | os.O_CLOEXEC)

    def write(self, fd: int, pieces: list[bytes], size: int) -> None:
        """Write all pieces, which have `size` bytes together."""
        if len(pieces) <= _PIECES_MAX:
            written = os.writev(fd, pieces)
            if written == size:
                return
            rest = memoryview(b"".join(pieces))[written:]
        else:
            rest = memoryview(b"".join(pieces))
        while len(rest):
            rest = rest[os.write(fd, rest) :]

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)
        os.lseek(fd, size, os.SEEK_SET)

    def sync(self, fd: int) -> None:
        os.fdatasync(fd)

    def close(self, fd: int) -> None:
        os.close(fd)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def remove(self, path: str) -> None:
        os.remove(path)

    def sync_folder(self, path: str) -> None:
        """Make names in a folder durable."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
