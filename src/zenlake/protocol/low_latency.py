"""Low latency: network messages without frames, one in each unit (wire reference §9).

There are no sequence numbers, fragments, compression or priorities. On a stream, a length of four
bytes precedes each unit.
"""

from __future__ import annotations

from collections import deque

from zenlake.protocol.delivery import Delivery
from zenlake.protocol.inbound import Inbound
from zenlake.protocol.offer import Agreed
from zenlake.protocol.outbound import KEEP_ALIVE, Outbound
from zenlake.protocol.tap import has_only_publications
from zenlake.wire import Close, Push
from zenlake.wire.batch import decode_low_latency
from zenlake.wire.framing import StreamDeframer, frame_low_latency
from zenlake.wire.headers import ID_BITS, PUSH_ID
from zenlake.wire.message import NetworkMessage


class LowLatencyInbound(Inbound):
    """The receiving half: everything counts as reliable."""

    __slots__ = ()

    def make_deframer(self) -> StreamDeframer:
        deframer = StreamDeframer()
        deframer.switch_to_low_latency(self._batch_size)
        return deframer

    def process_batch(self, content: bytes, now: float, deliveries: list[Delivery]) -> None:
        unit = decode_low_latency(content)
        messages: list[NetworkMessage] = []
        close: Close | None = None
        for message in unit.messages:
            if isinstance(message, Push):  # most messages, and a cheaper test than a base class
                messages.append(message)
            elif isinstance(message, Close):
                close = message
                break
            elif isinstance(message, NetworkMessage):
                messages.append(message)
        if self.tap is not None and unit.error is None and close is None:
            self._is_plain = len(messages) == len(unit.messages) and has_only_publications(messages)
        self.deliver(messages, len(content), True, deliveries)
        if close is not None:
            self.process_close(close)
        elif unit.error is not None:
            raise unit.pop_error()


class LowLatencyOutbound(Outbound):
    """The sending half: one queue for all priorities."""

    __slots__ = ("_queued_bytes", "_unit_bytes", "_units")

    def __init__(self, agreed: Agreed, is_stream: bool) -> None:
        super().__init__(agreed, is_stream)
        self._unit_bytes = agreed.batch_size
        self._units: deque[bytes] = deque()
        self._queued_bytes = 0

    def push(self, data: bytes, priority: int, reliable: bool, express: bool) -> int:
        """A message longer than the agreed batch size cannot be sent; it is dropped."""
        if self.is_closed or len(data) > self._unit_bytes:
            self.dropped_messages += 1
        else:
            self.messages += 1
            self.traffic.count(data)
            self._push_unit(data)
            self.has_full_batch = True
        return self._queued_bytes

    def _push_unit(self, data: bytes) -> None:
        if self._is_stream:
            data = frame_low_latency(data)
        self._units.append(data)
        self._queued_bytes += len(data)

    def push_keep_alive(self) -> None:
        """Queue KEEP_ALIVE, even beside other messages, but only one while the link is stuck."""
        if not self.is_closed and not self._is_keep_alive_due:
            self._is_keep_alive_due = True
            self._push_unit(KEEP_ALIVE)

    def close(self, reason: int) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._push_unit(bytes(Close(reason)))

    def next_unit(self, with_open: bool = True) -> bytes | None:
        if not self._units:
            self.has_full_batch = False
            return None
        unit = self._units.popleft()
        self._queued_bytes -= len(unit)
        if not self._units:
            self._is_keep_alive_due = False
        self.batches += 1
        self.bytes += len(unit)
        if self.tap is not None:
            head = 4 if self._is_stream else 0
            self.tap.sent(unit, len(unit) > head and unit[head] & ID_BITS == PUSH_ID)
        return unit

    def queued_bytes(self, priority: int) -> int:
        return self._queued_bytes

    def total_queued_bytes(self) -> int:
        return self._queued_bytes
