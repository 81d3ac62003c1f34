"""GroupPeer: another node of a multicast group, and its channels (wire reference §8)."""

from __future__ import annotations

from zenlake.errors import WireError
from zenlake.protocol.delivery import Delivery
from zenlake.protocol.errors import TransportError
from zenlake.protocol.group_terms import GroupTerms, first_numbers
from zenlake.protocol.heartbeat import LEASE_SECONDS_MIN, seconds
from zenlake.protocol.inbound import Inbound
from zenlake.protocol.offer import Agreed
from zenlake.protocol.reassembly import ReassemblyBudget
from zenlake.wire import Join
from zenlake.wire.defaults import DEFAULT_PRIORITY
from zenlake.wire.sequence import previous_sn
from zenlake.wire.values.lease import lease_in_ms


class GroupInbound(Inbound):
    """The channels of one peer. A bad datagram is ignored: it may come from another sender."""

    __slots__ = ("bad_datagrams",)

    def __init__(self, agreed: Agreed, join: Join, now: float, budget: ReassemblyBudget) -> None:
        super().__init__(agreed, now, False, budget)
        self.bad_datagrams = 0
        lanes = first_numbers(join)
        for index, lane in enumerate(lanes):
            priority = index if len(lanes) > 1 else DEFAULT_PRIORITY
            self._last_sns[priority << 1 | 1] = previous_sn(lane.reliable, self._mask)
            self._last_sns[priority << 1] = previous_sn(lane.best_effort, self._mask)

    def receive_content(self, content: bytes, now: float) -> list[Delivery]:
        """The messages of a datagram, already decompressed. JOINs in it are ignored."""
        deliveries: list[Delivery] = []
        self.batches += 1
        self.bytes += len(content)
        self.received_at = now
        self._is_plain = False
        try:
            self.process_batch(content, now, deliveries)
        except (TransportError, WireError):
            self.bad_datagrams += 1
        if self.tap is not None:
            self.tap.received(content, self._is_plain)
        return deliveries


class GroupPeer:
    """A peer, identified by `source`, the address of its datagrams."""

    __slots__ = ("inbound", "lease_s", "qos", "role", "source", "zid")

    def __init__(
        self, source: str, join: Join, terms: GroupTerms, now: float, budget: ReassemblyBudget
    ) -> None:
        self.source = source
        self.zid = join.zid
        self.role = join.whatami
        self.qos = join.qos is not None
        self.lease_s = max(LEASE_SECONDS_MIN, seconds(lease_in_ms(join.lease, join.seconds)))
        agreed = Agreed(
            join.zid,
            join.whatami,
            resolution=terms.resolution,
            batch_size=terms.batch_size,
            qos=self.qos,
            compression=terms.compression,
            patch=min(terms.patch, join.patch or 0),
            message_bytes_max=terms.message_bytes_max,
        )
        self.inbound = GroupInbound(agreed, join, now, budget)

    def expires_at(self) -> float:
        return self.inbound.received_at + self.lease_s

    def next_deadline(self) -> float:
        """When its lease or an incomplete message expires."""
        return min(self.expires_at(), self.inbound.reassembly.next_deadline())

    def has_closed(self) -> bool:
        return self.inbound.close_code >= 0

    def __repr__(self) -> str:
        return f"GroupPeer({self.role} {self.zid} at {self.source})"


class PeerJoined:
    """A peer joined the group."""

    __slots__ = ("peer",)

    def __init__(self, peer: GroupPeer) -> None:
        self.peer = peer


class PeerLeft:
    """A peer closed, or was silent for too long."""

    __slots__ = ("cause", "peer")

    def __init__(self, peer: GroupPeer, cause: str) -> None:
        self.peer = peer
        self.cause = cause


class PeerDelivery:
    """Messages of a peer."""

    __slots__ = ("delivery", "peer")

    def __init__(self, peer: GroupPeer, delivery: Delivery) -> None:
        self.peer = peer
        self.delivery = delivery


GroupEvent = PeerJoined | PeerLeft | PeerDelivery
