"""Offer and Agreed: the terms of a session, before and after the handshake (wire reference §5.3).

There is one Offer per node and listener or endpoint; an Agreed is the result of one handshake.
Multilink, public keys, shared memory and regions are never offered, and not answered if a peer
offers them (wire reference §5.6, §10).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zenlake.errors import LocalError
from zenlake.limits import BATCH_BYTES_MAX, MESSAGE_BYTES_MAX
from zenlake.wire import QoSLink, Resolution, WhatAmI, ZenohId
from zenlake.wire.defaults import (
    DEFAULT_BATCH_BYTES,
    DEFAULT_KEEP_ALIVE,
    DEFAULT_LEASE_MS,
    DEFAULT_PRIORITY,
)
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION

BATCH_BYTES_MIN: Final = 16
"""Prefix, compression header, the longest FRAGMENT header, and some content."""
QUEUE_BATCHES: Final = (2, 2, 2, 2, 2, 2, 2, 2)
"""How many full batches may be queued, for each priority."""


def check_batch_size(batch_size: int) -> None:
    if not BATCH_BYTES_MIN <= batch_size <= BATCH_BYTES_MAX:
        raise LocalError(
            f"a batch has {BATCH_BYTES_MIN} to {BATCH_BYTES_MAX} bytes, not {batch_size}"
        )


class Offer:
    """The terms this node offers. `user` and `password` are an opener's, `users` an acceptor's.

    `qos_link` is the use of the link if its endpoint has one (`prio`, `rel`).
    """

    __slots__ = (
        "batch_size",
        "compression",
        "keep_alive",
        "lease_ms",
        "low_latency",
        "message_bytes_max",
        "password",
        "patch",
        "qos",
        "qos_link",
        "queue_batches",
        "resolution",
        "role",
        "user",
        "users",
        "zid",
    )

    def __init__(
        self,
        zid: ZenohId,
        role: WhatAmI,
        *,
        resolution: Resolution = DEFAULT_RESOLUTION,
        batch_size: int = DEFAULT_BATCH_BYTES,
        lease_ms: int = DEFAULT_LEASE_MS,
        keep_alive: int = DEFAULT_KEEP_ALIVE,
        qos: bool = True,
        qos_link: QoSLink | None = None,
        low_latency: bool = False,
        compression: bool = False,
        patch: int = 1,
        user: str | None = None,
        password: str | None = None,
        users: Mapping[str, str] | None = None,
        message_bytes_max: int = MESSAGE_BYTES_MAX,
        queue_batches: tuple[int, ...] = QUEUE_BATCHES,
    ) -> None:
        if qos and low_latency:
            raise LocalError("QoS and low latency cannot both be offered")
        check_batch_size(batch_size)
        if (user is None) != (password is None):
            raise LocalError("set both user and password, or neither")
        if lease_ms < 1 or keep_alive < 1:
            raise LocalError(
                f"a lease has at least 1 ms and 1 keep-alive, not {lease_ms} ms and {keep_alive}"
            )
        self.zid = zid
        self.role = role
        self.resolution = resolution
        self.batch_size = batch_size
        self.lease_ms = lease_ms
        self.keep_alive = keep_alive
        self.qos = qos
        self.qos_link = qos_link if qos else None
        self.low_latency = low_latency
        self.compression = compression
        self.patch = patch
        self.user = user
        self.password = password
        self.users = users
        self.message_bytes_max = message_bytes_max
        self.queue_batches = queue_batches


class Agreed:
    """The agreed terms; `zid` and `role` are the peer's.

    `own_sn` and `peer_sn` are the first sequence numbers of every channel. `user` is the name
    that the opener proved, if the acceptor demands one.
    """

    __slots__ = (
        "batch_size",
        "compression",
        "is_opener",
        "keep_alive",
        "low_latency",
        "message_bytes_max",
        "own_lease_ms",
        "own_sn",
        "patch",
        "peer_lease_ms",
        "peer_sn",
        "qos",
        "qos_link",
        "queue_bytes",
        "resolution",
        "role",
        "sn_mask",
        "user",
        "zid",
    )

    def __init__(
        self,
        zid: ZenohId,
        role: WhatAmI,
        *,
        is_opener: bool = True,
        resolution: Resolution = DEFAULT_RESOLUTION,
        batch_size: int = DEFAULT_BATCH_BYTES,
        qos: bool = True,
        qos_link: QoSLink | None = None,
        low_latency: bool = False,
        compression: bool = False,
        patch: int = 1,
        own_sn: int = 0,
        peer_sn: int = 0,
        own_lease_ms: int = DEFAULT_LEASE_MS,
        peer_lease_ms: int = DEFAULT_LEASE_MS,
        keep_alive: int = DEFAULT_KEEP_ALIVE,
        message_bytes_max: int = MESSAGE_BYTES_MAX,
        queue_batches: tuple[int, ...] = QUEUE_BATCHES,
        user: str | None = None,
    ) -> None:
        self.zid = zid
        self.role = role
        self.is_opener = is_opener
        self.resolution = resolution
        self.sn_mask = resolution.sn_mask
        self.batch_size = batch_size
        self.qos = qos
        self.qos_link = qos_link
        self.low_latency = low_latency
        # Low-latency units have no compression header (wire reference §9).
        self.compression = compression and not low_latency
        self.patch = patch
        self.own_sn = own_sn
        self.peer_sn = peer_sn
        self.own_lease_ms = own_lease_ms
        self.peer_lease_ms = peer_lease_ms
        self.keep_alive = keep_alive
        self.message_bytes_max = message_bytes_max
        # Without QoS there is one queue, that of priority DATA.
        has_lanes = qos and not low_latency
        self.queue_bytes = [
            batch_size * (count if has_lanes else queue_batches[DEFAULT_PRIORITY])
            for count in queue_batches
        ]
        self.user = user
