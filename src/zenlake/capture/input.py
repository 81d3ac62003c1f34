"""Input: the bytes of one capture file or of standard input, decompressed, through a window.

A reader works on `buffer`, the part of the file that is in memory, and calls `has` when a record
reaches beyond it. `has` drops the bytes before the record, so memory stays at one chunk and one
record, whatever the size of the file. `base` is the offset of the buffer in the file (after
decompression); a "place" is an offset in the file.

A chunk is what one system call returns: a live pipe is read as its packets arrive.
"""

from __future__ import annotations

import importlib
import io
import re
import sys
import zlib
from typing import IO, Any, Final

from zenlake.capture.packet import Skipped
from zenlake.errors import CaptureError
from zenlake.limits import CAPTURE_EXPANSION_FREE_BYTES_MAX, CAPTURE_EXPANSION_RATIO_MAX

CHUNK_BYTES: Final = 1 << 20
# Small, because the libraries return nothing of a chunk that contains damage.
_COMPRESSED_CHUNK_BYTES: Final = 1 << 12

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
# A zstd file may begin with a frame of metadata, in one of 16 kinds.
_ZSTD_SKIPPABLE: Final = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")


class Source:
    """Chunks of a file as it is on disk; an empty chunk is the end."""

    def __init__(self, path: str, file: IO[bytes], skipped: Skipped) -> None:
        self.path = path
        self.skipped = skipped
        self.problem = ""
        """Why reading stopped before the end of the file; empty otherwise."""
        self._read1: Any = getattr(file, "read1", file.read)

    def read(self, size: int) -> bytes:
        try:
            chunk: bytes = self._read1(size)
        except OSError as error:
            self.stop(f"reading failed: {error.strerror or error}", 0)
            return b""
        return chunk

    def stop(self, problem: str, bytes: int) -> None:
        self.problem = problem
        self.skipped.add(problem, bytes)


class CompressedSource(Source):
    """Chunks of the content of a gzip or zstd file, as far as it can be decompressed."""

    def __init__(self, source: Source, head: bytes, is_gzip: bool) -> None:
        self.path = source.path
        self.skipped = source.skipped
        self.problem = ""
        self._source = source
        self._is_gzip = is_gzip
        self._kind = "gzip" if is_gzip else "zstd"
        library: Any = zlib if is_gzip else _import_zstd(source.path)
        self._library = library
        self._error: Any = zlib.error if is_gzip else library.ZstdError
        self._stream: Any = self._new_stream()
        self._pending = head
        self._bytes_in = len(head)
        self._bytes_out = 0
        self._ended = False

    def _new_stream(self) -> Any:
        if self._is_gzip:
            return zlib.decompressobj(31)
        return self._library.ZstdDecompressor()

    def read(self, size: int) -> bytes:
        while not self._ended:
            pending = self._pending
            try:
                chunk: bytes = self._stream.decompress(pending, size)
            except self._error:
                self._end(f"damaged {self._kind} data", len(pending))
                return b""
            # zstd keeps unused input, zlib returns it.
            self._pending = self._stream.unconsumed_tail if self._is_gzip else b""
            if self._stream.eof:
                self._next_member(self._stream.unused_data)
            elif not chunk and not self._pending:
                self._feed()
            if chunk:
                self._bytes_out += len(chunk)
                if self._is_bomb():
                    ratio = CAPTURE_EXPANSION_RATIO_MAX
                    self._end(f"{self._kind} data expands more than {ratio} times", len(chunk))
                    return b""
                return chunk
        return b""

    def _is_bomb(self) -> bool:
        if self._bytes_out <= CAPTURE_EXPANSION_FREE_BYTES_MAX:
            return False
        return self._bytes_out > self._bytes_in * CAPTURE_EXPANSION_RATIO_MAX

    def _feed(self) -> None:
        self._pending = self._source.read(_COMPRESSED_CHUNK_BYTES)
        self._bytes_in += len(self._pending)
        if not self._pending:
            self._end(self._source.problem or f"{self._kind} data ends too early", 0)

    def _next_member(self, rest: bytes) -> None:
        """Compressed files may be concatenated; zeros after them are padding."""
        while len(rest) < 4:
            more = self._source.read(_COMPRESSED_CHUNK_BYTES)
            self._bytes_in += len(more)
            if not more:
                break
            rest += more
        if _is_gzip(rest) if self._is_gzip else _is_zstd(rest):
            self._stream = self._new_stream()
            self._pending = rest
            return
        self._ended = True
        if rest.strip(b"\0"):
            self.skipped.add(f"bytes after the {self._kind} data", len(rest))

    def _end(self, problem: str, bytes: int) -> None:
        self._ended = True
        # The underlying source has counted its own problem.
        if problem == self._source.problem:
            self.problem = problem
        else:
            self.stop(problem, bytes)


class Input:
    """A window on the bytes of a capture: `buffer[i]` is byte `base + i` of the file."""

    def __init__(
        self, path: str, skipped: Skipped, start: int = 0, content: bytes | None = None
    ) -> None:
        """Read from byte `start` on; a file that is not read from byte 0 is not decompressed.

        With `content`, the bytes of a file in memory, `path` is only a name.
        """
        self.path = path
        self.base = start
        self._file: IO[bytes] = _open(path) if content is None else io.BytesIO(content)
        if start:
            self._file.seek(start)
        source = Source(path, self._file, skipped)
        head = source.read(_COMPRESSED_CHUNK_BYTES)
        while 0 < len(head) < 4:
            more = source.read(_COMPRESSED_CHUNK_BYTES)
            if not more:
                break
            head += more
        self._source = source
        self.buffer = head
        if not start and (_is_gzip(head) or _is_zstd(head)):
            try:
                self._source = CompressedSource(source, head, _is_gzip(head))
            except CaptureError:
                self.close()
                raise
            self.buffer = self._source.read(CHUNK_BYTES)

    @property
    def problem(self) -> str:
        return self._source.problem

    def has(self, place: int, needed: int) -> bool:
        """Whether the file has `needed` bytes from `place` on; if so, they are in the window now.

        `place` is in the window or at its end; bytes before it may be dropped.
        """
        position = place - self.base
        length = len(self.buffer) - position
        if length >= needed:
            return True
        parts = [self.buffer[position:]]
        while length < needed:
            chunk = self._source.read(CHUNK_BYTES)
            if not chunk:
                break
            parts.append(chunk)
            length += len(chunk)
        self.buffer = b"".join(parts)
        self.base = place
        return length >= needed

    def end_place(self) -> int:
        """The place after the window; the size of the file once `has` returned False."""
        return self.base + len(self.buffer)

    def find(self, pattern: re.Pattern[bytes], start: int, stop: int, width: int) -> int:
        """The place, from `start` and before `stop`, where a pattern of `width` bytes matches;
        -1 if there is none.
        """
        while start < stop and self.has(start, width):
            found = pattern.search(self.buffer, start - self.base)
            if found is not None:
                place = self.base + found.start()
                return place if place < stop else -1
            start = self.end_place() - width + 1
        return -1

    def drain(self) -> int:
        """Reads to the end without keeping anything; returns the size of the file."""
        self.base += len(self.buffer)
        self.buffer = b""
        while chunk := self._source.read(CHUNK_BYTES):
            self.base += len(chunk)
        return self.base

    def close(self) -> None:
        if self.path != "-":
            self._file.close()


def _open(path: str) -> IO[bytes]:
    if path == "-":
        if sys.stdin is None:
            raise CaptureError(path, 0, "there is no standard input")
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else str(error)
        raise CaptureError(path, 0, f"cannot be opened: {cause}") from None


def _is_gzip(head: bytes) -> bool:
    return head.startswith(_GZIP)


def _is_zstd(head: bytes) -> bool:
    return head.startswith(_ZSTD) or _ZSTD_SKIPPABLE.match(head) is not None


def _import_zstd(path: str) -> Any:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return importlib.import_module(name)
    except ImportError:
        cause = f"compressed with zstd, which needs {name}: pip install backports.zstd"
        raise CaptureError(path, 0, cause) from None
