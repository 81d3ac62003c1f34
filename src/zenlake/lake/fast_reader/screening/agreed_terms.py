"""AgreedTerms: what each connection negotiated, as columns by pair or by direction."""

from __future__ import annotations

from typing import Final

import numpy as np

from zenlake.trace.session import Session, lease_ms
from zenlake.wire import Init, Open
from zenlake.wire.defaults import DEFAULT_BATCH_BYTES
from zenlake.wire.message import Message

NEVER: Final = -1
_MS: Final = 1_000_000
_LONGEST_NS: Final = 1 << 60
_ALL_BITS: Final = 63
"""Kernels use signed numbers."""


class AgreedTerms:
    """Filled by handshakes. The initial values make no condition true."""

    def __init__(self, pairs: int) -> None:
        self.qos = np.zeros(pairs, np.bool_)
        self.patch = np.zeros(pairs, np.int64)
        self.batch_size = np.full(pairs, 1 << 30, np.int64)
        self.request_id_bits = np.full(pairs, _ALL_BITS, np.int64)
        self.lease_ns = np.full(2 * pairs, _LONGEST_NS, np.int64)
        """By direction: the lease that its sender announced."""
        self.last_ns = np.full(2 * pairs, NEVER, np.int64)
        """When each direction last sent something."""
        self.has_sent = np.zeros(2 * pairs, np.bool_)
        """Whether a direction has had a network message."""

    def add_handshake(
        self, pair: int, direction: int, session: Session, messages: list[Message]
    ) -> None:
        message = messages[0] if messages else None
        if isinstance(message, Init) and message.cookie is not None:
            self.qos[pair] = bool(session.qos)
            self.patch[pair] = session.patch or 0
            self.batch_size[pair] = session.batch_size or DEFAULT_BATCH_BYTES
            if message.resolution is not None:
                bits = min(message.resolution.request_id_bits, _ALL_BITS)
                self.request_id_bits[pair] = bits
        elif isinstance(message, Open):
            self.lease_ns[2 * pair + direction] = min(lease_ms(message) * _MS, _LONGEST_NS)
