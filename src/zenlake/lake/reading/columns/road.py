"""The columnar road: units of regular connections in, Arrow tables out.

Handshakes and ends of sessions are few: they go through the same walker as on the scalar road,
which makes sessions and nodes of them. All the rest is columns.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from zenlake import columnar
from zenlake.lake.bulk import Survey
from zenlake.lake.reading.columns.decoded import Decoded
from zenlake.lake.reading.columns.event_columns import (
    declare_table,
    exchange_table,
    interest_table,
)
from zenlake.lake.reading.columns.keys import KeyColumn, KeyMemory, resolve
from zenlake.lake.reading.columns.message_columns import batch_table, message_table, sample_table
from zenlake.lake.reading.columns.places import Places
from zenlake.lake.reading.columns.reassembly import Reassembly
from zenlake.lake.reading.columns.units import Units
from zenlake.lake.reading.row_tables import new_rows, take
from zenlake.lake.reading.screening.screen import Screen
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.rows.session_rows import add_nodes, add_session
from zenlake.trace.rows.topology_rows import Topology
from zenlake.trace.session import Session
from zenlake.trace.timelines.lives import ends_session
from zenlake.trace.walker import Walker
from zenlake.wire._generated.network import decode_network
from zenlake.wire.batch import decode_batch
from zenlake.wire.message import Message

_ID_BITS: Final = 0x1F
_CLOSE_ID: Final = 0x03
_HANDSHAKE_IDS: Final = (0x01, 0x02, _CLOSE_ID)
"""INIT, OPEN, CLOSE."""
VIOLATIONS: Final = "violations"
_OF_SESSIONS: Final = frozenset(("sessions", "node_events", "edge_events", VIOLATIONS))
"""What the walker and link states are needed for."""
_LAST: Final = 1 << 62
"""After every packet."""


Tables = dict[str, list[pa.Table]]


class ColumnsRoad:
    """Feed it units, and the ends of connections as they come; it gives rows."""

    def __init__(
        self,
        capture: str,
        survey: Survey,
        wanted: NDArray[np.bool_],
        only: frozenset[str] | None = None,
    ) -> None:
        self._capture = capture
        self._only = only
        self._survey = survey
        regular = np.flatnonzero(wanted & survey.regular)
        self._closing = deque(regular[np.argsort(survey.closed_packet[regular])].tolist())
        """Pairs by the packets that end them."""
        self._events: list[TraceEvent] = []
        self._walker = Walker(self._events)
        self._links: dict[int, Link] = {}
        self._open: dict[Session, None] = {}
        self._keys = KeyMemory()
        self._reassembly = Reassembly()
        self._rows = new_rows(capture, only)
        self._topology = Topology(self._rows)
        self._screen = None
        if only is None or VIOLATIONS in only:
            self._screen = Screen(len(survey), self._rows, self._links)

    @property
    def doubted(self) -> NDArray[np.bool_] | None:
        """Pairs that may have broken rules, which are to be read again; known at the end."""
        return None if self._screen is None else self._screen.doubted

    def feed(self, units: Units) -> Tables:
        """Units in the order of the capture; no packet has its units in two calls."""
        last = int(units.packet[-1]) if len(units) else 0
        return self._feed(units, self._closed_until(last))

    def end(self) -> Tables:
        """After the last units."""
        tables = self._feed(None, self._closed_until(_LAST))
        for session in self._open:
            add_session(self._rows, session)
        self._open.clear()
        for name, table in take(self._rows, is_end=True).items():
            tables.setdefault(name, []).append(table)
        return tables

    def _closed_until(self, packet: int) -> list[int]:
        found = []
        while self._closing and self._survey.closed_packet[self._closing[0]] <= packet:
            found.append(self._closing.popleft())
        return found

    def _feed(self, units: Units | None, closings: list[int]) -> Tables:
        tables: Tables = {}
        decoded = Decoded(units, self._reassembly.feed(units)) if units else None
        if self._only is None or _OF_SESSIONS & self._only:
            self._sessions(decoded, closings)
        if decoded is not None:
            self._columns(decoded, tables)
        elif self._screen is not None:
            self._screen.finish()
        for pair in closings:
            self._keys.forget(pair)
            link = self._links.pop(pair, None)
            if link is not None:
                self._topology.forget(session_of(link))
        for name, table in take(self._rows).items():
            tables.setdefault(name, []).append(table)
        return tables

    # --- sessions ----------------------------------------------------------------------------

    def _sessions(self, decoded: Decoded | None, closings: list[int]) -> None:
        """Handshakes, CLOSE and ends of connections, in the order of packets."""
        ended = self._survey.closed_packet
        steps = [(int(ended[pair]), True, pair) for pair in closings]
        heard = None
        if decoded is not None:
            heard = Heard(decoded.units)
            units = decoded.units
            ids = units.data[units.bounds[:-1]] & _ID_BITS
            is_one = np.isin(ids, _HANDSHAKE_IDS) & (units.form <= columnar.LOW_LATENCY)
            places = np.flatnonzero(is_one).tolist()
            steps += [(int(units.packet[unit]), False, unit) for unit in places]
        steps.sort(key=lambda step: step[:2])
        for packet, is_end, number in steps:
            if is_end:
                self._hear(number, packet, heard)
                self._close(number, decoded)
            elif decoded is not None:
                self._handshake(decoded, number, heard)
        if heard is not None:
            for pair in heard.pairs():
                self._hear(pair, _LAST, heard)

    def _hear(self, pair: int, packet: int, heard: Heard | None) -> None:
        """When each side was last heard, up to a packet: a lease may have run out since."""
        link = self._links.get(pair)
        if heard is None or link is None:
            return
        session = session_of(link)
        for direction in (0, 1):
            time_ns = heard.before(2 * pair + direction, packet)
            if time_ns is not None:
                node = session.nodes[link.sides[direction]]
                node.heard_ns = max(node.heard_ns, time_ns)

    def _handshake(self, decoded: Decoded, unit: int, heard: Heard | None) -> None:
        units = decoded.units
        pair, packet = int(units.pair[unit]), int(units.packet[unit])
        link = self._links.get(pair)
        if link is None:
            name, ends = self._survey.link_name(pair), self._survey.ends(pair)
            link = self._links[pair] = Link(name, "tcp", *ends, True)
        content = units.content(unit)
        if content[0] & _ID_BITS == _CLOSE_ID:
            self._hear(pair, packet, heard)
        messages: list[Message] = list(decode_batch(content).messages)
        direction, time_ns = int(units.direction[unit]), int(units.time_ns[unit])
        batch = LinkBatch(link, direction, packet, time_ns, content, messages, "ok", None, 0)
        self._walker.feed(batch)
        if self._screen is not None:
            row = int(np.searchsorted(decoded.unit, unit))
            self._screen.handshake(row, pair, batch, self._events[:])
        self._take_events()

    def _close(self, pair: int, decoded: Decoded | None) -> None:
        link, survey = self._links.get(pair), self._survey
        if link is None:
            return
        link.ended_ns = int(survey.ended_ns[pair])
        packet, time_ns = int(survey.closed_packet[pair]), int(survey.closed_ns[pair])
        item = LinkClosed(link, packet, time_ns, survey.cause_word(pair))
        self._walker.feed(item)
        if self._screen is not None:
            self._screen.closed(decoded, pair, item, self._events[:])
        self._take_events()
        add_nodes(self._rows, session_of(link))

    def _take_events(self) -> None:
        """Messages have rows among the columns."""
        for event in self._events:
            if isinstance(event, SessionChanged):
                self._open[event.session] = None
                if ends_session(event):
                    add_session(self._rows, event.session)
                    del self._open[event.session]
        self._events.clear()

    # --- columns -----------------------------------------------------------------------------

    def _columns(self, decoded: Decoded, tables: Tables) -> None:
        places = Places(self._capture, decoded.units.pair, self._survey)
        keys = resolve(decoded, self._keys)
        if self._only is None or _OF_SESSIONS & self._only:
            self._link_states(decoded)
        if self._screen is not None:
            self._screen.look(decoded, keys)
        if self._only is None or "batches" in self._only:
            tables["batches"] = [batch_table(decoded, places, self._survey)]
        for name, build in _BUILDERS.items():
            if self._only is None or name in self._only:
                table = build(decoded, keys, places)
                if table is not None:
                    tables[name] = [table]

    def _link_states(self, decoded: Decoded) -> None:
        columns = decoded.columns
        for row in np.flatnonzero(decoded.is_kind("OAM/LINKSTATE")).tolist():
            start = int(columns["offset"][row])
            content = columns.data[start : start + int(columns["length"][row])].tobytes()
            link = self._links[int(decoded.pair[row])]
            direction, session = int(decoded.direction[row]), session_of(link)
            event = MessageSeen(
                0,
                int(decoded.packet[row]),
                int(decoded.time_ns[row]),
                link,
                direction,
                session,
                session.nodes[link.sides[direction]],
                "OAM/LINKSTATE",
                decode_network(content, 0)[0],
            )
            self._topology.add(event, int(decoded.seq[row]))


_BUILDERS: Final[dict[str, Callable[[Decoded, KeyColumn, Places], pa.Table | None]]] = {
    "messages": message_table,
    "samples": sample_table,
    "exchange_events": exchange_table,
    "declare_events": declare_table,
    "interest_events": interest_table,
}


class Heard:
    """When each direction of each connection sent something."""

    __slots__ = ("_packets", "_spans", "_times")

    def __init__(self, units: Units) -> None:
        owners = units.pair.astype(np.int64) * 2 + units.direction
        order = np.argsort(owners, kind="stable")
        different, first, count = np.unique(owners[order], return_index=True, return_counts=True)
        spans = zip(first.tolist(), (first + count).tolist(), strict=True)
        self._spans = dict(zip(different.tolist(), spans, strict=True))
        self._packets = units.packet[order].tolist()
        self._times = units.time_ns[order].tolist()

    def pairs(self) -> set[int]:
        return {owner >> 1 for owner in self._spans}

    def before(self, owner: int, packet: int) -> int | None:
        """The last time, at a packet or before it."""
        first, last = self._spans.get(owner, (0, 0))
        place = bisect_right(self._packets, packet, first, last)
        return max(self._times[first:place], default=None)


def session_of(link: Link) -> Session:
    session = link.session
    assert session is not None, f"{link} is regular, so its handshake was read"
    return session
