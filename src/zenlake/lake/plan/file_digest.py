"""The SHA-256 of a capture, from the bytes that a survey reads, or from the file."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from zenlake.lake.fast_reader.scan.byte_source import open_bytes
from zenlake.lake.fast_reader.scan.file_window import changed

_PIECE_BYTES: Final = 1 << 20


class FileDigest:
    """Hashes the bytes of a file, which are fed in order, in a separate thread."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes fed so far."""
        self._hash = hashlib.sha256()
        self._thread = ThreadPoolExecutor(1)
        self._pending: Future[None] | None = None

    def __enter__(self) -> FileDigest:
        return self

    def __exit__(self, *_error: object) -> None:
        self._thread.shutdown()

    def feed(self, piece: memoryview) -> None:
        """Hashes a piece, which must not change before `wait` returns."""
        self.wait()
        self.size += len(piece)
        self._pending = self._thread.submit(self._hash.update, piece)

    def wait(self) -> None:
        if self._pending is not None:
            self._pending.result()
            self._pending = None

    def hexdigest(self) -> str:
        self.wait()
        return self._hash.hexdigest()


def sha256_of(path: str) -> str:
    source = open_bytes(path)
    try:
        found = hashlib.sha256()
        piece, done = memoryview(bytearray(min(_PIECE_BYTES, source.size))), 0
        while done < source.size:
            count = source.read_into(done, piece[: source.size - done])
            if not count:
                raise changed(path, done)
            found.update(piece[:count])
            done += count
        return found.hexdigest()
    finally:
        source.close()
