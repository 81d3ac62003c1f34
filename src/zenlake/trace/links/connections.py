"""Connections: all TCP connections of a capture, from stream events to what their links carried."""

from __future__ import annotations

from collections import OrderedDict

from zenlake.capture.stream_events import (
    Flow,
    StreamBytes,
    StreamClosed,
    StreamEvent,
    StreamGap,
    StreamOpened,
)
from zenlake.limits import TRACE_HELD_BYTES_MAX
from zenlake.trace.link import LinkClosed, LinkEnd
from zenlake.trace.links.connection import Connection, LinkItem
from zenlake.trace.links.datagrams import port_of


class Connections:
    """Feed it stream events; what they mean is appended to the list given."""

    __slots__ = ("_by_flow", "_fed", "_held_bytes_max", "_holding", "_out", "_ports", "held_bytes")

    def __init__(
        self,
        out: list[LinkItem],
        ports: frozenset[int],
        held_bytes_max: int = TRACE_HELD_BYTES_MAX,
    ) -> None:
        self._out = out
        self._ports = ports
        self._held_bytes_max = held_bytes_max
        self._by_flow: dict[Flow, Connection] = {}
        self._holding: OrderedDict[Connection, int] = OrderedDict()
        """Connections that keep bytes until more come, the oldest first."""
        self.held_bytes = 0
        self._fed: list[Connection] = []
        """Since the last release."""

    def feed(self, event: StreamEvent, packet: int, time_ns: int) -> None:
        """`packet` is the one that made the event known."""
        flow, direction = event.flow, event.direction
        connection = self._by_flow.get(flow)
        if connection is None:
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
            connection.end(direction)
            self._fed.append(connection)
            link = connection.link
            link.ended_ns = link.ended_ns or time_ns
            if link.end is None and event.cause in ("fin", "rst"):
                sender = direction if event.cause == "fin" else flow.reset_by
                link.end = LinkEnd(event.cause, sender, packet, time_ns)
            if connection.closed(direction):
                del self._by_flow[flow]
                connection.is_patient = False
                connection.release()
                if connection.is_zenoh:
                    self._out.append(LinkClosed(connection.link, packet, time_ns, event.cause))

    def release(self) -> None:
        """All events of a packet were fed: hand on what was found."""
        for connection in self._fed:
            connection.release()
            held = connection.held_bytes()
            if held or connection in self._holding:
                self._account(connection, held)
        self._fed.clear()

    def _account(self, connection: Connection, held: int) -> None:
        """Bound what is kept in all connections; the oldest has to make room."""
        holding = self._holding
        self.held_bytes += held - holding.pop(connection, 0)
        if held:
            holding[connection] = held
        while self.held_bytes > self._held_bytes_max and holding:
            oldest, oldest_held = holding.popitem(last=False)
            self.held_bytes -= oldest_held
            oldest.give_up()

    def _open(self, flow: Flow) -> Connection:
        connection = self._by_flow[flow] = Connection(flow, self._out)
        if self._ports:
            if self._ports.intersection((port_of(flow.source), port_of(flow.destination))):
                connection.assume_zenoh()
            else:
                connection.turn_off("not_zenoh", "not on the ports asked for")
        return connection
