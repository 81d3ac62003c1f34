"""TcpStreams: from captured TCP segments to the bytes of each direction of each connection.

A capture may begin in the middle of a connection, lack packets that the receiver got, or have
them twice or out of order, and nothing can be retransmitted to it. Bytes are delivered in order;
bytes behind a hole are held until it is filled or given up, and then a `StreamGap` reports how
many are missing.

A hole is given up when too many bytes are held behind it, when it stays open for a while after
the receiver acknowledged it, and at the end of the capture.

A port scan or a flood is very many connections of one segment. Such connections evict only each
other, so that they use little memory and evict no connection in use.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from zenlake.capture.packet import Skipped
from zenlake.capture.stream_events import Flow, StreamBytes, StreamEvent
from zenlake.capture.tcp_direction import Direction, Holes
from zenlake.capture.tcp_hole import MASK, UNKNOWN, distance
from zenlake.capture.transport import ACK, RST, SYN, Segment
from zenlake.limits import (
    TCP_FLOWS_MAX,
    TCP_HELD_BYTES_MAX,
    TCP_HOLE_BYTES_MAX,
    TCP_NEW_FLOWS_MAX,
)


class TcpStreams:
    """Feed it segments in the order of the capture, then call `finish`."""

    __slots__ = (
        "_directions",
        "_flows_max",
        "_forgotten",
        "_held_bytes_max",
        "_holes",
        "_last",
        "_new",
        "_new_max",
        "_no_peer",
        "_recent",
        "skipped",
    )

    def __init__(
        self,
        skipped: Skipped | None = None,
        flows_max: int = TCP_FLOWS_MAX,
        held_bytes_max: int = TCP_HELD_BYTES_MAX,
        new_flows_max: int = TCP_NEW_FLOWS_MAX,
    ) -> None:
        self._flows_max = flows_max
        self._new_max = min(new_flows_max, flows_max)
        self._held_bytes_max = held_bytes_max
        self.skipped = skipped if skipped is not None else Skipped()
        self._directions: dict[str, Direction] = {}
        self._recent: OrderedDict[Flow, Direction] = OrderedDict()
        """The first direction of each flow, the least recently used flow first."""
        self._new: OrderedDict[Flow, Direction] = OrderedDict()
        """The directions of flows with one segment so far; all other flows are in `_recent`."""
        self._last: Flow | None = None
        self._forgotten: OrderedDict[str, int] = OrderedDict()
        """The last connection number of address pairs that were evicted."""
        self._holes = Holes(self.skipped)
        self._no_peer = Direction(Flow("", "", 0, "", ""), 0, self._holes)
        """Placeholder peer of closed directions: it breaks the reference cycle of the two."""

    def feed(self, segment: Segment) -> tuple[StreamEvent, ...]:
        """The events of a segment: of its own connection, and of those evicted by it."""
        direction = self._directions.get(segment.ends.text)
        if (
            direction is not None
            and direction.next_seq == segment.seq
            and segment.flags & 0x17 == ACK
            and not segment.missing
            and not direction.flow.is_new
            and direction.hole is None
            and direction.peer.hole is None
        ):
            flow = direction.flow
            if flow is not self._last:
                self._recent.move_to_end(flow)
                self._last = flow
            peer = direction.peer
            peer.acked = segment.ack
            if segment.ack != peer.next_seq:
                peer.note_ack(segment.ack)
            payload = segment.payload
            if not payload:
                return ()
            direction.next_seq = (segment.seq + len(payload)) & MASK
            return (StreamBytes(flow, direction.index, payload, segment.number, segment.time_ns),)
        events: list[StreamEvent] = []
        self._feed(segment, direction, events)
        return tuple(events)

    def finish(self) -> Iterator[StreamEvent]:
        """The capture ends: delivers held bytes and closes all directions."""
        for flows in (self._new, self._recent):
            while flows:
                flow, first = flows.popitem(last=False)
                events: list[StreamEvent] = []
                self._forget(flow, first, "end", events)
                yield from events
        self._last = None

    def _feed(
        self, segment: Segment, direction: Direction | None, events: list[StreamEvent]
    ) -> None:
        flags, seq = segment.flags, segment.seq
        if flags & SYN:
            seq = (seq + 1) & MASK
            direction = self._opened_by_syn(segment, direction, seq, events)
        elif direction is None:
            if flags & RST:
                return
            direction = self._open(segment, False, False, events)
        self._mark_used(direction.flow, segment.number)
        if flags & ACK:
            direction.peer.acked = segment.ack
            direction.peer.note_ack(segment.ack)
        if flags & RST:
            self._reset(direction, segment, events)
            return
        if direction.end_seq != UNKNOWN:
            self._after_close(direction, segment, seq, events)
        else:
            if direction.next_seq == UNKNOWN:
                direction.start(seq, False, events)
            direction.feed(segment, seq, events)
        if direction.hole is not None:
            direction.give_up_if_late(segment.time_ns, events)
        if direction.peer.hole is not None:
            direction.peer.give_up_if_late(segment.time_ns, events)
        while self._holes.held_bytes > self._held_bytes_max:
            next(iter(self._holes.open)).give_up(events)

    def _mark_used(self, flow: Flow, number: int) -> None:
        """Marks a flow as most recently used; with its second segment it is no longer new."""
        self._last = flow
        if not flow.is_new:
            self._recent.move_to_end(flow)
        elif flow.first_packet != number:
            flow.is_new = False
            self._recent[flow] = self._new.pop(flow)

    def _opened_by_syn(
        self,
        segment: Segment,
        direction: Direction | None,
        seq: int,
        events: list[StreamEvent],
    ) -> Direction:
        """The direction of a SYN: of a new connection, unless it repeats the SYN of this one."""
        is_answer = bool(segment.flags & ACK)
        if direction is not None:
            peer = direction.peer
            if direction.start_seq != UNKNOWN:
                is_new = direction.start_seq != seq
            else:
                closed = peer.end_seq != UNKNOWN
                started_before = peer.start_seq != UNKNOWN and not peer.seen_syn
                is_new = closed or (started_before and not is_answer)
            if is_new:
                self._close_both(direction, "reused", events)
                direction = None
        if direction is None:
            direction = self._open(segment, True, is_answer, events)
        if direction.start_seq == UNKNOWN:
            direction.start(seq, True, events)
        return direction

    def _open(
        self, segment: Segment, seen_syn: bool, is_answer: bool, events: list[StreamEvent]
    ) -> Direction:
        """Adds a connection; it replaces one between the same addresses if there is one.

        The first side is the one that sent the SYN, or whose segment came first.
        """
        ends = segment.ends
        old = self._directions.get(ends.text)
        reverse = f"{ends.destination}-{ends.source}"
        if old is not None:
            number = old.flow.number + 1
            del (self._new if old.flow.is_new else self._recent)[old.flow]
        else:
            number = self._forgotten.pop(min(ends.text, reverse), 0 if seen_syn else -1) + 1
        while len(self._new) >= self._new_max:
            self._forget_oldest(self._new, events)
        while len(self._new) + len(self._recent) >= self._flows_max:
            self._forget_oldest(self._recent or self._new, events)
        if is_answer:
            flow = Flow(ends.destination, ends.source, number, reverse, ends.text)
        else:
            flow = Flow(ends.source, ends.destination, number, ends.text, reverse)
        flow.first_packet = segment.number
        first, second = Direction(flow, 0, self._holes), Direction(flow, 1, self._holes)
        first.peer, second.peer = second, first
        self._directions[flow.text] = first
        self._directions[flow.reverse_text] = second
        self._new[flow] = first
        return second if is_answer else first

    def _after_close(
        self, direction: Direction, segment: Segment, seq: int, events: list[StreamEvent]
    ) -> None:
        """Handles late copies after the end, or a next connection whose SYN was not captured."""
        size = len(segment.payload)
        far = abs(distance(seq, direction.end_seq)) > TCP_HOLE_BYTES_MAX
        if size and far and direction.peer.next_seq == UNKNOWN:
            direction = self._open(segment, False, False, events)
            direction.start(seq, False, events)
            direction.feed(segment, seq, events)
        elif size:
            self.skipped.add("TCP bytes after the end", size)

    def _reset(self, direction: Direction, segment: Segment, events: list[StreamEvent]) -> None:
        next_seq = direction.next_seq
        if next_seq != UNKNOWN and abs(distance(segment.seq, next_seq)) > TCP_HOLE_BYTES_MAX:
            self.skipped.add("TCP reset out of place", len(segment.payload))
            return
        direction.flow.reset_by = direction.index
        self._close_both(direction, "rst", events)

    def _forget(self, flow: Flow, first: Direction, cause: str, events: list[StreamEvent]) -> None:
        self._close_both(first, cause, events)
        # A connection of a port with itself has the same name in both directions.
        self._directions.pop(flow.text, None)
        self._directions.pop(flow.reverse_text, None)
        first.peer.peer = first.peer = self._no_peer

    def _forget_oldest(
        self, flows: OrderedDict[Flow, Direction], events: list[StreamEvent]
    ) -> None:
        flow, first = flows.popitem(last=False)
        self._forget(flow, first, "idle", events)
        self._forgotten[min(flow.text, flow.reverse_text)] = flow.number
        if len(self._forgotten) > self._flows_max:
            self._forgotten.popitem(last=False)

    def _close_both(self, direction: Direction, cause: str, events: list[StreamEvent]) -> None:
        first, second = direction, direction.peer
        if first.index:
            first, second = second, first
        first.close(cause, events)
        second.close(cause, events)
