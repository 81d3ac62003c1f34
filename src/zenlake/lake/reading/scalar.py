"""The scalar road: a trace, message by message, into rows. It reads everything there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from zenlake import trace
from zenlake.lake.reading.message_rows import add_message
from zenlake.lake.reading.rows import Rows
from zenlake.lake.reading.session_rows import add_loss, add_session
from zenlake.lake.reading.topology_rows import Topology
from zenlake.trace.events import MessageSeen, Missing, SessionChanged, TraceEvent, Undecoded
from zenlake.trace.link import Link, LinkBatch
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.session import Session
from zenlake.trace.timelines.lives import ends_session
from zenlake.trace.trace import Trace

ORDINAL_BITS: Final = 24
"""Of `seq`: the packet's number stands above them, its messages count within them."""
ROWS_AT_ONCE: Final = 65_536
_RECENT_PACKETS_MAX: Final = 4_096


class ScalarRoad:
    """Feed it what links carried and the events of that; take rows out."""

    __slots__ = ("_links", "_ordinals", "_topology", "rows", "trace")

    def __init__(self, trace: Trace, rows: Rows) -> None:
        self.trace = trace
        self.rows = rows
        self._topology = Topology(rows)
        self._ordinals: dict[tuple[Link, int], int] = {}

    def seq(self, link: Link, packet: int) -> int:
        """The next number within a packet; where links end together, each counts for itself."""
        place = (link, packet)
        ordinal = self._ordinals.get(place, 0)
        if not ordinal and len(self._ordinals) >= _RECENT_PACKETS_MAX:
            self._ordinals.clear()
        self._ordinals[place] = ordinal + 1
        return packet << ORDINAL_BITS | ordinal

    def feed(self, item: LinkItem, events: list[TraceEvent]) -> None:
        if isinstance(item, LinkBatch):
            self._batch(item)
        for event in events:
            if isinstance(event, MessageSeen):
                seq = self.seq(event.link, event.packet)
                add_message(self.rows, event, seq)
                self._topology.add(event, seq)
            elif isinstance(event, Missing):
                add_loss(self.rows, event)
            elif isinstance(event, Undecoded):
                if not isinstance(item, LinkBatch):
                    self._undecoded(event)
            elif isinstance(event, SessionChanged) and ends_session(event):
                self._session(event.session)

    def end(self) -> None:
        """Sessions that the end of the capture found open."""
        for session in self.trace.sessions:
            if session.closed_ns is None or session.is_multicast:
                self._session(session)

    def _session(self, session: Session) -> None:
        if not session.is_multicast or session in self.trace.sessions:
            add_session(self.rows, session)
        for node in session.nodes:
            self._topology.forget(node)

    def _batch(self, batch: LinkBatch) -> None:
        link, direction = batch.link, batch.direction
        self.rows.tables["batches"].append(
            (
                link.session,
                link.name,
                batch.packet,
                batch.time_ns,
                link.sender(direction),
                link.receiver(direction),
                link.protocol,
                self.seq(link, batch.packet),
                batch.state,
                len(batch.data),
                None if batch.error is None else str(batch.error),
            )
        )

    def _undecoded(self, event: Undecoded) -> None:
        link, direction = event.link, event.direction
        self.rows.tables["batches"].append(
            (
                link.session,
                link.name,
                event.packet,
                event.time_ns,
                link.sender(direction),
                link.receiver(direction),
                link.protocol,
                self.seq(link, event.packet),
                event.state,
                event.bytes,
                event.cause,
            )
        )


def tables(trace: Trace, rows: Rows) -> Iterator[dict[str, pa.Table]]:
    """All rows of a trace, a bounded number at a time."""
    road = ScalarRoad(trace, rows)
    for item, events in trace.steps():
        road.feed(item, events)
        if len(rows) >= ROWS_AT_ONCE:
            yield rows.take()
    road.end()
    yield rows.take(is_end=True)


def stage(path: str, capture: str) -> dict[str, pa.Table]:
    """Everything one capture gives, at once: for small ones and for tests."""
    rows = Rows(capture)
    found: dict[str, list[pa.Table]] = {}
    with trace.open(path) as opened:
        for parts in tables(opened, rows):
            for name, part in parts.items():
                found.setdefault(name, []).append(part)
    return {name: pa.concat_tables(parts) for name, parts in found.items()}
