"""EventReader: reads events from segments and datagrams, without a file."""

from __future__ import annotations

from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader, UdpDatagram
from zenlake.trace import MessageSeen, Session, TraceEvent, Undecoded
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.links.connections import Connections
from zenlake.trace.links.datagrams import Datagrams
from zenlake.trace.walker import Walker


class EventReader:
    """Processes segments as `zenlake.trace.Trace` processes the packets of a file."""

    def __init__(self) -> None:
        self.skipped = Skipped()
        self.events: list[TraceEvent] = []
        self._items: list[LinkItem] = []
        self._transport = TransportReader(self.skipped)
        self._streams = TcpStreams(self.skipped)
        self.connections = Connections(self._items, frozenset())
        self.datagrams = Datagrams(self._items, self.skipped, frozenset())
        self._walker = Walker(self.events)
        self._last = (0, 0)

    @property
    def sessions(self) -> list[Session]:
        return self._walker.sessions.found

    @property
    def messages(self) -> list[MessageSeen]:
        return [event for event in self.events if isinstance(event, MessageSeen)]

    @property
    def undecoded_bytes(self) -> int:
        return sum(event.bytes for event in self.events if isinstance(event, Undecoded))

    def packet(self, packet: Packet) -> None:
        content = self._transport.read(packet)
        if content is not None:
            self.feed(content)

    def feed(self, content: Segment | UdpDatagram) -> None:
        number, time_ns = self._last = content.number, content.time_ns
        if isinstance(content, Segment):
            for event in self._streams.feed(content):
                self.connections.feed(event, number, time_ns)
            self.connections.release()
        else:
            self.datagrams.feed(content)
        self._walk()

    def finish(self) -> None:
        self._transport.finish()
        for event in self._streams.finish():
            self.connections.feed(event, *self._last)
        self.connections.release()
        self.datagrams.finish()
        self._walk()

    def _walk(self) -> None:
        for item in self._items:
            self._walker.feed(item)
        self._items.clear()
