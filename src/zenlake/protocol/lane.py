"""Lane: the queued messages of one priority, already in batches.

A message is appended to the batch that is being filled; consecutive messages of the same
reliability share a FRAME and its sequence number (wire reference §6.4). Nothing follows a FRAME in
its batch: zenoh-pico would read it as messages of that FRAME (SN-30). The messages of the batch
being filled are kept in a list and joined once, with the length before them on a stream.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from zenlake.protocol.fragments import Fragments, sn_bytes
from zenlake.wire.framing import frame_batch
from zenlake.wire.headers import (
    FRAME_ID,
    HAS_EXTENSIONS,
    ID_BITS,
    IS_RELIABLE,
    PRIORITY_EXTENSION,
    PUSH_ID,
)
from zenlake.wire.primitives import write_z32
from zenlake.wire.sequence import advance_sn
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

_NONE: Final = -1
_BEST_EFFORT: Final = 0
_RELIABLY: Final = 1


class Lane:
    """One queue of a link.

    `priority` is -1 if frames carry none. With `is_prefixed` the length of a batch is
    written before it (wire reference §6.1).
    """

    __slots__ = (
        "_batch_bytes",
        "_best_effort_sn",
        "_frame",
        "_is_plain",
        "_mask",
        "_parts",
        "_prefix_bytes",
        "_priority",
        "_ready",
        "_ready_bytes",
        "_ready_plain",
        "_reliable_sn",
        "_size",
        "was_plain",
    )

    def __init__(
        self, priority: int, batch_bytes: int, first_sn: int, mask: int, is_prefixed: bool = False
    ) -> None:
        self._priority = priority
        self._prefix_bytes: i64 = 2 if is_prefixed else 0
        self._batch_bytes: i64 = batch_bytes
        self._reliable_sn: i64 = first_sn
        self._best_effort_sn: i64 = first_sn
        self._mask: i64 = mask
        self._ready: deque[bytes | Fragments] = deque()
        self._ready_bytes = 0
        # The batch being filled, after a placeholder for its length; its size, and the kind of
        # its last FRAME.
        self._parts = [b""]
        self._size: i64 = 0
        self._frame: i64 = _NONE
        # Whether a batch has nothing but publications: the one being filled, and those ready.
        self._is_plain = True
        self._ready_plain: deque[bool] = deque()
        self.was_plain = False
        """Whether the batch that `next_batch` returned last has nothing but publications."""

    def push(self, data: bytes, reliable: bool) -> None:
        """Append an encoded network message."""
        kind: i64 = _RELIABLY if reliable else _BEST_EFFORT
        size: i64 = self._size + len(data)
        if self._frame == kind and size <= self._batch_bytes:
            self._parts.append(data)
            self._size = size
            if data[0] & ID_BITS != PUSH_ID:
                self._is_plain = False
        else:
            self._push_in_new_frame(data, kind)

    def _push_in_new_frame(self, data: bytes, kind: i64) -> None:
        sn = self._reliable_sn if kind == _RELIABLY else self._best_effort_sn
        header_bytes = 1 + sn_bytes(sn) + (2 if self._priority >= 0 else 0)
        needed: i64 = header_bytes + len(data)
        self.seal()
        if needed > self._batch_bytes:
            self._push_fragments(data, kind, sn)
            return
        self._parts.append(self._frame_header(kind, sn))
        self._parts.append(data)
        self._size = needed
        self._frame = kind
        self._is_plain = data[0] & ID_BITS == PUSH_ID
        self._advance(kind, 1)

    def _frame_header(self, kind: i64, sn: i64) -> bytes:
        out = BytesWriter()
        header = FRAME_ID
        if kind == _RELIABLY:
            header |= IS_RELIABLE
        if self._priority >= 0:
            header |= HAS_EXTENSIONS
        out.append(header)
        write_z32(out, sn)
        if self._priority >= 0:
            out.append(PRIORITY_EXTENSION)
            out.append(self._priority)
        return out.getvalue()

    def _push_fragments(self, data: bytes, kind: i64, sn: i64) -> None:
        fragments = Fragments(
            data, self._batch_bytes, self._priority, kind == _RELIABLY, sn, self._mask
        )
        self._ready.append(fragments)
        self._ready_plain.append(False)
        self._ready_bytes += len(data)
        self._advance(kind, fragments.count())

    def _advance(self, kind: i64, count: i64) -> None:
        """Deployed nodes also skip a number after a message in fragments; this node does not."""
        if kind == _RELIABLY:
            self._reliable_sn = advance_sn(self._reliable_sn, count, self._mask)
        else:
            self._best_effort_sn = advance_sn(self._best_effort_sn, count, self._mask)

    def push_transport(self, data: bytes) -> None:
        """Queue a transport message in a batch of its own."""
        self.seal()
        self._parts.append(data)
        self._size = len(data)
        self._is_plain = False

    def seal(self) -> None:
        """Complete the batch being filled: the next message begins another."""
        if self._size:
            self._ready_bytes += self._size
            self._ready_plain.append(self._is_plain)
            self._ready.append(self._finish_open_batch())

    def _finish_open_batch(self) -> bytes:
        parts = self._parts
        if self._prefix_bytes:
            parts[0] = int(self._size).to_bytes(2, "little")
        self._parts = [b""]
        self._size = 0
        self._frame = _NONE
        return b"".join(parts)

    def next_batch(self) -> bytes | None:
        """The next batch, full or not."""
        if self._ready:
            head = self._ready[0]
            if isinstance(head, Fragments):
                return self._next_fragment(head)
            self._ready.popleft()
            self.was_plain = self._ready_plain.popleft()
            self._ready_bytes -= len(head) - self._prefix_bytes
            return head
        self.was_plain = self._is_plain
        return self._finish_open_batch() if self._size else None

    def _next_fragment(self, fragments: Fragments) -> bytes:
        before = fragments.left_bytes()
        content = fragments.next_batch()
        left = fragments.left_bytes()
        self._ready_bytes -= before - left
        self.was_plain = False
        if left == 0:
            self._ready.popleft()
            self._ready_plain.popleft()
        return frame_batch(content) if self._prefix_bytes else content

    def room_bytes(self, reliable: bool) -> int:
        """How many bytes of messages still fit into the FRAME being filled."""
        kind: i64 = _RELIABLY if reliable else _BEST_EFFORT
        return self._batch_bytes - self._size if self._frame == kind else 0

    def queued_bytes(self) -> int:
        return self._ready_bytes + self._size

    def has_sealed(self) -> bool:
        """Whether there are batches that will not grow any more."""
        return self._ready_bytes > 0
