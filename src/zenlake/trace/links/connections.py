"""Connections: all TCP connections of a capture, from stream events to items of links."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from zenlake.capture.stream_events import (
    Flow,
    StreamBytes,
    StreamClosed,
    StreamEvent,
    StreamGap,
    StreamOpened,
)
from zenlake.limits import TRACE_HELD_BYTES_MAX, TRACE_UNDECIDED_CONNECTIONS_MAX
from zenlake.trace.link import LinkClosed, LinkEnd
from zenlake.trace.links.connection import Connection, LinkItem
from zenlake.trace.links.datagrams import port_of


def _mark(direction: int, seen_syn: bool) -> int:
    """Two bits of a direction: it was opened, and its SYN was seen."""
    return (3 if seen_syn else 1) << 2 * direction


_ONE_IS_OPEN: Final = frozenset(
    _mark(direction, seen_syn) for direction in (0, 1) for seen_syn in (False, True)
)


class Connections:
    """Feed it stream events; it appends items to the given list."""

    __slots__ = (
        "_by_flow",
        "_fed",
        "_held_bytes_max",
        "_holding",
        "_out",
        "_ports",
        "_quiet",
        "_undecided",
        "_undecided_max",
        "held_bytes",
    )

    def __init__(self, out: list[LinkItem], ports: frozenset[int]) -> None:
        self._out = out
        self._ports = ports
        self._held_bytes_max = TRACE_HELD_BYTES_MAX
        self._undecided_max = TRACE_UNDECIDED_CONNECTIONS_MAX
        self._by_flow: dict[Flow, Connection] = {}
        self._quiet: dict[Flow, int] = {}
        """Opened connections without bytes, as bits of `_mark`: they need little memory."""
        self._holding: OrderedDict[Connection, int] = OrderedDict()
        """Bytes held by each connection, the oldest connection first."""
        self._undecided: OrderedDict[Connection, None] = OrderedDict()
        """Connections not recognised yet: a search in them needs more memory than their bytes."""
        self.held_bytes = 0
        self._fed: list[Connection] = []
        """Connections with events since the last release."""

    def feed(self, event: StreamEvent, packet: int, time_ns: int) -> None:
        """Processes an event; `packet` is the packet that revealed it."""
        flow, direction = event.flow, event.direction
        connection = self._by_flow.get(flow)
        if connection is None:
            if self._is_quiet(event):
                return
            connection = self._open(flow)
        if isinstance(event, StreamBytes):
            connection.link.is_behind = flow.is_behind
            connection.feed(direction, event.data, event.number or packet, event.time_ns or time_ns)
            self._fed.append(connection)
            return
        connection.packet, connection.time_ns = packet, time_ns
        if isinstance(event, StreamOpened):
            connection.opened(direction, event.seen_syn)
        elif isinstance(event, StreamGap):
            connection.gap(direction, event.missing_bytes, event.cause)
            self._fed.append(connection)
        elif isinstance(event, StreamClosed):
            connection.finish(direction)
            self._fed.append(connection)
            link = connection.link
            link.ended_ns = link.ended_ns or time_ns
            if link.end is None and event.cause in ("fin", "rst"):
                sender = direction if event.cause == "fin" else flow.reset_by
                link.end = LinkEnd(event.cause, sender, packet, time_ns)
            if connection.closed():
                del self._by_flow[flow]
                connection.may_wait = False
                connection.release()
                connection.drop_readers()
                if connection.is_zenoh:
                    self._out.append(LinkClosed(connection.link, packet, time_ns, event.cause))

    def release(self) -> None:
        """Releases the items of a packet, after all its events were fed."""
        for connection in self._fed:
            connection.release()
            held = connection.held_bytes()
            if held or connection in self._holding:
                self._account(connection, held)
        self._fed.clear()

    def _account(self, connection: Connection, held: int) -> None:
        """Bounds the bytes held by all connections; at the limit the oldest drops its bytes."""
        holding, undecided = self._holding, self._undecided
        self.held_bytes += held - holding.pop(connection, 0)
        undecided.pop(connection, None)
        if held:
            holding[connection] = held
            if not connection.is_zenoh:
                undecided[connection] = None
        while self.held_bytes > self._held_bytes_max and holding:
            self._give_up(next(iter(holding)))
        while len(undecided) > self._undecided_max:
            self._give_up(next(iter(undecided)))

    def _give_up(self, connection: Connection) -> None:
        self.held_bytes -= self._holding.pop(connection)
        self._undecided.pop(connection, None)
        connection.give_up()

    def _is_quiet(self, event: StreamEvent) -> bool:
        """Whether the connection has no bytes yet, so that it needs no `Connection`."""
        flow = event.flow
        if isinstance(event, StreamOpened):
            self._quiet[flow] = self._quiet.get(flow, 0) | _mark(event.direction, event.seen_syn)
            return True
        if isinstance(event, StreamClosed) and self._quiet.get(flow) in _ONE_IS_OPEN:
            # The only direction had no bytes: there is nothing to report.
            del self._quiet[flow]
            return True
        return False

    def _open(self, flow: Flow) -> Connection:
        connection = self._by_flow[flow] = Connection(flow, self._out)
        marks = self._quiet.pop(flow, 0)
        for direction in (0, 1):
            if marks & _mark(direction, False):
                seen_syn = marks & _mark(direction, True) == _mark(direction, True)
                connection.opened(direction, seen_syn)
        if self._ports:
            if self._ports.intersection((port_of(flow.source), port_of(flow.destination))):
                connection.is_zenoh = True
            else:
                connection.reject("not_zenoh", "not on the requested ports")
        return connection
