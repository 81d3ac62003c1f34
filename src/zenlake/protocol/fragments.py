"""Fragments: one message that is too large for a batch, cut when the link can send.

The sequence numbers of all fragments are reserved when the message is queued, so that later
frames of the channel know theirs. The bytes are cut one batch at a time: a message of
64 MiB is held once, not twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.wire.headers import (
    FIRST_EXTENSION,
    FRAGMENT_ID,
    HAS_EXTENSIONS,
    IS_RELIABLE,
    MORE_FRAGMENTS,
    PRIORITY_EXTENSION,
)
from zenlake.wire.primitives import write_z32
from zenlake.wire.sequence import next_sn
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64


def sn_bytes(sn: i64) -> i64:
    """The encoded length of a sequence number; for the mask, the greatest length."""
    size: i64 = 1
    while sn >= 0x80:
        sn >>= 7
        size += 1
    return size


class Fragments:
    """The fragments of one message that are still to be sent. `priority` -1 is not written."""

    __slots__ = ("_data", "_is_first", "_mask", "_pos", "_priority", "_reliable", "_room", "_sn")

    def __init__(
        self, data: bytes, batch_bytes: int, priority: int, reliable: bool, sn: int, mask: int
    ) -> None:
        self._data = data
        self._pos = 0
        self._priority = priority
        self._reliable = reliable
        self._sn = sn
        self._mask = mask
        self._is_first = True
        # The longest header, except for First.
        self._room = batch_bytes - 1 - sn_bytes(mask) - (2 if priority >= 0 else 0)

    def count(self) -> int:
        """How many fragments, and so sequence numbers, the message needs."""
        return 1 + (len(self._data) - (self._room - 1) + self._room - 1) // self._room

    def left_bytes(self) -> int:
        return len(self._data) - self._pos

    def next_batch(self) -> bytes:
        """The content of the next batch."""
        room = self._room - 1 if self._is_first else self._room
        stop = min(self._pos + room, len(self._data))
        out = BytesWriter()
        self._write_header(out, stop < len(self._data))
        out.write(self._data[self._pos : stop])
        self._pos = stop
        self._sn = next_sn(self._sn, self._mask)
        self._is_first = False
        return out.getvalue()

    def _write_header(self, out: BytesWriter, more: bool) -> None:
        header = FRAGMENT_ID
        if self._reliable:
            header |= IS_RELIABLE
        if more:
            header |= MORE_FRAGMENTS
        if self._priority >= 0 or self._is_first:
            header |= HAS_EXTENSIONS
        out.append(header)
        write_z32(out, self._sn)
        if self._priority >= 0:
            out.append(PRIORITY_EXTENSION | (HAS_EXTENSIONS if self._is_first else 0))
            out.append(self._priority)
        if self._is_first:
            out.append(FIRST_EXTENSION)
