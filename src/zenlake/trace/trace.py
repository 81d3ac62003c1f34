"""Trace: a capture as a row of events. The way in for programs.

for event in zenlake.trace.open("robot.pcapng"):
    print(event)
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from types import TracebackType
from typing import Final

from zenlake.capture.files import HARMLESS, packets
from zenlake.capture.packet import Packet, Skipped
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
"""What links carried, each with its events."""

_RECORD_BYTES: Final = 24
"""What a file has around a packet, more or less."""


class Trace:
    """What a capture shows, in the order it was completed. Iterate over it once.

    While and after that, `sessions`, `undecoded` and `skipped` say what was found and what was
    not understood.
    """

    def __init__(
        self,
        paths: Iterable[str],
        ports: Iterable[int] = (),
        chosen: Generator[Packet, None, None] | None = None,
        end: tuple[int, int] | None = None,
    ) -> None:
        self._ports = frozenset(ports)
        self._events: list[TraceEvent] = []
        self._walker = Walker(self._events)
        self.skipped = Skipped()
        """What lies below Zenoh and was passed over, by reason; damage of the file too."""
        self._damage = Skipped()
        self.undecoded: dict[str, int] = {}
        """Bytes by state: `truncated`, `gap`, `encrypted`, `not_zenoh`, `malformed`."""
        self.packets = 0
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self.bytes_read = 0
        """About how much of the files, for those who wait."""
        self._packets = packets(paths, self._damage) if chosen is None else chosen
        self._end = end
        """Number and time of the last packet, where that is not the last one chosen."""

    @property
    def sessions(self) -> list[Session]:
        return self._walker.sessions.found

    @property
    def forgotten_sessions(self) -> int:
        """Sessions that had to make room in that list, which is bounded."""
        return self._walker.sessions.forgotten

    @property
    def session_count(self) -> int:
        """Of all sessions, attempts and multicast groups that there were."""
        return len(self.sessions) + self.forgotten_sessions

    @property
    def is_damaged(self) -> bool:
        """Whether a file itself could not be read in full."""
        return not self._damage.counts.keys() <= HARMLESS

    def __iter__(self) -> Iterator[TraceEvent]:
        for events in self.chunks():
            yield from events

    def chunks(self) -> Iterator[list[TraceEvent]]:
        """The same, all events of a packet at a time: faster where there are many."""
        for items in self._items():
            yield self._walk(items)

    def batches(self) -> Iterator[LinkBatch]:
        """Instead of events, the batches they are read from."""
        for items in self._items():
            found = [item for item in items if isinstance(item, LinkBatch)]
            # Sessions are followed all the same: after a loss, they say what is plausible.
            self._walk(items)
            yield from found

    def steps(self) -> Steps:
        """Everything that links carried, one by one, with the events it gave."""
        for items in self._items():
            for item in items[:]:
                yield item, self._walk([item])
            items.clear()

    def _items(self) -> Iterator[list[LinkItem]]:
        """What links carried; whoever takes the list empties it."""
        items: list[LinkItem] = []
        transport = TransportReader(self.skipped)
        streams = TcpStreams(self.skipped)
        connections = Connections(items, self._ports)
        datagrams = Datagrams(items, self.skipped, self._ports)
        number, time_ns = 0, 0
        for packet in self._packets:
            number, time_ns = packet.number, packet.time_ns
            if self.first_ns is None:
                self.first_ns = time_ns
            self.packets, self.last_ns = number, time_ns
            self.bytes_read += len(packet.data) + _RECORD_BYTES
            content = transport.read(packet)
            if content is None:
                continue
            if isinstance(content, Segment):
                for event in streams.feed(content):
                    connections.feed(event, number, time_ns)
                connections.release()
            else:
                datagrams.feed(content)
            if items:
                yield items
        for reason, count in self._damage.counts.items():
            self.skipped.add(reason, self._damage.bytes[reason], count)
        if self._end is not None:
            number, time_ns = self._end
        transport.end()
        for event in streams.end():
            connections.feed(event, number, time_ns)
        connections.release()
        datagrams.end()
        yield items

    def _walk(self, items: list[LinkItem]) -> list[TraceEvent]:
        for item in items:
            self._walker.feed(item)
        items.clear()
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def count_kinds(events: list[TraceEvent], counts: dict[str, int]) -> None:
    """Add the messages among these events, by kind."""
    for event in events:
        if isinstance(event, MessageSeen):
            kind = event.kind
            counts[kind] = counts.get(kind, 0) + 1


def of_packets(chosen: Generator[Packet, None, None], end: tuple[int, int]) -> Trace:
    """The events of packets that someone else read and chose, of a capture with this end.

    They keep their numbers; `end` is the number of the last packet and its time.
    """
    return Trace((), (), chosen, end)


def open(paths: str | Iterable[str], ports: Iterable[int] = ()) -> Trace:
    """The events of one capture, which may lie in several files; `-` is standard input.

    With `ports`, what uses one of them is taken for Zenoh and all else is left out.
    """
    return Trace([paths] if isinstance(paths, str) else paths, ports)
