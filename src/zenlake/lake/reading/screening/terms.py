"""Terms: what each connection agreed on, as columns by pair or by direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zenlake.trace.session import Session, lease_ms
from zenlake.wire._generated.transport import Init, Open
from zenlake.wire.message import Message

_MS: int = 1_000_000


class Terms:
    """Filled by handshakes; a pair without one has what is true of none."""

    def __init__(self, pairs: int) -> None:
        self.qos = np.zeros(pairs, np.bool_)
        self.patch = np.zeros(pairs, np.int64)
        self.batch_size = np.full(pairs, 1 << 30, np.int64)
        self.request_bits = np.full(pairs, 64, np.int64)
        self.are_routers = np.zeros(pairs, np.bool_)
        self.lease_ns = np.full(2 * pairs, 1 << 60, np.int64)
        """By direction; what the side that sends in it promised."""

    def learn(self, pair: int, direction: int, session: Session, messages: list[Message]) -> None:
        message = messages[0] if messages else None
        if isinstance(message, Init) and message.cookie is not None:
            self.qos[pair] = bool(session.qos)
            self.patch[pair] = session.patch or 0
            self.batch_size[pair] = session.batch_size or 0xFFFF
            if message.resolution is not None:
                self.request_bits[pair] = message.resolution.request_id_bits
            roles = {session.nodes[0].role, session.nodes[1].role}
            self.are_routers[pair] = roles == {"router"}
        elif isinstance(message, Open):
            self.lease_ns[2 * pair + direction] = min(lease_ms(message) * _MS, 1 << 60)

    def silence_ns(self, owners: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of directions, the silence beyond which rules about leases have something to say."""
        limit: NDArray[np.int64] = self.lease_ns[owners] // 4 * 3 + 1_000 * _MS
        return limit

    def shorter_silence_ns(self, pair: int) -> int:
        """Of both directions, the shorter one."""
        lease_ns: int = min(self.lease_ns[2 * pair : 2 * pair + 2].tolist())
        return lease_ns // 4 * 3 + 1_000 * _MS
