"""Walker: turns batches into events for every message, with its session, nodes and key.

Aliases are resolved by the direction that declared them (wire reference §14), sequence numbers
decide which messages a receiver accepts, and fragments are reassembled.
"""

from __future__ import annotations

from typing import Final

from zenlake.errors import WireError
from zenlake.trace.channel import OUTSIDE, STALE, UNKNOWN, Channel, channel_key
from zenlake.trace.events import Carrier, MessageSeen, Missing, TraceEvent, Undecoded
from zenlake.trace.interest_answers import is_answer, remember_interest
from zenlake.trace.keys import declare, key_of
from zenlake.trace.link import LinkBatch, LinkClosed
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.session import Node, Session
from zenlake.trace.sessions import Sessions, scouting_node, sender_node
from zenlake.wire import Declare, Fragment, Frame, Interest, decode_network
from zenlake.wire.kinds import kind_of
from zenlake.wire.message import Message, NetworkMessage
from zenlake.wire.sequence import is_ahead, previous_sn, sn_distance

_STAYS_INCOMPLETE: Final = "a message in fragments stays incomplete"


class Walker:
    """Feed it items of links; it appends events to the given list."""

    __slots__ = ("_out", "_seq", "sessions")

    def __init__(self, out: list[TraceEvent]) -> None:
        self._out = out
        self._seq = 0
        self.sessions = Sessions(out)

    def feed(self, item: LinkItem) -> None:
        if isinstance(item, LinkBatch):
            self._batch(item)
        elif isinstance(item, LinkClosed):
            self._end_channels(item)
            self.sessions.link_closed(item)
        elif item.packet > 0:
            if isinstance(item, Missing):
                self._note_loss(item)
            self._out.append(item)

    def _batch(self, batch: LinkBatch) -> None:
        link = batch.link
        if link.protocol == "scouting":
            for message in batch.messages:
                node = scouting_node(message, link.ends[0])
                self._see(batch, None, node, kind_of(message), message)
        else:
            session = link.session
            if session is None:
                session = self.sessions.begin(batch)
            node = sender_node(batch, session)
            if batch.packet > 0:
                # In the state of a recording, the last thing that a node sent may be missing.
                self._note_time(batch, node)
            for message in batch.messages:
                if isinstance(message, Frame):
                    self._frame(batch, session, node, message)
                elif isinstance(message, NetworkMessage):
                    self._open_by_data(batch, session)
                    session = link.session or session
                    event = self._see(batch, session, node, kind_of(message), message)
                    self._network(session, node, event, message)
                elif isinstance(message, Fragment):
                    self._fragment(batch, session, node, message)
                else:
                    event = self._see(batch, session, node, kind_of(message), message)
                    self.sessions.transport(batch, session, event)
                    session = link.session or session
        if batch.lost_bytes:
            cause = "incomplete" if batch.error is None else str(batch.error)
            self._undecoded(batch, batch.state, batch.lost_bytes, cause)

    def _note_time(self, batch: LinkBatch, node: Node) -> None:
        link = batch.link
        if batch.time_ns > node.last_seen_ns:
            # A batch that was held behind a gap may be older than the last one.
            node.last_seen_ns = batch.time_ns
        if link.end is None or batch.packet <= link.end.packet:
            node.last_seen_open_ns = max(node.last_seen_open_ns, batch.time_ns)

    def _see(
        self,
        batch: LinkBatch,
        session: Session | None,
        node: Node | None,
        kind: str,
        message: Message,
    ) -> MessageSeen:
        seq = 0
        if batch.packet > 0:
            seq = self._seq = self._seq + 1
        event = MessageSeen(
            seq,
            batch.packet,
            batch.time_ns,
            batch.link,
            batch.direction,
            session,
            node,
            kind,
            message,
        )
        event.earlier_packets = batch.earlier_packets
        self._out.append(event)
        return event

    # --- channels ------------------------------------------------------------------------

    def _channel(
        self, batch: LinkBatch, session: Session, node: Node, carrier: Frame | Fragment
    ) -> Channel:
        self._open_by_data(batch, session)
        key = channel_key(carrier)
        channel = node.channels.get(key)
        if channel is None:
            first = node.initial_sn
            last = UNKNOWN
            if first is not None and session.mask:
                last = previous_sn(first, session.mask)
            channel = node.channels[key] = Channel(self.sessions.reassembly, last)
        return channel

    def _open_by_data(self, batch: LinkBatch, session: Session) -> None:
        """Data implies that the session is open, even if its OPEN_ACK is missing."""
        if session.is_open or not session.seen_start or session.closed_ns is not None:
            return
        if batch.link.protocol == "udp" and session.nodes[0].initial_sn is None:
            # The data belongs to an earlier session between the same addresses.
            return
        self.sessions.opened(batch, session)

    def _accept_sn(
        self,
        batch: LinkBatch,
        session: Session,
        node: Node,
        channel: Channel,
        carrier: Frame | Fragment,
        event: MessageSeen,
    ) -> bool:
        """Whether a receiver accepts a FRAME or FRAGMENT by its sequence number."""
        if batch.packet <= 0:
            channel.set_number(carrier.sn)
            if node.newest_sn == UNKNOWN or is_ahead(
                sn_distance(node.newest_sn, carrier.sn, session.mask), session.mask
            ):
                node.newest_sn = carrier.sn
            return True
        newest, node.newest_sn = node.newest_sn, carrier.sn
        if session.qos and batch.link.protocol == "udp":
            # zenoh-pico alone has one counter for all channels, and it has no QoS. Over UDP a
            # number that fits by chance would hide a loss.
            newest = UNKNOWN
        missing = channel.accept(carrier.sn, session.mask, newest)
        if missing == 0:
            return True
        if missing == STALE:
            event.ignored = "its sequence number is not new"
        elif missing == OUTSIDE:
            event.ignored = "its sequence number is outside the resolution"
        else:
            self._out.append(
                Missing(
                    batch.packet,
                    batch.time_ns,
                    batch.link,
                    batch.direction,
                    "sn_gap",
                    "sequence numbers are missing",
                    count=missing,
                    priority=event.priority,
                    reliable=carrier.reliable,
                )
            )
        return missing > 0

    def _frame(self, batch: LinkBatch, session: Session, node: Node, frame: Frame) -> None:
        event = self._see(batch, session, node, "FRAME", frame)
        carrier = event.carrier = Carrier(frame)
        channel = self._channel(batch, session, node, frame)
        session = batch.link.session or session
        is_accepted = self._accept_sn(batch, session, node, channel, frame, event)
        if is_accepted:
            channel.interrupt()
            if channel.dropped_bytes:
                key = channel_key(frame)
                self._incomplete(batch, batch.direction, channel, key, _STAYS_INCOMPLETE)
        for message in frame.messages:
            inner = self._see(batch, session, node, kind_of(message), message)
            inner.carrier = carrier
            if is_accepted:
                self._network(session, node, inner, message)
            else:
                inner.ignored = event.ignored
                inner.key = key_of(session, node, batch.direction, inner)

    def _fragment(self, batch: LinkBatch, session: Session, node: Node, fragment: Fragment) -> None:
        event = self._see(batch, session, node, "FRAGMENT", fragment)
        event.carrier = Carrier(fragment)
        channel = self._channel(batch, session, node, fragment)
        session = batch.link.session or session
        if not self._accept_sn(batch, session, node, channel, fragment, event):
            return
        event.ignored = channel.add(fragment, batch.packet, session.patch, session.mask)
        if channel.dropped_bytes:
            key = channel_key(fragment)
            self._incomplete(batch, batch.direction, channel, key, _STAYS_INCOMPLETE)
        if event.ignored is not None or fragment.more:
            return
        packets = tuple(channel.packets[:-1])
        count = len(channel.pieces)
        data = channel.pop_message()
        try:
            message, end = decode_network(data, 0)
        except WireError as error:
            self._undecoded(batch, "malformed", len(data), f"in fragments: {error}")
            return
        if end < len(data):
            # A receiver accepts the first message and ignores the rest (§7).
            cause = "in fragments, after the message"
            self._undecoded(batch, "malformed", len(data) - end, cause)
            if session.patch is None or (session.patch == 0 and batch.link.protocol == "udp"):
                # The beginning may be missing: without patch 1 nothing marks the first fragment.
                return
        inner = self._see(batch, session, node, kind_of(message), message)
        inner.carrier = event.carrier
        inner.fragments = count
        inner.wire_size = end
        inner.earlier_packets = packets + batch.earlier_packets
        self._network(session, node, inner, message)

    def _undecoded(self, batch: LinkBatch, state: str, count: int, cause: str) -> None:
        if batch.packet > 0:
            self._out.append(
                Undecoded(
                    batch.packet, batch.time_ns, batch.link, batch.direction, state, count, cause
                )
            )

    def _incomplete(
        self, item: LinkBatch | LinkClosed, direction: int, channel: Channel, key: int, cause: str
    ) -> None:
        """Reports the bytes of an incomplete message; `key` is the channel's `channel_key`."""
        size, channel.dropped_bytes = channel.dropped_bytes, 0
        if item.packet > 0:
            self._out.append(
                Missing(
                    item.packet,
                    item.time_ns,
                    item.link,
                    direction,
                    "fragment",
                    cause,
                    count=1,
                    bytes=size,
                    priority=key >> 1,
                    reliable=bool(key & 1),
                )
            )

    def _end_channels(self, item: LinkClosed) -> None:
        """Reports fragmented messages that are incomplete at the end of the session."""
        session = item.link.session
        if session is None or session.is_multicast or item.packet <= 0:
            return
        if any(not one.is_closed for one in session.links if one is not item.link):
            return
        for direction in (0, 1):
            node = session.nodes[item.link.sides[direction]]
            for key, channel in node.channels.items():
                if not channel.pieces:
                    continue
                channel.interrupt()
                cause = "the link ended before the last fragment"
                self._incomplete(item, direction, channel, key, cause)

    # --- keys ----------------------------------------------------------------------------

    def _network(
        self, session: Session, node: Node, event: MessageSeen, message: NetworkMessage
    ) -> None:
        """Resolves the key of a message, and remembers its declaration for later ones."""
        event.key = key_of(session, node, event.direction, event)
        if isinstance(message, Declare):
            event.is_answer = is_answer(event.receiver_node, message)
            if not event.is_answer:
                declare(node, message, event.key, self.sessions.keys)
        elif isinstance(message, Interest):
            remember_interest(node, message)

    def _note_loss(self, item: Missing) -> None:
        """Handles missing data of a direction: a node that reuses aliases may have changed them."""
        session = item.link.session
        if session is None or session.is_multicast or item.kind == "sn_gap":
            return
        node = session.nodes[item.link.sides[item.direction]]
        node.is_lossy = True
        if node.reuses:
            for number in node.aliases:
                node.aliases[number] = None
