"""Transport: an open unicast session over one link, without the link.

Three things drive it: bytes that arrive (`receive`), messages to be sent (`push`, then
`next_unit` until it returns None) and time (`next_deadline`, `handle_timeout`). The receiving and
the sending half share nothing, so a reader needs no lock; one lock of the caller guards the
sending half and time.
"""

from __future__ import annotations

import sys
from typing import Final

from zenlake.protocol.delivery import Delivery
from zenlake.protocol.errors import TransportError
from zenlake.protocol.heartbeat import Heartbeat
from zenlake.protocol.inbound import Inbound
from zenlake.protocol.low_latency import LowLatencyInbound, LowLatencyOutbound
from zenlake.protocol.offer import BATCH_BYTES_MIN, Agreed
from zenlake.protocol.outbound import Outbound
from zenlake.protocol.reassembly import ReassemblyBudget
from zenlake.wire.values.choices import CloseReason

_REASONS: Final = list(CloseReason)


class Transport:
    """An open session on the terms in `agreed`.

    `budget` bounds the incomplete messages of all sessions that share it.
    """

    __slots__ = ("_heartbeat", "_queue_bytes", "agreed", "inbound", "message_bytes_max", "outbound")

    def __init__(
        self, agreed: Agreed, now: float, is_stream: bool, budget: ReassemblyBudget | None = None
    ) -> None:
        if agreed.batch_size < BATCH_BYTES_MIN:
            raise TransportError(f"no message can be sent in batches of {agreed.batch_size} bytes")
        if budget is None:
            budget = ReassemblyBudget()
        self.agreed = agreed
        self._queue_bytes = agreed.queue_bytes
        self.message_bytes_max = agreed.batch_size if agreed.low_latency else sys.maxsize
        """The longest message that can be pushed; without low latency, fragments carry any size."""
        self.inbound: Inbound
        self.outbound: Outbound
        if agreed.low_latency:
            self.inbound = LowLatencyInbound(agreed, now, is_stream, budget)
            self.outbound = LowLatencyOutbound(agreed, is_stream)
        else:
            self.inbound = Inbound(agreed, now, is_stream, budget)
            self.outbound = Outbound(agreed, is_stream)
        self._heartbeat = Heartbeat(
            agreed.own_lease_ms, agreed.peer_lease_ms, agreed.keep_alive, agreed.low_latency, now
        )

    # --- inward ------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> list[Delivery]:
        """Process bytes of a stream as they arrive, or one datagram; see `Inbound.receive`.

        After a TransportError drop the link; its `deliveries` were complete before the bad byte.
        """
        return self.inbound.receive(data, now)

    @property
    def peer_closed(self) -> CloseReason | None:
        """The reason of the peer's CLOSE, None before it; unknown codes are GENERIC."""
        code = self.inbound.close_code
        if code < 0:
            return None
        return _REASONS[code] if code < len(_REASONS) else CloseReason.GENERIC

    # --- outward -----------------------------------------------------------------------------

    def push(self, data: bytes, priority: int, reliable: bool, express: bool) -> bool:
        """Queue an encoded network message. It is always accepted: check `has_room` before.

        Returns whether there is room for another.
        """
        queued_bytes = self.outbound.push(data, priority, reliable, express)
        return queued_bytes < self._queue_bytes[priority]

    def next_unit(self, now: float, with_open: bool = True) -> bytes | None:
        """The next batch for the link, or None; see `Outbound.next_unit`."""
        unit = self.outbound.next_unit(with_open)
        if unit is not None:
            self._heartbeat.note_sent(now)
        return unit

    def has_room(self, priority: int) -> bool:
        """Whether the queue of that priority is below its limit."""
        return self.outbound.queued_bytes(priority) < self._queue_bytes[priority]

    def queued_bytes(self, priority: int) -> int:
        return self.outbound.queued_bytes(priority)

    def total_queued_bytes(self) -> int:
        return self.outbound.total_queued_bytes()

    def close(self, reason: CloseReason) -> None:
        """Queue CLOSE behind all batches; messages that are pushed afterwards are dropped."""
        self.outbound.close(int(reason))

    # --- time --------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        """When to call `handle_timeout`, if nothing is sent or received before."""
        heartbeat = self._heartbeat.next_deadline(self.inbound.received_at)
        return min(heartbeat, self.inbound.reassembly.next_deadline())

    def handle_timeout(self, now: float) -> None:
        """Queue KEEP_ALIVE if it is due; TransportError if the peer is silent for too long."""
        if self._heartbeat.is_expired(self.inbound.received_at, now):
            self.inbound.reassembly.release()
            raise TransportError("lease expired")
        if self._heartbeat.is_keep_alive_due(now):
            self.outbound.push_keep_alive()
        self.inbound.reassembly.free_idle(now)

    def release(self) -> None:
        """Refund the bytes of incomplete messages to the budget, because the link is gone."""
        self.inbound.reassembly.release()
