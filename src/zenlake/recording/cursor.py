"""Cursor: follows a recording while its segments grow, are sealed and are deleted."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from zenlake.capture.input import Input
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.recordings import (
    GROWING_SUFFIX,
    MARKER_NAME,
    SegmentFile,
    is_recording,
    segments,
)
from zenlake.capture.segment_reader import SegmentReader
from zenlake.errors import CaptureError, SegmentsDeletedError

LOCK_NAME: Final = "recorder.lock"
_BLOCK_BYTES: Final = 60
"""The size of a block without the data of its packet."""


class Position(NamedTuple):
    """A place in a recording: the number of a segment, and the offset of a block in it."""

    segment: int
    offset: int


class Cursor:
    """Reads the packets of a recording from a position on; call `read` again when it has grown.

    The state of the segment in which reading begins comes first, as packets with numbers up to 0,
    unless the position is inside a segment.
    """

    def __init__(self, folder: str, position: Position | None = None) -> None:
        if not is_recording(folder):
            raise CaptureError(folder, 0, f"no recording: it has no {MARKER_NAME}")
        self.skipped = Skipped()
        """Damage and losses so far, by reason."""
        self._folder = folder
        self._segment = 0 if position is None else position.segment
        """The current segment; 0 before the first one."""
        self._start = 0 if position is None else position.offset
        self._number = 0
        self._dropped = -1
        self._reader: SegmentReader | None = None
        self._input: Input | None = None
        self._packets: Iterator[Packet] | None = None
        self._is_complete = False
        """Whether the current segment has been read to its end."""
        self._seen_bytes = -1
        """The size of the current segment when it was last read."""
        self._is_first = self._start == 0

    @property
    def position(self) -> Position:
        """Where the next packet begins: a cursor created with this position continues there."""
        return Position(self._segment, self._start if self._reader is None else self._reader.place)

    @property
    def number(self) -> int:
        """The number of the last packet."""
        return self._number if self._reader is None else self._reader.number

    def read(self, bytes_max: int) -> list[Packet]:
        """The next packets, at most about `bytes_max` bytes; an empty list if there are none yet.

        The state of a segment is never divided. SegmentsDeletedError if segments are missing.
        """
        found: list[Packet] = []
        size = 0
        while size < bytes_max or found[-1].number <= 0:
            try:
                packet = self._next()
            except SegmentsDeletedError:
                if found:
                    break  # the next call raises the error again
                raise
            if packet is None:
                break
            found.append(packet)
            size += len(packet.data) + _BLOCK_BYTES
        return found

    def skip_deleted(self) -> int:
        """Continue at the first segment that still exists; returns how many were deleted."""
        left = [one for one in segments(self._folder) if one.number > self._segment]
        if not left:
            return 0
        missing = left[0].number - self._segment - self._is_complete
        self.close()
        self._reader = None
        self._segment, self._start = left[0].number, 0
        self._is_complete, self._is_first = False, True
        self._dropped = -1
        return missing

    @property
    def is_ended(self) -> bool:
        """Whether all segments are sealed and no recorder writes to the folder."""
        if any(not one.is_sealed for one in segments(self._folder)):
            return False
        try:
            with open(os.path.join(self._folder, LOCK_NAME), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._packets = None
        if self._input is not None:
            self._input.close()
            self._input = None

    def _next(self) -> Packet | None:
        while True:
            if self._packets is not None:
                packet = next(self._packets, None)
                if packet is not None:
                    return packet
                self.close()
            if not self._go_on():
                return None

    def _go_on(self) -> bool:
        """Open the rest of this segment, or the next one; returns False if there is neither."""
        found = segments(self._folder)
        later = [one for one in found if one.number > self._segment]
        if self._is_complete or self._segment == 0:
            if not later:
                return False
            if self._segment and later[0].number > self._segment + 1:
                last = later[0].number - 1
                raise SegmentsDeletedError(self._folder, self._segment + 1, last)
            self._begin(later[0].number)
        current = [one for one in found if one.number == self._segment]
        if not current:
            if not later:
                return False
            raise SegmentsDeletedError(self._folder, self._segment, later[0].number - 1)
        return self._open(current[0], bool(later) and later[0].number > self._segment)

    def _begin(self, segment: int) -> None:
        if self._reader is not None:
            self._number, self._dropped = self._reader.number, self._reader.dropped
            self._is_first = False
        self._reader = None
        self._segment, self._start = segment, 0
        self._is_complete = False
        self._seen_bytes = -1

    def _open(self, segment: SegmentFile, has_later: bool) -> bool:
        """Open a segment; returns False if it has not grown."""
        is_final = segment.is_sealed or has_later
        try:
            input, size = self._open_at(segment.path)
        except CaptureError:
            # The segment was sealed or deleted after the folder was listed: the next call sees it.
            return False
        if size == self._seen_bytes and not is_final:
            input.close()
            return False
        self._seen_bytes = size
        self._is_complete = is_final
        self._input = input
        if self._reader is None:
            self._reader = SegmentReader(
                input, self.skipped, self._number, self._is_first, not is_final, self._dropped
            )
        self._packets = self._reader.resume(input, may_resume=not is_final)
        return True

    def _open_at(self, path: str) -> tuple[Input, int]:
        place = self._start if self._reader is None else self._reader.place
        for one in (path, path.removesuffix(GROWING_SUFFIX)):
            try:
                size = os.stat(one).st_size
                return Input(one, self.skipped, place), size
            except (OSError, CaptureError):
                continue
        raise CaptureError(path, 0, "cannot be opened")
