"""GroupTerms: the terms that all nodes of a multicast group must share (wire reference §8).

Nothing is negotiated: a node whose JOIN has other terms is ignored.
"""

from __future__ import annotations

from zenlake.errors import LocalError
from zenlake.limits import GROUP_PEERS_MAX, MESSAGE_BYTES_MAX
from zenlake.protocol.group_outbound import GroupOutbound
from zenlake.protocol.offer import Agreed, check_batch_size
from zenlake.wire import Join, JoinQoS, LaneSn, Resolution, WhatAmI, ZenohId
from zenlake.wire.defaults import (
    DEFAULT_GROUP_BATCH_BYTES,
    DEFAULT_JOIN_INTERVAL_MS,
    DEFAULT_LEASE_MS,
    PROTOCOL_VERSION,
)
from zenlake.wire.values.lease import lease_fields
from zenlake.wire.values.resolution import DEFAULT_RESOLUTION


class GroupTerms:
    """This node in a group. Only peers and routers take part."""

    __slots__ = (
        "batch_size",
        "compression",
        "join_interval_ms",
        "lease_ms",
        "message_bytes_max",
        "patch",
        "peers_max",
        "qos",
        "resolution",
        "role",
        "zid",
    )

    def __init__(
        self,
        zid: ZenohId,
        role: WhatAmI,
        *,
        resolution: Resolution = DEFAULT_RESOLUTION,
        batch_size: int = DEFAULT_GROUP_BATCH_BYTES,
        lease_ms: int = DEFAULT_LEASE_MS,
        join_interval_ms: int = DEFAULT_JOIN_INTERVAL_MS,
        qos: bool = False,
        compression: bool = False,
        patch: int = 1,
        message_bytes_max: int = MESSAGE_BYTES_MAX,
        peers_max: int = GROUP_PEERS_MAX,
    ) -> None:
        if role is WhatAmI.CLIENT:
            raise LocalError("a client cannot be in a multicast group")
        check_batch_size(batch_size)
        if lease_ms < 1 or join_interval_ms < 1:
            raise LocalError(
                f"lease and join interval are at least 1 ms, not {lease_ms}, {join_interval_ms} ms"
            )
        self.zid = zid
        self.role = role
        self.resolution = resolution
        self.batch_size = batch_size
        self.peers_max = peers_max
        self.lease_ms = lease_ms
        self.join_interval_ms = join_interval_ms
        self.qos = qos
        self.compression = compression
        self.patch = patch
        self.message_bytes_max = message_bytes_max

    def sender_terms(self, first_sn: int) -> Agreed:
        """The terms of our own sending half."""
        return Agreed(
            self.zid,
            self.role,
            resolution=self.resolution,
            batch_size=self.batch_size,
            qos=self.qos,
            compression=self.compression,
            patch=self.patch,
            own_sn=first_sn,
        )

    def join(self, outbound: GroupOutbound) -> Join:
        """The JOIN to send now, with the next sequence number of every channel."""
        lease, seconds = lease_fields(self.lease_ms)
        join = Join(self.role, self.zid, lease, 0, 0, seconds=seconds)
        if self.resolution != DEFAULT_RESOLUTION or self.batch_size != DEFAULT_GROUP_BATCH_BYTES:
            join.resolution = self.resolution
            join.batch_size = self.batch_size
        if self.qos:
            join.qos = JoinQoS(outbound.next_numbers())
        else:
            (numbers,) = outbound.next_numbers()
            join.next_sn_re = numbers.reliable
            join.next_sn_be = numbers.best_effort
        join.patch = self.patch or None
        return join

    def objection(self, join: Join) -> str | None:
        """Why a node with this JOIN is ignored; None if it is accepted."""
        if join.zid == self.zid:
            return "it is this node"
        if join.version != PROTOCOL_VERSION:
            return f"version {join.version} is not {PROTOCOL_VERSION}"
        if join.whatami is WhatAmI.CLIENT:
            return "a client cannot be in a multicast group"
        resolution = DEFAULT_RESOLUTION if join.resolution is None else join.resolution
        if resolution != self.resolution:
            return f"{resolution}, here it is: {self.resolution}"
        batch_size = DEFAULT_GROUP_BATCH_BYTES if join.batch_size is None else join.batch_size
        if batch_size != self.batch_size:
            return f"batches of {batch_size} bytes, here they have {self.batch_size}"
        if join.qos is not None and not self.qos:
            return "it uses priorities, which are off here"
        return self._objection_to_numbers(join)

    def _objection_to_numbers(self, join: Join) -> str | None:
        outside = ~self.resolution.sn_mask
        for lane in first_numbers(join):
            if lane.reliable & outside or lane.best_effort & outside:
                return "a sequence number is outside the resolution"
        return None


def first_numbers(join: Join) -> tuple[LaneSn, ...]:
    """The numbers of eight priorities, or of the only one."""
    if join.qos is not None:
        return join.qos.lanes
    return (LaneSn(join.next_sn_re, join.next_sn_be),)
