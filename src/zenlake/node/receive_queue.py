"""ReceiveQueue: the messages of one link that were read and not yet handed to routing."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

from zenlake.protocol.delivery import Delivery
from zenlake.protocol.errors import TransportError
from zenlake.protocol.transport import Transport

# This many batches and messages are decoded before they are routed: about a millisecond.
_UNITS_PER_DECODE: Final = 1024


class ReceiveQueue:
    """Decodes what a link has received, part by part. Used by one thread at a time."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.lock = threading.Lock()
        """The lock of the inbound half of the transport."""

        self._deliveries: deque[Delivery] = deque()
        self._handed_on = 0  # messages of the first delivery that routing has
        self._failure: TransportError | None = None  # raised after the deliveries

    def _decode(self, data: bytes, now: float) -> None:
        """Decode a part of what was read; without data, the next part of it."""
        inbound = self.transport.inbound
        try:
            with self.lock:
                if data:
                    deliveries = inbound.receive(data, now, _UNITS_PER_DECODE)
                else:
                    deliveries = inbound.receive_more(now, _UNITS_PER_DECODE)
            self._deliveries.extend(deliveries)
        except TransportError as error:
            # The traceback is removed: its frames refer to this object.
            self._failure = error.with_traceback(None)
            self._deliveries.extend(error.deliveries)

    def _pop_failure(self) -> TransportError:
        """Remove and return the failure: with its traceback, it would be a cycle if kept here."""
        failure, self._failure = self._failure, None
        assert failure is not None
        return failure

    def _note_handed_on(self, first: Delivery, after: int) -> None:
        """Note that routing has the messages of the first delivery up to `after`."""
        self._handed_on = after
        if after >= len(first.messages):
            self._handed_on = 0
            self._deliveries.popleft()

    def _has_more(self, handed_on: int = 0) -> bool:
        """Whether more messages were read than these of the first delivery."""
        deliveries = self._deliveries
        if not deliveries:
            return self.transport.inbound.has_more
        is_rest = len(deliveries) == 1 and handed_on >= len(deliveries[0].messages)
        return not is_rest or self.transport.inbound.has_more
