"""Outbound: the queues of an open session.

One lane for each priority, or a single one without QoS; the lowest priority number is served
first (wire reference §6.6). The caller holds a lock.
"""

from __future__ import annotations

from typing import Final

from zenlake.protocol.lane import Lane
from zenlake.protocol.offer import Agreed
from zenlake.protocol.tap import LinkTap
from zenlake.protocol.traffic import Traffic
from zenlake.wire import Close
from zenlake.wire.compression import compress_batch
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.framing import frame_batch
from zenlake.wire.headers import KEEP_ALIVE_ID

_PRIORITIES: Final = 8
_NOT_WRITTEN: Final = -1
KEEP_ALIVE: Final = bytes([KEEP_ALIVE_ID])


class Outbound:
    """The sending half of a session."""

    __slots__ = (
        "_is_compressed",
        "_is_keep_alive_due",
        "_is_qos",
        "_is_stream",
        "_keep_alive",
        "_lanes",
        "batches",
        "bytes",
        "dropped_messages",
        "has_full_batch",
        "is_closed",
        "messages",
        "tap",
        "traffic",
        "was_plain",
    )

    def __init__(self, agreed: Agreed, is_stream: bool) -> None:
        self._is_stream = is_stream
        self._is_qos = agreed.qos
        self._is_compressed = agreed.compression
        # The batch size counts the length prefix and the compression header (§6.1).
        content_bytes = agreed.batch_size
        if is_stream:
            content_bytes -= 2
        if agreed.compression:
            content_bytes -= 1
        # Lanes write the length, except where it is known only after compression.
        is_prefixed = is_stream and not agreed.compression
        self._keep_alive = frame_batch(KEEP_ALIVE) if is_prefixed else KEEP_ALIVE
        self._lanes: list[Lane] = []
        for priority in range(_PRIORITIES if agreed.qos else 1):
            # Frames of the default priority carry none, and without QoS no frame does (§6.3).
            written = priority if agreed.qos and priority != DEFAULT_PRIORITY else _NOT_WRITTEN
            self._lanes.append(
                Lane(written, content_bytes, agreed.own_sn, agreed.sn_mask, is_prefixed)
            )
        self._is_keep_alive_due = False
        self.was_plain = False
        """Whether the last batch that `next_unit` returned has nothing but publications."""
        self.tap: LinkTap | None = None
        """Gets every batch; None if the link is not recorded."""
        self.is_closed = False
        """Whether CLOSE is queued: nothing may follow it."""
        self.has_full_batch = False
        """Whether a queued batch is complete, or was a moment ago: it can be sent at once."""
        self.messages = 0
        self.traffic = Traffic()
        self.batches = 0
        self.bytes = 0
        self.dropped_messages = 0
        """Messages that were pushed after CLOSE, or that no unit can carry (low latency)."""

    def push(self, data: bytes, priority: int, reliable: bool, express: bool) -> int:
        """Queue an encoded network message; if it is longer than a batch, it is sent in fragments.

        Returns how many bytes of that priority are queued now.
        """
        if self.is_closed:
            self.dropped_messages += 1
            return 0
        lane = self._lanes[priority if self._is_qos else 0]
        lane.push(data, reliable)
        self.messages += 1
        self.traffic.count(data)
        if express:
            lane.seal()
        if lane.has_sealed():
            self.has_full_batch = True
        return lane.queued_bytes()

    def note_more(self, count: int) -> None:
        """Count further publications in the data that was pushed last."""
        self.messages += count
        self.traffic.count_more_pushes(count)

    def push_keep_alive(self) -> None:
        """KEEP_ALIVE is sent only if no batch is queued: any batch has the same effect."""
        if not self.is_closed:
            self._is_keep_alive_due = True

    def close(self, reason: int) -> None:
        """CLOSE is sent last, after all queued batches (wire reference §6.6)."""
        if not self.is_closed:
            self.is_closed = True
            self._lanes[len(self._lanes) - 1].push_transport(bytes(Close(reason)))

    def next_unit(self, with_open: bool = True) -> bytes | None:
        """The next batch, framed for the link; None if none is queued.

        Without `with_open`, a batch that is being filled is returned only if complete batches
        of lower priority are queued behind it.
        """
        unit = self._next_batch(with_open)
        if unit is None:
            self.has_full_batch = False
            return None
        self._is_keep_alive_due = False
        if self._is_compressed:
            unit = compress_batch(unit)
            if self._is_stream:
                unit = frame_batch(unit)
        self.batches += 1
        self.bytes += len(unit)
        if self.tap is not None:
            self.tap.sent(unit, self.was_plain)
        return unit

    def _next_batch(self, with_open: bool) -> bytes | None:
        if not with_open and not self._has_sealed():
            return None
        for lane in self._lanes:
            batch = lane.next_batch()
            if batch is not None:
                self.was_plain = lane.was_plain
                return batch
        self.was_plain = False
        return self._keep_alive if self._is_keep_alive_due else None

    def _has_sealed(self) -> bool:
        sealed = 0
        for lane in self._lanes:
            sealed += lane.has_sealed()
        return sealed > 0

    def room_bytes(self, priority: int, reliable: bool) -> int:
        """How many bytes of messages still fit into the batch that is being filled."""
        return self._lanes[priority if self._is_qos else 0].room_bytes(reliable)

    def queued_bytes(self, priority: int) -> int:
        return self._lanes[priority if self._is_qos else 0].queued_bytes()

    def total_queued_bytes(self) -> int:
        total = 0
        for lane in self._lanes:
            total += lane.queued_bytes()
        return total
