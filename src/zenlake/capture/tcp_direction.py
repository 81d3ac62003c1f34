"""Direction: reassembles one direction of a TCP connection, with the holes in it.

Bytes are delivered in order. Bytes behind a hole are held until the hole is filled or given up;
a `StreamGap` then reports how many are missing. The first copy of a byte wins. A copy that
differs is detected only while the first one is held.
"""

from __future__ import annotations

from collections import OrderedDict

from zenlake.capture.byte_ranges import Piece
from zenlake.capture.packet import Skipped
from zenlake.capture.stream_events import (
    Flow,
    StreamBytes,
    StreamClosed,
    StreamEvent,
    StreamGap,
    StreamOpened,
)
from zenlake.capture.tcp_hole import MASK, UNKNOWN, Hole, distance
from zenlake.capture.transport import FIN, Segment
from zenlake.limits import TCP_HOLE_BYTES_MAX, TCP_HOLE_SECONDS_MAX, TCP_HOLE_SEGMENTS_MAX


class Holes:
    """The open holes of all connections, the oldest first, and how much is held behind them."""

    __slots__ = ("held_bytes", "open", "skipped")

    def __init__(self, skipped: Skipped) -> None:
        self.skipped = skipped
        # Not a dict: finding its first entry is slow after many deletions at the front.
        self.open: OrderedDict[Direction, Hole] = OrderedDict()
        self.held_bytes = 0


class Direction:
    """One direction of a connection. `next_seq` is UNKNOWN before it opens and after it closes."""

    __slots__ = (
        "acked",
        "end_seq",
        "flow",
        "hole",
        "holes",
        "index",
        "is_guessed",
        "next_seq",
        "peer",
        "seen_syn",
        "start_seq",
        "stray_seq",
        "strays",
    )

    peer: Direction

    def __init__(self, flow: Flow, index: int, holes: Holes) -> None:
        self.flow = flow
        self.index = index
        self.holes = holes
        self.hole: Hole | None = None
        self.next_seq = UNKNOWN
        self.start_seq = UNKNOWN
        self.end_seq = UNKNOWN
        """The sequence number after the last byte, once closed."""
        self.acked = UNKNOWN
        """The last acknowledgement number of the other side."""
        self.seen_syn = False
        self.is_guessed = False
        """Whether `start_seq` is only that of the first captured segment: bytes may precede it."""
        self.strays = 0
        self.stray_seq = UNKNOWN

    def start(self, seq: int, seen_syn: bool, events: list[StreamEvent]) -> None:
        """Opens the direction at `seq`.

        Without a SYN, the first acknowledgement is the true start if the other side's SYN was
        captured; in the middle of a connection the start is not known.
        """
        if not seen_syn:
            is_acked = self.peer.seen_syn and self.acked != UNKNOWN
            self.is_guessed = not is_acked
            if is_acked and distance(self.acked, seq) < 0:
                seq = self.acked
        self.start_seq = self.next_seq = seq
        self.seen_syn = seen_syn
        events.append(StreamOpened(self.flow, self.index, seen_syn))

    def note_ack(self, acked: int) -> None:
        """Marks the flow if the receiver acknowledged more than the capture has."""
        if self.next_seq == UNKNOWN:
            # The other side opened the connection; of this side not even the SYN was captured.
            is_more = self.end_seq == UNKNOWN and self.peer.seen_syn
        else:
            is_more = distance(acked, self.next_seq) > 0
        if is_more:
            self.flow.is_behind = True

    def close(self, cause: str, events: list[StreamEvent]) -> None:
        """Delivers held bytes, reports what the receiver acknowledged beyond them, and closes."""
        if self.next_seq == UNKNOWN:
            return
        while self.hole is not None:
            self.give_up(events)
        if self.next_seq == UNKNOWN:
            return
        if cause != "fin" and self.acked != UNKNOWN:
            beyond = distance(self.acked, self.next_seq)
            if beyond > 0:
                # 1 may be a FIN that was not captured: it uses a sequence number too.
                missing = beyond if beyond > 1 else None
                events.append(StreamGap(self.flow, self.index, missing, "missing"))
        self.end_seq = self.next_seq
        self.next_seq = UNKNOWN
        events.append(StreamClosed(self.flow, self.index, cause))

    def feed(self, segment: Segment, seq: int, events: list[StreamEvent]) -> None:
        """Processes the bytes and the FIN of a segment; `seq` is that of its first byte."""
        size = len(segment.payload) + segment.missing
        is_fin = bool(segment.flags & FIN)
        if not size and not is_fin:
            return
        ahead = distance(seq, self.next_seq)
        if self.is_guessed and size and (ahead == 1 or -TCP_HOLE_BYTES_MAX <= ahead < 0):
            if self.next_seq == self.start_seq and self.hole is None:
                # Only an acknowledgement was seen, or a keep-alive, which is one byte too low.
                self.start_seq = self.next_seq = seq
                ahead = 0
            self.is_guessed = False
        if ahead < 0:
            if ahead == -1 and size <= 1 and not is_fin:
                self.holes.skipped.add("TCP keep-alive", len(segment.payload))
                return
            if ahead < -TCP_HOLE_BYTES_MAX and self._restarts_at(segment, seq, events):
                ahead = 0
            if self.next_seq == UNKNOWN:
                self.holes.skipped.add("TCP bytes after the end", len(segment.payload))
                return
        hole = self.hole
        place = 0 if hole is None else hole.place
        start = place + ahead
        end = start + size
        piece = Piece(start, segment.payload, segment.missing, segment.number, segment.time_ns)
        if start < place:
            repeated = min(place - start, len(segment.payload))
            if repeated:
                self.holes.skipped.add("TCP bytes seen before", repeated)
            if end < place or (end == place and not is_fin):
                return
            piece = piece.part(place, end)
        if hole is None and piece.start == place:
            self._deliver(piece, piece.number, piece.time_ns, events)
            if is_fin:
                self.close("fin", events)
            return
        if hole is None:
            hole = self.hole = self.holes.open[self] = Hole(segment.time_ns)
            self.flow.holes += 1
        if is_fin and hole.fin == UNKNOWN:
            hole.fin = end
        if piece.end > piece.start:
            hole.ranges.add(piece)
            hole.ranges.report_repeated(self.holes.skipped, "TCP")
        self._release(hole, segment.number, segment.time_ns, events)

    def _restarts_at(self, segment: Segment, seq: int, events: list[StreamEvent]) -> bool:
        """Whether the stream restarts at `seq`: more is missing than sequence numbers can express.

        A single segment far behind proves nothing; several in a row show where the stream is.
        """
        end_seq = (seq + len(segment.payload) + segment.missing) & MASK
        if end_seq != self.stray_seq:
            self.strays = self.strays + 1 if seq == self.stray_seq else 1
            self.stray_seq = end_seq
        if self.strays < TCP_HOLE_SEGMENTS_MAX:
            return False
        while self.hole is not None:
            self.give_up(events)
        self.strays = 0
        if self.next_seq == UNKNOWN:
            return False
        events.append(StreamGap(self.flow, self.index, None, "missing"))
        self.next_seq = seq
        return True

    def _deliver(self, piece: Piece, number: int, time_ns: int, events: list[StreamEvent]) -> None:
        flow, index = self.flow, self.index
        if piece.data:
            events.append(StreamBytes(flow, index, piece.data, number, time_ns))
        if piece.missing:
            events.append(StreamGap(flow, index, piece.missing, "snaplen"))
        self.next_seq = (self.next_seq + piece.end - piece.start) & MASK

    def _release(self, hole: Hole, number: int, time_ns: int, events: list[StreamEvent]) -> None:
        """Delivers held bytes up to the next missing one; removes the hole if none is missing."""
        place, count = hole.place, 0
        for piece in hole.ranges.pieces:
            if piece.start != place or place == hole.fin:
                break
            place = piece.end
            count += 1
        for piece in hole.ranges.pop_first(count) if count else ():
            if piece.number > number:
                number, time_ns = piece.number, piece.time_ns
            self._deliver(piece, number, time_ns, events)
        if count:
            # If bytes are missing now, that is another hole.
            hole.segments = 0
            if hole.ranges.pieces:
                hole.since_ns = hole.ranges.pieces[0].time_ns
        hole.place = place
        ended = hole.fin != UNKNOWN and place >= hole.fin
        if ended and hole.ranges.cost:
            rest = hole.ranges.pop_first(len(hole.ranges.pieces))
            self.holes.skipped.add(
                "TCP bytes after the end", sum(len(piece.data) for piece in rest)
            )
        self.holes.held_bytes += hole.ranges.cost - hole.counted
        hole.counted = hole.ranges.cost
        if ended or (hole.fin == UNKNOWN and not hole.ranges.pieces):
            self.hole = None
            self.flow.holes -= 1
            del self.holes.open[self]
        if ended:
            self.close("fin", events)

    def give_up_if_late(self, now_ns: int, events: list[StreamEvent]) -> None:
        """Gives the hole up if it is open for too long or holds too many bytes."""
        hole = self.hole
        assert hole is not None
        while self.hole is hole and hole.ranges.cost > TCP_HOLE_BYTES_MAX:
            self.give_up(events)
        if self.hole is not hole:
            return
        hole.segments += 1
        is_late = hole.segments > TCP_HOLE_SEGMENTS_MAX
        if not is_late and now_ns - hole.since_ns <= TCP_HOLE_SECONDS_MAX * 1_000_000_000:
            return
        if self.acked != UNKNOWN:
            known = hole.next_place() - hole.place
            if distance(self.acked, self.next_seq) >= known:
                self.give_up(events)

    def give_up(self, events: list[StreamEvent]) -> None:
        hole = self.hole
        assert hole is not None
        missing = hole.next_place() - hole.place
        events.append(StreamGap(self.flow, self.index, missing, "missing"))
        self.next_seq = (self.next_seq + missing) & MASK
        hole.place += missing
        self._release(hole, 0, 0, events)
