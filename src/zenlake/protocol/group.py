"""Group: a multicast transport, without the socket (wire reference §8).

Every node sends its terms periodically (JOIN) and is identified by the source address of its
datagrams; datagrams from an address without a JOIN are ignored. Nothing is negotiated and nothing
is retransmitted. Three things drive it: datagrams (`receive`), messages to be sent
(`push`, then `next_unit` until it returns None) and time (`next_deadline`, `handle_timeout`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Final

from zenlake.errors import WireError
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.protocol.group_outbound import GroupOutbound
from zenlake.protocol.group_peer import GroupEvent, GroupPeer, PeerDelivery, PeerJoined, PeerLeft
from zenlake.protocol.group_terms import GroupTerms
from zenlake.protocol.reassembly import ReassemblyBudget
from zenlake.protocol.tap import GroupTap
from zenlake.wire import CloseReason, Join, decode_batch
from zenlake.wire.compression import compress_batch, decompress_batch

# All members are checked when the earliest of their deadlines has passed, but not more often than
# this: a member could keep its own deadline close.
_LOOK_S: Final = 0.01


class Group:
    """This node in a group.

    `peers` are the other nodes by source address. `entropy` yields the first sequence number.
    """

    __slots__ = (
        "_budget",
        "_earliest",
        "_is_join_due",
        "_next_join",
        "_terms",
        "bad_datagrams",
        "outbound",
        "past_batches",
        "past_bytes",
        "past_messages",
        "peers",
        "refused_joins",
        "strange_datagrams",
        "tap",
        "was_plain",
    )

    def __init__(
        self,
        terms: GroupTerms,
        entropy: Callable[[int], bytes],
        now: float,
        budget: ReassemblyBudget | None = None,
    ) -> None:
        self._terms = terms
        self._budget = ReassemblyBudget() if budget is None else budget
        first_sn = int.from_bytes(entropy(4), "little") & terms.resolution.sn_mask
        self.outbound = GroupOutbound(terms.sender_terms(first_sn), False)
        self.peers: dict[str, GroupPeer] = {}
        self._earliest = inf  # a lower bound of the deadlines of all members
        self._is_join_due = True
        self._next_join = now + terms.join_interval_ms / 1000
        self.bad_datagrams = 0
        """Ignored datagrams: too large, or not decompressible."""
        self.strange_datagrams = 0
        """Ignored datagrams from addresses without a JOIN."""
        self.refused_joins = 0
        """Ignored JOINs: of nodes with other terms, or beyond the limit of nodes."""
        self.past_messages = self.past_batches = self.past_bytes = 0
        """Traffic of nodes that have left."""
        self.tap: GroupTap | None = None
        """Gets all datagrams of other nodes; None if the group is not recorded."""
        self.was_plain = False
        """Whether the last datagram of `next_unit` is one FRAME of nothing but publications."""

    # --- inward ------------------------------------------------------------------------------

    def receive(self, datagram: bytes, source: str, now: float) -> list[GroupEvent]:
        """Process a datagram of another node; never one of our own."""
        events: list[GroupEvent] = []
        content = self._content(datagram)
        if content is None:
            self.bad_datagrams += 1
            return events
        tap = None if self.tap is None else self.tap.sender(source)
        peer = self.peers.get(source)
        if peer is None:
            peer = self._add_peer(content, source, now)
            if peer is None:
                if tap is not None:
                    tap.received(content, False)
                return events
            events.append(PeerJoined(peer))
        peer.inbound.tap = tap
        # Later JOINs change nothing, and sequence numbers in them are not applied.
        for delivery in peer.inbound.receive_content(content, now):
            events.append(PeerDelivery(peer, delivery))
        self._earliest = min(self._earliest, peer.next_deadline())
        if peer.has_closed():
            events.append(self._remove_peer(peer, "it closed"))
        return events

    def _content(self, datagram: bytes) -> bytes | None:
        """The decompressed content of a datagram; None if it is too large or damaged.

        Deployed nodes announce 8192 bytes in JOIN, and send as much as their link can carry.
        """
        if len(datagram) > BATCH_BYTES_MAX:
            return None
        if not self._terms.compression:
            return datagram
        try:
            return decompress_batch(datagram, BATCH_BYTES_MAX)
        except WireError:
            return None

    def _add_peer(self, content: bytes, source: str, now: float) -> GroupPeer | None:
        """The node that joins with this datagram, or None."""
        join = find_join(content)
        if join is None:
            self.strange_datagrams += 1
            return None
        terms = self._terms
        if terms.objection(join) is not None or len(self.peers) >= terms.peers_max:
            self.refused_joins += 1
            return None
        peer = GroupPeer(source, join, self._terms, now, self._budget)
        self.peers[source] = peer
        return peer

    def _remove_peer(self, peer: GroupPeer, cause: str) -> PeerLeft:
        del self.peers[peer.source]
        inbound = peer.inbound
        inbound.reassembly.release()
        self.past_messages += inbound.messages
        self.past_batches += inbound.batches
        self.past_bytes += inbound.bytes
        return PeerLeft(peer, cause)

    # --- outward -----------------------------------------------------------------------------

    def push(self, data: bytes, priority: int, reliable: bool, express: bool) -> None:
        """Queue an encoded network message; it is always accepted."""
        self.outbound.push(data, priority, reliable, express)

    def next_unit(self, now: float) -> bytes | None:
        """The next datagram, or None."""
        if self._is_join_due:
            self._is_join_due = self.was_plain = False
            join = bytes(self._terms.join(self.outbound))
            return compress_batch(join) if self._terms.compression else join
        unit = self.outbound.next_unit()
        self.was_plain = self.outbound.was_plain
        return unit

    def close(self, reason: CloseReason = CloseReason.GENERIC) -> None:
        """Queue CLOSE behind all batches; no JOIN follows it."""
        self.outbound.close(int(reason))
        self._is_join_due = False

    # --- time --------------------------------------------------------------------------------

    def next_deadline(self) -> float:
        """When to call `handle_timeout`, which may find nothing to do."""
        return self._earliest if self.outbound.is_closed else min(self._next_join, self._earliest)

    def handle_timeout(self, now: float) -> list[GroupEvent]:
        """Queue JOIN if it is due; remove peers whose lease has expired."""
        if now >= self._next_join and not self.outbound.is_closed:
            self._is_join_due = True
            self._next_join = now + self._terms.join_interval_ms / 1000
        events: list[GroupEvent] = []
        if now < self._earliest:
            return events
        earliest = inf
        for peer in list(self.peers.values()):
            if now >= peer.expires_at():
                events.append(self._remove_peer(peer, "its lease expired"))
            else:
                peer.inbound.reassembly.free_idle(now)
                earliest = min(earliest, peer.next_deadline())
        self._earliest = max(earliest, now + _LOOK_S)
        return events


def find_join(content: bytes) -> Join | None:
    """The first JOIN of a batch; bytes after it need not be readable."""
    for message in decode_batch(content).messages:
        if isinstance(message, Join):
            return message
    return None
