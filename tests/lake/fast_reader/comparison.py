"""Comparison: asserts that both readers agree about a capture."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from zenlake.capture.files import packets
from zenlake.capture.packet import Packet, Skipped
from zenlake.capture.transport import Segment, TransportReader
from zenlake.lake.fast_reader import Survey, read
from zenlake.lake.fast_reader.assemble.capture_pass import CHUNK_BYTES
from zenlake.trace import MessageSeen, Missing, SessionChanged, Undecoded
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.trace import Trace

packet_fields = attrgetter("number", "time_ns", "link_type", "data", "original_bytes", "interface")
Batch = tuple[int, int, int, bytes]
"""Direction, packet, time, content."""


@dataclass
class ScalarLink:
    """The result of the exact reader for one link."""

    link: Link | None = None
    batches: list[Batch] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    closed: tuple[str, int, int] | None = None
    messages: int = 0


class ExactReading:
    """A trace of a whole capture, by link."""

    def __init__(self, path: str) -> None:
        self.links: dict[str, ScalarLink] = defaultdict(ScalarLink)
        self.order: list[tuple[str, int, int]] = []
        """Batches of TCP in the order in which they were completed."""
        self.trace = Trace([path])
        for items in self.trace._read_all():
            for item in items:
                name = item.link.name
                self.links[name].link = item.link
                if isinstance(item, LinkBatch):
                    batch = (item.direction, item.packet, item.time_ns, item.data)
                    self.links[name].batches.append(batch)
                    self.order.append((name, item.direction, item.packet))
                elif isinstance(item, LinkClosed):
                    self.links[name].closed = (item.cause, item.packet, item.time_ns)
            for event in self.trace._walk(items):
                self._take(event)

    def _take(self, event: object) -> None:
        if isinstance(event, (Missing, Undecoded)):
            self.links[event.link.name].remarks.append(repr(event))
        elif isinstance(event, MessageSeen):
            found = self.links[event.link.name]
            found.messages += 1
            if event.ignored is not None:
                found.remarks.append(f"{event.kind}: {event.ignored}")
        elif isinstance(event, SessionChanged) and event.link.name != event.session.id:
            # Another link may change it.
            self.links[event.session.id].remarks.append(repr(event))

    @property
    def tcp_messages(self) -> int:
        return sum(
            one.messages for one in self.links.values() if one.link and one.link.protocol == "tcp"
        )


def compare(path: str, found: Survey, chunk_bytes: int = CHUNK_BYTES) -> int:
    """Asserts that both readers agree; returns the number of messages on regular pairs."""
    exact = ExactReading(path)
    trace = exact.trace
    assert found.packets == trace.packets
    assert (found.first_ns, found.last_ns) == (trace.first_ns or 0, trace.last_ns or 0)
    assert (found.cut_bytes > 0) == trace.is_damaged
    batches: dict[int, list[Batch]] = defaultdict(list)
    order: list[tuple[str, int, int]] = []
    forwarded: list[Packet] = []
    wanted = np.ones(len(found), np.bool_)
    for chunk in read(path, found, wanted, with_other=True, chunk_bytes=chunk_bytes):
        forwarded += chunk.packets
        units = chunk.units
        for index, pair in enumerate(units.pair.tolist()):
            direction, packet = int(units.direction[index]), int(units.packet[index])
            time_ns = int(units.time_ns[index])
            batches[pair].append((direction, packet, time_ns, units.content(index)))
            order.append((found.link_name(pair), direction, packet))
    messages = 0
    regular = set(np.flatnonzero(found.regular).tolist())
    assert set(batches) == regular
    for pair in regular:
        messages += _compare_link(exact.links[found.link_name(pair)], found, pair, batches[pair])
    names = {found.link_name(pair) for pair in regular}
    assert order == [one for one in exact.order if one[0] in names]
    _compare_packets(path, found, forwarded, regular)
    return messages


def _compare_link(scalar: ScalarLink, found: Survey, pair: int, batches: list[Batch]) -> int:
    link = scalar.link
    assert link is not None, found.link_name(pair)
    assert batches == scalar.batches
    assert not scalar.remarks
    assert found.ends(pair) == link.ends
    assert link.protocol == "tcp"
    assert link.opener == 0
    assert scalar.closed == (
        found.cause_word(pair),
        int(found.closed_packet[pair]),
        int(found.closed_ns[pair]),
    )
    assert link.ended_ns == int(found.ended_ns[pair])
    session = link.session
    assert session is not None
    assert session.links == [link]
    assert tuple(node.zid for node in session.nodes) == tuple(found.zids[pair].tolist())
    return scalar.messages


def _compare_packets(path: str, found: Survey, forwarded: list[Packet], regular: set[int]) -> None:
    """Asserts that the fast reader forwards all packets except those of regular pairs."""
    transport = TransportReader()
    texts = {"-".join(found.ends(pair)): pair for pair in range(len(found))}
    texts |= {"-".join(found.ends(pair)[::-1]): pair for pair in range(len(found))}
    expected, others = [], 0
    counts = np.zeros((len(found), 2), np.int64)
    for packet in packets([path], Skipped()):
        content = transport.read(packet)
        if not isinstance(content, Segment):
            expected.append(packet_fields(packet))
            others += 1
            continue
        pair = texts[content.ends.text]
        counts[pair] += 1, len(packet.data)
        if pair not in regular:
            expected.append(packet_fields(packet))
    assert [packet_fields(packet) for packet in forwarded] == expected
    assert others == found.others
    assert counts[:, 0].tolist() == found.pair_packets.tolist()
    assert counts[:, 1].tolist() == found.pair_bytes.tolist()
