"""ByteSource: random access to the bytes of a capture, in a local file or in a store."""

from __future__ import annotations

import os
from typing import Protocol

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


def open_bytes(address: str) -> ByteSource:
    """Opens a capture at a local path or an address."""
    try:
        place = parse(address)
        return LocalFile(address) if place.is_local else StoredFile(place)
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else None
        cause = cause or " ".join(str(error).split())
        raise CaptureError(address, 0, f"cannot be opened: {cause}") from None
