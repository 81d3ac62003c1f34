"""Trace: a capture as a sequence of events; the entry point for programs.

for event in zenlake.trace.open("robot.pcapng"):
    print(event)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from zenlake.capture.files import HARMLESS, packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.segment_reader import REMOVED
from zenlake.capture.tcp_streams import TcpStreams
from zenlake.capture.transport import Segment, TransportReader
from zenlake.trace.events import MessageSeen, TraceEvent, Undecoded
from zenlake.trace.link import LinkBatch
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.links.connections import Connections
from zenlake.trace.links.datagrams import Datagrams
from zenlake.trace.session import Session
from zenlake.trace.walker import Walker

Steps = Iterator[tuple[LinkItem, list[TraceEvent]]]
"""Items of links, each with its events."""

_RECORD_BYTES: Final = 24
"""Approximate size of the headers that a file has for each packet."""


class Trace:
    """The events of a capture, in the order in which they were completed. Iterate over it once.

    Meanwhile and afterwards, `sessions`, `undecoded` and `skipped` summarise what was found and
    what could not be read.
    """

    def __init__(
        self, paths: Iterable[str], ports: Iterable[int] = (), end: tuple[int, int] | None = None
    ) -> None:
        self._events: list[TraceEvent] = []
        self._walker = Walker(self._events)
        self.skipped = Skipped()
        """Data skipped below Zenoh, by reason, including damage of the file."""
        self._damage = Skipped()
        self._is_redacted = False
        self.undecoded: dict[str, int] = {}
        """Bytes by state: `truncated`, `gap`, `encrypted`, `not_zenoh`, `malformed`."""
        self.packets = 0
        """The number of packets, without the state at the start of a recording."""
        self._number = 0
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self.bytes_read = 0
        """Approximate bytes of the files read so far, for progress displays."""
        self._packets = packets(paths, self._damage)
        self._end = end
        """Number and time of the last packet of the capture, if this trace reads only a part."""
        chosen = frozenset(ports)
        self._items: list[LinkItem] = []
        """Items of links that the walker has not seen yet."""
        self._transport = TransportReader(self.skipped)
        self._streams = TcpStreams(self.skipped)
        self._connections = Connections(self._items, chosen)
        self._datagrams = Datagrams(self._items, self.skipped, chosen)

    @property
    def sessions(self) -> list[Session]:
        return self._walker.sessions.found

    @property
    def forgotten_sessions(self) -> int:
        """How many sessions were removed from `sessions` at its limit."""
        return self._walker.sessions.forgotten

    @property
    def session_count(self) -> int:
        """The number of all sessions, attempts and multicast groups."""
        return self._walker.sessions.found_count + self.forgotten_sessions

    def remembers(self, session: Session) -> bool:
        """Whether the session is in `sessions`."""
        return self._walker.sessions.remembers(session)

    @property
    def is_damaged(self) -> bool:
        """Whether a file could not be read in full."""
        return not self._damage.counts.keys() <= HARMLESS

    def is_redacted(self) -> bool:
        """Whether the packets so far are those of a recording from which rules removed messages."""
        known = self._is_redacted or REMOVED in self._damage.counts
        return known or REMOVED in self.skipped.counts

    def __iter__(self) -> Iterator[TraceEvent]:
        for events in self.chunks():
            yield from events

    def chunks(self) -> Iterator[list[TraceEvent]]:
        """The events as lists, one for each packet: faster than one event at a time."""
        for items in self._read_all():
            yield self._walk(items)

    def batches(self) -> Iterator[LinkBatch]:
        """The batches instead of their events, without the state of a recording."""
        for items in self._read_all():
            # The walker runs too: after a loss, its sequence numbers decide what is plausible.
            self._walk(items)
            for item in items:
                if isinstance(item, LinkBatch) and item.packet > 0:
                    yield item

    def steps(self) -> Steps:
        """Every item of the links, with its events."""
        for items in self._read_all():
            for item in items:
                yield item, self._walk([item])

    def feed(self, packet: Packet) -> Steps:
        """The steps that the next packet completes, if the caller reads packets (`from_packets`).

        Consume all of them before the next packet, which changes the state that events refer to.
        """
        return self._walk_each(self._read(packet))

    def finish(self) -> Steps:
        """The steps that the end of the capture completes; call it after the last packet."""
        return self._walk_each(self._read_end())

    def _read_all(self) -> Iterator[list[LinkItem]]:
        """Items of links, one list for each packet that completes any."""
        for packet in self._packets:
            items = self._read(packet)
            if items:
                yield items
        yield self._read_end()

    def _read(self, packet: Packet) -> list[LinkItem]:
        number, time_ns = packet.number, packet.time_ns
        self._number = number
        if number > 0:
            if self.first_ns is None:
                self.first_ns = time_ns
            self.packets += 1
            self.last_ns = time_ns
        self.bytes_read += len(packet.data) + _RECORD_BYTES
        content = self._transport.read(packet)
        if isinstance(content, Segment):
            for event in self._streams.feed(content):
                self._connections.feed(event, number, time_ns)
            self._connections.release()
        elif content is not None:
            self._datagrams.feed(content)
        return self._pop_items()

    def _read_end(self) -> list[LinkItem]:
        for reason, count in self._damage.counts.items():
            self.skipped.add(reason, self._damage.bytes[reason], count)
        number, time_ns = (self._number, self.last_ns or 0) if self._end is None else self._end
        self._transport.finish()
        for event in self._streams.finish():
            self._connections.feed(event, number, time_ns)
        self._connections.release()
        self._datagrams.finish()
        return self._pop_items()

    def _pop_items(self) -> list[LinkItem]:
        items = self._items[:]
        self._items.clear()
        return items

    def _walk_each(self, items: list[LinkItem]) -> Steps:
        for item in items:
            yield item, self._walk([item])

    def _walk(self, items: list[LinkItem]) -> list[TraceEvent]:
        for item in items:
            self._walker.feed(item)
        events = self._events[:]
        self._events.clear()
        for event in events:
            if isinstance(event, Undecoded):
                state = event.state
                self.undecoded[state] = self.undecoded.get(state, 0) + event.bytes
        return events

    def close(self) -> None:
        self._packets.close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def count_kinds(events: list[TraceEvent], counts: dict[str, int]) -> None:
    """Adds the number of messages in these events to `counts`, by kind."""
    for event in events:
        if isinstance(event, MessageSeen) and event.packet > 0:
            kind = event.kind
            counts[kind] = counts.get(kind, 0) + 1


def from_packets(
    end: tuple[int, int] | None = None, damage: Skipped | None = None, is_redacted: bool = False
) -> Trace:
    """The trace of packets that the caller reads and selects: call `feed` for each, then `finish`.

    Packets keep their numbers; `end` is the number and time of the last packet of the capture, if
    that is not the last one that is fed. `damage` has what the caller could not read; `is_redacted`
    is whether rules removed messages.
    """
    found = Trace((), (), end)
    if damage is not None:
        found._damage = damage
    found._is_redacted = is_redacted
    return found


def open(paths: str | Iterable[str], ports: Iterable[int] = ()) -> Trace:
    """The events of one capture: a file, several files, or the folder of a recording.

    The path `-` is standard input. The first events of a recording may be its state (`is_state`).

    With `ports`, traffic on these ports is assumed to be Zenoh, and all other traffic is left out.
    """
    return Trace([paths] if isinstance(paths, str) else paths, ports)
