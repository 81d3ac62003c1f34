"""RowMaker: turns the items of links and their events into rows."""

from __future__ import annotations

from typing import Final

from zenlake.trace.events import (
    MessageSeen,
    Missing,
    SessionChanged,
    TraceEvent,
    Undecoded,
    ends_session,
)
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.rows._generated.records import BatchesRow, MessagesRow
from zenlake.trace.rows.message_rows import add_message
from zenlake.trace.rows.rows import Rows
from zenlake.trace.rows.seq import ORDINAL_BITS
from zenlake.trace.rows.session_rows import add_loss, add_nodes, add_session
from zenlake.trace.rows.sizes import set_wire_sizes
from zenlake.trace.rows.topology_rows import Topology
from zenlake.trace.session import Session
from zenlake.trace.trace import Trace

_RECENT_PACKETS_MAX: Final = 4_096
_WHY: Final = {
    "truncated": "the capture does not have all of its bytes",
    "gap": "packets are missing",
}


class RowMaker:
    """Feed it items of links with their events; it appends to `rows`."""

    __slots__ = ("_has_messages", "_ordinals", "_topology", "rows", "trace")

    def __init__(self, trace: Trace, rows: Rows) -> None:
        self.trace = trace
        self.rows = rows
        self._has_messages = rows.wanted(MessagesRow) is not None
        self._topology = Topology(rows)
        self._ordinals: dict[tuple[Link, int], int] = {}

    def seq(self, link: Link, packet: int) -> int:
        """The next `seq` in a packet. Links that end with the same packet count separately."""
        place = (link, packet)
        ordinal = self._ordinals.get(place, 0)
        if not ordinal and len(self._ordinals) >= _RECENT_PACKETS_MAX:
            self._ordinals.clear()
        self._ordinals[place] = ordinal + 1
        return packet << ORDINAL_BITS | ordinal

    def feed(self, item: LinkItem, events: list[TraceEvent]) -> None:
        if isinstance(item, LinkBatch):
            cause = _WHY.get(item.state) if item.error is None else str(item.error)
            self._add_batch(item, len(item.data), cause)
            if self._has_messages and item.packet > 0:
                set_wire_sizes(item, events)
        for event in events:
            if isinstance(event, MessageSeen):
                seq = self.seq(event.link, event.packet)
                add_message(self.rows, event, seq)
                self._topology.add(event, seq)
            elif isinstance(event, Missing):
                add_loss(self.rows, event)
            elif isinstance(event, Undecoded):
                if not isinstance(item, LinkBatch):
                    self._add_batch(event, event.bytes, event.cause)
            elif isinstance(event, SessionChanged) and ends_session(event):
                self._session(event.session)
        if isinstance(item, LinkClosed):
            self._link_closed(item.link)

    def _link_closed(self, link: Link) -> None:
        session = link.session
        if session is None or session.is_multicast:
            return
        if all(one.is_closed for one in session.links):
            add_nodes(self.rows, session)
            self._topology.forget(session)

    def finish(self) -> None:
        """Adds the sessions that are open at the end of the capture."""
        for session in self.trace.sessions:
            if session.closed_ns is None or session.is_multicast:
                self._session(session)

    def _session(self, session: Session) -> None:
        if not session.is_multicast or self.trace.remembers(session):
            add_session(self.rows, session)

    def _add_batch(self, item: LinkBatch | Undecoded, size: int, cause: str | None) -> None:
        link, packet = item.link, item.packet
        seq = self.seq(link, packet)
        batches = self.rows.wanted(BatchesRow)
        if batches is None or packet <= 0:
            return
        batches.append(
            BatchesRow(
                session=link.session,
                link=link.name,
                packet=packet,
                time_ns=item.time_ns,
                sender=link.sender(item.direction),
                receiver=link.receiver(item.direction),
                protocol=link.protocol,
                seq=seq,
                state=item.state,
                bytes=size,
                cause=cause,
            )
        )
