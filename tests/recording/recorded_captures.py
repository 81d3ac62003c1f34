"""Bundled captures as a recorder would have written them: the packets of their links."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from zenlake import trace
from zenlake.capture.packet import Packet
from zenlake.capture.segment_format import FIRST, LINK_TYPE_RAW_IP, PLAIN
from zenlake.recording.link_packets import LinkPackets, first_seq
from zenlake.recording.packet_headers import End, as_one_family, end_of_locator
from zenlake.recording.redaction import LinkRedactor, Redactor
from zenlake.recording.redaction_rules import RedactionRules
from zenlake.recording.state_tracker import StatePacket, StateTracker
from zenlake.trace import TraceEvent
from zenlake.trace.link import LinkBatch, LinkClosed
from zenlake.trace.links.units import LOW_LATENCY
from zenlake.trace.trace import from_packets
from zenlake.wire import Frame, Message, Push


def is_plain(messages: Sequence[Message]) -> bool:
    """Whether a batch or low-latency unit has nothing but publications."""
    if not messages:
        return False
    if len(messages) == 1 and isinstance(messages[0], Frame):
        messages = messages[0].messages
    return all(isinstance(message, Push) for message in messages)


def ends_of(source: str, destination: str) -> tuple[End, End]:
    return as_one_family(end_of_locator(f"tcp/{source}"), end_of_locator(f"tcp/{destination}"))


@cache
def recorded(
    path: Path, protocol: str = "", rules: RedactionRules | None = None
) -> tuple[StatePacket, ...]:
    """The packets of links that begin in a capture: of all links, or of one protocol.

    A stream of which the capture lacks bytes has a gap, as where a recorder dropped them.
    """
    found: list[StatePacket] = []
    links: dict[str, _Link] = {}
    lossy: set[str] = set()
    redactor = None if rules is None else Redactor(rules)
    now = 0
    with trace.open(str(path)) as capture:
        for item, _ in capture.steps():
            if isinstance(item, (LinkBatch, LinkClosed)):
                now = max(now, item.time_ns)
            if isinstance(item, LinkClosed):
                closed = links.pop(item.link.name, None)
                if closed is not None and item.cause != "end":
                    found += [StatePacket(now, 0, one) for one in closed.packets.closing()]
                continue
            if not isinstance(item, LinkBatch) or item.link.protocol == "scouting":
                continue
            link = item.link
            if protocol not in ("", link.protocol):
                continue
            is_stream = link.protocol in ("tcp", "ws")
            known = links.get(link.name)
            if item.state == "gap" and is_stream and known is not None:
                known.lose(item.direction, len(item.data) + item.lost_bytes)
                continue
            if link.session is None or item.state != "ok" or link.name in lossy:
                lossy.add(link.name)  # a recorder would have all bytes of this link
                continue
            if not link.session.seen_start or (is_stream and not link.seen_start):
                continue
            if known is None:
                seq = first_seq(now)
                packets = LinkPackets(ends_of(*link.ends), is_stream, [seq, seq])
                known = links[link.name] = _Link(
                    packets, None if redactor is None else redactor.link()
                )
                found += [StatePacket(now, 0, one) for one in packets.opening()]
            flags = PLAIN if is_plain(item.messages) else 0
            changed = known.filtered(item.direction, item.data, flags)
            if changed is None or (item.data and not changed[0]):
                continue
            data, flags = changed
            if is_stream:
                data = len(data).to_bytes(4 if item.form == LOW_LATENCY else 2, "little") + data
            for number, one in enumerate(known.packets.data(item.direction, data)):
                found.append(StatePacket(now, flags if number else flags | FIRST, one))
    return tuple(found)


class _Link(NamedTuple):
    """A link of a recorder, with the redaction rules for it."""

    packets: LinkPackets
    filter: LinkRedactor | None

    def lose(self, direction: int, size: int) -> None:
        self.packets.skip(direction, size)
        if self.filter is not None:
            self.filter.lost(direction, is_plain=False)

    def filtered(self, direction: int, data: bytes, flags: int) -> tuple[bytes, int] | None:
        return (data, flags) if self.filter is None else self.filter.batch(direction, data, flags)


def events_of(
    state: list[StatePacket], packets: tuple[StatePacket, ...], start: int
) -> list[TraceEvent]:
    """The events of a reader that begins with a state before packet number `start`."""
    last = packets[-1].time_ns if packets else 0
    reader = from_packets((len(packets), last))
    events: list[TraceEvent] = []
    numbered = [(1 + number - len(state), one) for number, one in enumerate(state)]
    numbered = [(min(0, number), one) for number, one in numbered]
    numbered += list(enumerate(packets, 1))[start - 1 :]
    for number, one in numbered:
        packet = Packet(number, one.time_ns, LINK_TYPE_RAW_IP, one.data, len(one.data))
        for _, found in reader.feed(packet):
            events += found
    for _, found in reader.finish():
        events += found
    return events


def tracker_after(packets: tuple[StatePacket, ...] | list[StatePacket]) -> StateTracker:
    tracker = StateTracker()
    for one in packets:
        tracker.feed_packet(one.time_ns, one.data, one.flags)
    return tracker
