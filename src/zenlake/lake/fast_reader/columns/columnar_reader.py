"""ColumnarReader: units of regular connections to Arrow tables.

Handshakes and ends of sessions are few: the exact reader's walker reads them and makes sessions
and nodes. All other messages are processed in columns.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zenlake.lake.exact_reader.row_tables import drain_tables, new_rows
from zenlake.lake.exact_reader.violations import TABLE as VIOLATIONS
from zenlake.lake.fast_reader import Survey
from zenlake.lake.fast_reader.assemble.units import Units
from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.lake.fast_reader.columns.event_columns import (
    declare_table,
    exchange_table,
    interest_table,
)
from zenlake.lake.fast_reader.columns.handshakes import HandshakeBatch, LastSeen, handshake_batches
from zenlake.lake.fast_reader.columns.keys import DeclaredKeys, KeyColumn, resolve
from zenlake.lake.fast_reader.columns.message_columns import (
    batch_table,
    message_table,
    sample_table,
)
from zenlake.lake.fast_reader.columns.places import Places
from zenlake.lake.fast_reader.columns.reassembly import Reassembly
from zenlake.lake.fast_reader.screening.screen import Screen
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent, ends_session
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.rows.session_rows import add_nodes, add_session
from zenlake.trace.rows.topology_rows import Topology
from zenlake.trace.session import Session
from zenlake.trace.walker import Walker
from zenlake.wire import decode_network
from zenlake.wire.batch import decode_batch
from zenlake.wire.message import Message

_OF_SESSIONS: Final = frozenset(("sessions", "node_events", "edge_events", VIOLATIONS))
"""Tables that need the walker and link states."""
_LAST: Final = 1 << 62
"""A packet number after every packet."""

Tables = dict[str, list[pa.Table]]


@contextmanager
def _without_collections() -> Iterator[None]:
    """Pauses garbage collection: the objects of one chunk have no cycles and are freed with it."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


class ColumnarReader:
    """`feed` takes units in the order of the capture and returns tables; `finish` the rest."""

    def __init__(
        self,
        capture: str,
        survey: Survey,
        wanted: NDArray[np.bool_],
        only: frozenset[str] | None = None,
    ) -> None:
        self._capture = capture
        self._survey = survey
        regular = np.flatnonzero(wanted & survey.regular)
        self._closed_packet = survey.recorded(survey.closed_packet)
        self._closing = deque(regular[np.argsort(self._closed_packet[regular])].tolist())
        """Pairs in the order of the packets that end them."""
        self._events: list[TraceEvent] = []
        self._walker = Walker(self._events)
        self._links: dict[int, Link] = {}
        self._open: dict[Session, None] = {}
        self._keys = DeclaredKeys()
        self._reassembly = Reassembly()
        self._rows = new_rows(capture, only)
        self._topology = Topology(self._rows)
        self._wanted = self._rows.tables.keys()
        has_rules = VIOLATIONS in self._wanted
        self._screen = Screen(survey, self._rows, self._links) if has_rules else None

    @property
    def doubted(self) -> NDArray[np.bool_] | None:
        """Pairs that may have broken rules, to be read again; complete after `finish`."""
        return None if self._screen is None else self._screen.doubted

    def feed(self, units: Units) -> Tables:
        """Units in the order of the capture; no packet has its units in two calls."""
        last = int(units.packet[-1]) if len(units) else 0
        return self._feed(units, self._closed_until(last))

    def finish(self) -> Tables:
        """After the last units."""
        tables = self._feed(None, self._closed_until(_LAST))
        for session in self._open:
            add_session(self._rows, session)
        self._open.clear()
        for name, table in drain_tables(self._rows, is_end=True).items():
            tables.setdefault(name, []).append(table)
        return tables

    def _closed_until(self, packet: int) -> list[int]:
        found = []
        while self._closing and self._closed_packet[self._closing[0]] <= packet:
            found.append(self._closing.popleft())
        return found

    @_without_collections()
    def _feed(self, units: Units | None, closings: list[int]) -> Tables:
        tables: Tables = {}
        decoded = Decoded(units, self._reassembly.feed(units)) if units else None
        if self._wanted & _OF_SESSIONS:
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
        for name, table in drain_tables(self._rows).items():
            tables.setdefault(name, []).append(table)
        return tables

    # --- sessions ----------------------------------------------------------------------------

    def _sessions(self, decoded: Decoded | None, closings: list[int]) -> None:
        """Handshakes, CLOSE and ends of connections, in the order of packets."""
        ended = self._closed_packet[closings].tolist()
        ends: list[tuple[int, int, int, HandshakeBatch | None]] = [
            (packet, 1, pair, None) for packet, pair in zip(ended, closings, strict=True)
        ]
        last_seen, handshakes = None, []
        if decoded is not None:
            last_seen = LastSeen(decoded.units)
            handshakes = [(one.packet, 0, one.pair, one) for one in handshake_batches(decoded)]
        for packet, _, pair, handshake in sorted(handshakes + ends, key=itemgetter(0, 1)):
            if handshake is not None:
                self._handshake(handshake, last_seen)
            else:
                self._update_last_seen(pair, packet, last_seen)
                self._close(pair, decoded)
        if last_seen is not None:
            for pair in last_seen.pairs():
                self._update_last_seen(pair, _LAST, last_seen)

    def _update_last_seen(self, pair: int, packet: int, last_seen: LastSeen | None) -> None:
        """Notes when each side last sent something, up to a packet, for the check of leases."""
        link = self._links.get(pair)
        if last_seen is None or link is None:
            return
        session, end = session_of(link), self._survey.end_of(pair)
        open_until = packet if end is None else min(packet, end.packet)
        for direction in (0, 1):
            node, owner = session.nodes[link.sides[direction]], 2 * pair + direction
            time_ns = last_seen.before(owner, packet)
            if time_ns > node.last_seen_ns:
                node.last_seen_ns = time_ns
            if open_until != packet:
                time_ns = last_seen.before(owner, open_until)
            if time_ns > node.last_seen_open_ns:
                node.last_seen_open_ns = time_ns

    def _handshake(self, handshake: HandshakeBatch, last_seen: LastSeen | None) -> None:
        pair, content, packet = handshake.pair, handshake.content, handshake.packet
        link = self._links.get(pair)
        if link is None:
            name, ends = self._survey.link_name(pair), self._survey.ends(pair)
            link = self._links[pair] = Link(name, "tcp", *ends, True)
        if handshake.is_close:
            self._update_last_seen(pair, packet, last_seen)
        messages: list[Message] = list(decode_batch(content).messages)
        place = link, handshake.direction, packet, handshake.time_ns
        batch = LinkBatch(*place, content, messages, "ok", None, 0)
        self._walker.feed(batch)
        if self._screen is not None:
            self._screen.add_handshake(handshake.row, pair, batch, self._events[:])
        self._note_sessions()

    def _close(self, pair: int, decoded: Decoded | None) -> None:
        link, survey = self._links.get(pair), self._survey
        if link is None:
            return
        link.ended_ns = int(survey.ended_ns[pair])
        link.end = survey.end_of(pair)
        packet, time_ns = int(self._closed_packet[pair]), int(survey.closed_ns[pair])
        item = LinkClosed(link, packet, time_ns, survey.cause_word(pair))
        self._walker.feed(item)
        if self._screen is not None:
            self._screen.add_close(decoded, pair, item, self._events[:])
        self._note_sessions()
        add_nodes(self._rows, session_of(link))

    def _note_sessions(self) -> None:
        """Notes which sessions opened and ended; rows of messages are made in columns."""
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
        if self._wanted & _OF_SESSIONS:
            self._link_states(decoded)
        if self._screen is not None:
            self._screen.check_rows(decoded, keys)
        has_state = decoded.units.packet[0] <= 0
        if "batches" in self._wanted:
            table = batch_table(decoded, places, self._survey)
            tables["batches"] = [_without_state(table) if has_state else table]
        for name, build in _BUILDERS.items():
            made = build(decoded, keys, places) if name in self._wanted else None
            if made is not None:
                is_event = name not in _OF_MESSAGES
                tables[name] = [made if is_event or not has_state else _without_state(made)]

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
_OF_MESSAGES: Final = ("messages", "samples")
"""Tables without rows of the state at the start of a recording."""


def _without_state(table: pa.Table) -> pa.Table:
    return table.filter(pc.greater(table["packet"], 0))


def session_of(link: Link) -> Session:
    session = link.session
    assert session is not None, f"{link} is regular, so its handshake was read"
    return session
