"""GroupRunner: a multicast group at work (wire reference §8).

One thread reads the group's sockets and runs its timer; messages are sent by the threads that route
them. For routing, the whole group is one face to send to, and each member one that messages come
from. A datagram that the system does not accept is lost, as on the network, and counted.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from math import inf
from typing import TYPE_CHECKING

from zenlake.errors import ZenlakeError
from zenlake.links import LinkError
from zenlake.links.addresses import split_address
from zenlake.links.multicast import MulticastSockets, multicast_interfaces
from zenlake.links.options import number_option, option
from zenlake.node.abstract_sender import TAKEN, AbstractSender
from zenlake.node.group_taps import GroupTaps, locator_of
from zenlake.node.info import LinkInfo, TransportInfo
from zenlake.node.link_outlet import LinkOutlet
from zenlake.node.stats import inbound_losses_of
from zenlake.node.threads import ThreadError, ThreadOwner
from zenlake.protocol.group import Group
from zenlake.protocol.group_peer import (
    GroupEvent,
    GroupPeer,
    PeerDelivery,
    PeerJoined,
    PeerLeft,
)
from zenlake.protocol.group_terms import GroupTerms
from zenlake.routing.face import Face
from zenlake.routing.work import SLICE_STEPS
from zenlake.wire import EndPoint
from zenlake.wire.defaults import DEFAULT_GROUP_BATCH_BYTES

if TYPE_CHECKING:
    from zenlake.node.node import Node

log = logging.getLogger("zenlake.transport")


class GroupSender(AbstractSender):
    """The outbound half: what is pushed is sent in `after_unlock`."""

    __slots__ = ("_group", "_sockets", "_taps", "dropped", "lock")

    def __init__(self, group: Group, sockets: MulticastSockets, taps: GroupTaps | None) -> None:
        self._group = group
        self._sockets = sockets
        self._taps = taps
        self.lock = threading.Lock()
        self.dropped = 0

    def push(self, data: bytes, qos: int, reliable: bool) -> int:
        with self.lock:
            self._group.push(data, qos & 7, reliable, qos & 0x10 != 0)
        return TAKEN

    def after_unlock(
        self, full: int, is_blocking: bool, is_last: bool = False, will_flush: bool = False
    ) -> None:
        with self.lock:
            while unit := self._group.next_unit(time.monotonic()):
                if not self._sockets.send(unit):
                    self.dropped += 1
                elif self._taps is not None:
                    self._taps.sent(unit, self._group.was_plain)


class GroupRunner(ThreadOwner):
    """This node in one group."""

    def __init__(self, node: Node, endpoint: EndPoint) -> None:
        super().__init__(f"zenlake group {endpoint.address}")
        own = node.settings
        self._node = node
        self.endpoint = endpoint
        terms = GroupTerms(
            own.zid,
            own.role,
            resolution=own.resolution,
            batch_size=min(own.batch_size, DEFAULT_GROUP_BATCH_BYTES),
            lease_ms=own.lease_ms,
            join_interval_ms=int(own.group_join_interval_s * 1000),
            qos=own.group_qos,
            message_bytes_max=own.message_bytes_max,
            peers_max=own.group_peers_max,
        )
        self._sockets = open_sockets(endpoint)
        self.group = Group(terms, os.urandom, time.monotonic(), node.budget)
        self._taps: GroupTaps | None = None
        if node.tap is not None:
            group = locator_of(self._sockets.group)
            self._taps = GroupTaps(node.tap, self._sockets.sources[0], group)
        self.group.tap = self._taps
        self.sender = GroupSender(self.group, self._sockets, self._taps)
        self._outlet = LinkOutlet(self.sender, node.node_lock.touched, node.dispatcher.refusal)
        self._face: Face | None = None
        self._members: dict[GroupPeer, Face] = {}
        self._is_closed = False

    def start(self) -> None:
        node = self._node
        self.sender.after_unlock(-1, False)  # send the first JOIN
        with node.locked:
            self._face = node.dispatcher.add_face(
                node.zid, node.role, self._outlet, time.monotonic(), is_multicast=True
            )
        try:
            super().start()
        except ThreadError as error:
            self._leave()
            raise LinkError(str(self.endpoint), str(error)) from error

    def _run(self) -> None:
        try:
            while not self._is_closed:
                deadline = self.group.next_deadline()
                left = None if deadline == inf else deadline - time.monotonic()
                for datagram in self._sockets.receive(left):
                    source = f"{datagram.source[0]}:{datagram.source[1]}"
                    now = time.monotonic()
                    with self.sender.lock:
                        events = self.group.receive(datagram.data, source, now)
                        sender = self.group.peers.get(source)
                    self._handle_events(events, now)
                    if sender is not None:
                        self._warn_of_drop(sender)
                now = time.monotonic()
                if now >= self.group.next_deadline():
                    self._handle_timeout(now)
        except LinkError as error:
            log.error("the group is left: %s", error)
            for peer in list(self._members):
                self._add_or_remove(PeerLeft(peer, error.cause))
            with self.sender.lock:
                self.group.peers.clear()
        finally:
            self._leave()

    def _handle_timeout(self, now: float) -> None:
        with self.sender.lock:
            events = self.group.handle_timeout(now)
        self._handle_events(events, now)
        for peer in self.peers():
            self._warn_of_drop(peer)
        self.sender.after_unlock(-1, False)

    def _warn_of_drop(self, peer: GroupPeer) -> None:
        dropped, peer.inbound.reassembly.report = peer.inbound.reassembly.report, None
        if dropped is not None:
            face = self._members.get(peer)
            self._node.drop_warnings.received(dropped, face, peer.source)

    def _handle_events(self, events: list[GroupEvent], now: float) -> None:
        for event in events:
            if isinstance(event, PeerDelivery):
                self._deliver(event, now)
            else:
                self._add_or_remove(event)

    def _add_or_remove(self, event: PeerJoined | PeerLeft) -> None:
        """Add a member, or remove it with its declarations."""
        node, peer = self._node, event.peer
        is_new = isinstance(event, PeerJoined)
        with node.locked:
            if is_new:
                assert self._face is not None
                peer.inbound.discards_publications = node.settings.discards_publications
                self._members[peer] = node.dispatcher.add_member(self._face, peer.zid, peer.role)
            else:
                node.dispatcher.remove_member(self._members.pop(peer), SLICE_STEPS)
        node.events.report(is_new, self._describe(peer), self._describe_link(peer))

    def _deliver(self, event: PeerDelivery, now: float) -> None:
        node = self._node
        face = self._members[event.peer]
        messages = event.delivery.messages
        start = 0
        while start < len(messages) or face.job is not None:
            if face.job is not None:
                sinks = node.node_lock.resume(face)
            else:
                start, sinks = node.node_lock.deliver(
                    face, messages, start, event.delivery.reliable, now, False
                )
            for sink in sinks or ():
                sink.after_unlock()

    def _leave(self) -> None:
        node = self._node
        with self.sender.lock:
            self.group.close()
        self.sender.after_unlock(-1, False)
        with node.locked:
            for member in self._members.values():
                node.dispatcher.remove_member(member, SLICE_STEPS)
            if self._face is not None:
                node.dispatcher.remove_face(self._face, time.monotonic(), SLICE_STEPS)
        self._sockets.close()
        if self._taps is not None:
            self._taps.close()

    def peers(self) -> list[GroupPeer]:
        with self.sender.lock:
            return list(self.group.peers.values())

    def drops_of(self, face: Face) -> dict[str, int] | None:
        """Lost messages by cause (node/stats.py): to this group, or from one of its members.

        None if the face is neither.
        """
        if face is self._face:
            return {"dropped_datagrams": self.sender.dropped}
        for peer, member in list(self._members.items()):
            if member is face:
                return inbound_losses_of(peer.inbound)
        return None

    def transports(self) -> list[TransportInfo]:
        return [self._describe(peer) for peer in self.peers()]

    def links(self) -> list[LinkInfo]:
        return [self._describe_link(peer) for peer in self.peers()]

    def _describe(self, peer: GroupPeer) -> TransportInfo:
        return TransportInfo(peer.zid, peer.role, peer.qos, True)

    def _describe_link(self, peer: GroupPeer) -> LinkInfo:
        own = f"{self._sockets.sources[0][0]}:{self._sockets.sources[0][1]}"
        return LinkInfo(
            peer.zid,
            f"udp/{own}",
            f"udp/{peer.source}",
            self.endpoint.locator,
            DEFAULT_GROUP_BATCH_BYTES,
            False,
            tuple(entry.name for entry in self._sockets.interfaces),
            None,
            None,
            None,
        )

    def close(self) -> None:
        self._is_closed = True
        self._sockets.wake()


def open_sockets(endpoint: EndPoint) -> MulticastSockets:
    """One sending socket: its address identifies this node in the group."""
    host, port = split_address(endpoint)
    wanted = option(endpoint, {}, "iface") or "auto"
    found = multicast_interfaces(wanted)
    if not found:
        raise ZenlakeError(f"{endpoint}: there is no interface for multicast")
    joins = option(endpoint, {}, "join")
    return MulticastSockets(
        host,
        port,
        found[0].name,
        number_option(endpoint, {}, "ttl") or 1,
        tuple(joins.split("|")) if joins else (),
    )
