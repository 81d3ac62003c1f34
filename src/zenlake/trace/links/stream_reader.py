"""StreamReader: one direction of a connection, from bytes to batches.

While no byte is missing, lengths lead from unit to unit. If bytes are missing inside a unit of
known length, the next one is found by counting; otherwise a `Scanner` searches for it. One unit
that cannot be decoded counts as damaged; two in a row mean that the framing is lost.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from zenlake.trace.links.direction_events import DirectionEvents
from zenlake.trace.links.evidence import AFTER_LOSS, ON_KNOWN_LINK, UNDECIDED, Demand
from zenlake.trace.links.pending import Pending
from zenlake.trace.links.scanner import Candidate, Piece, Scanner
from zenlake.trace.links.units import (
    COMPRESSED,
    IMPOSSIBLE,
    LONG,
    PLAIN,
    SHORT,
    UNKNOWN,
    WEBSOCKET,
    Content,
    read_content,
    unit_sizes,
)
from zenlake.trace.links.websocket import BINARY, CONTINUATION, is_final, opcode, unmask
from zenlake.wire import Fragment
from zenlake.wire.headers import ID_BITS, OPEN_ID

if TYPE_CHECKING:
    from zenlake.trace.links.connection import Connection

_PLAIN_CLOSES: Final = (0x03, 0x23)
_MISSING: Final = -1
_MARKS: Final = {"missing": _MISSING, "snaplen": -2}
"""Numbers for holes, by cause; pieces with bytes have a packet number in their place."""


class StreamReader:
    """Reads the units of one direction; appends items to `connection.out`."""

    __slots__ = (
        "_connection",
        "_ended",
        "_events",
        "_lost_state",
        "_message",
        "_pending",
        "_queue",
        "_skip",
        "_suspect",
        "direction",
        "form",
        "framing",
        "scanner",
    )

    def __init__(self, connection: Connection, direction: int) -> None:
        self._connection = connection
        self.direction = direction
        self.framing = SHORT
        self.form = PLAIN
        self.scanner: Scanner | None = None
        """Set while the framing is lost."""
        self._ended = False
        """Whether a CLOSE was read: later bytes are not messages (wire reference §9)."""
        self._queue: deque[Piece] | None = None
        """Created on demand: an empty deque uses more memory than all other attributes."""
        self._pending = Pending()
        self._skip = 0
        """How many bytes remain of a unit with missing bytes."""
        self._lost_state = "gap"
        self._suspect: bytes | None = None
        """The undecoded tail of the previous unit."""
        self._events = DirectionEvents(connection, direction)
        self._message = b""
        """The parts of a WebSocket message so far."""

    # --- bytes ---------------------------------------------------------------------------

    def feed(self, data: bytes, packet: int, time_ns: int) -> None:
        if not self._queue:
            if self.scanner is not None:
                self.scanner.feed(data, packet, time_ns)
                self._search(False)
                self._work()
                return
            rest = self._read_units(data, packet, time_ns)
            if rest is None:
                return
            data = rest
        self._queued().append(Piece(0, data, packet, time_ns))
        self._work()

    def _queued(self) -> deque[Piece]:
        if self._queue is None:
            self._queue = deque()
        return self._queue

    def _work(self) -> None:
        """Processes the queue. When the scanner finds the framing, it puts bytes back."""
        queue = self._queue
        while queue:
            piece = queue.popleft()
            if piece.packet < 0:
                self._gap(piece.at, "missing" if piece.packet == _MISSING else "snaplen")
            elif self.scanner is not None:
                self.scanner.feed(piece.data, piece.packet, piece.time_ns)
                self._search(False)
            else:
                rest = self._read_units(piece.data, piece.packet, piece.time_ns)
                if rest is not None:
                    queue.appendleft(Piece(0, rest, piece.packet, piece.time_ns))

    def _read_units(self, data: bytes, packet: int, time_ns: int) -> bytes | None:
        """Reads units; returns the remaining bytes if the framing was lost, else None."""
        if self._skip:
            count = min(self._skip, len(data))
            self._skip -= count
            self._events.undecoded(packet, time_ns, self._lost_state, count, "the rest of a batch")
            data = data[count:]
        pending = self._pending
        earlier: tuple[int, ...] = ()
        if pending.have:
            if not pending.add(data, packet, time_ns):
                return None
            earlier = pending.earlier()
            data = pending.pop()
        at, end = 0, len(data)
        while at < end:
            if self._ended:
                self._after_close(data[at:], packet, time_ns)
                return None
            header, size = unit_sizes(self.framing, data, at)
            stop = at + header + size
            if header < 0 or stop > end:
                if header == IMPOSSIBLE:
                    return self._impossible(data[at:], packet, time_ns)
                need = end - at + 1 if header == UNKNOWN else header + size
                pending.start(data[at:], packet, time_ns, need)
                return None
            self._unit(data, at, header, stop, packet, time_ns, earlier)
            earlier = ()
            at = stop
            if self.scanner is not None:
                return data[at:] or None
        return None

    # --- units ---------------------------------------------------------------------------

    def _unit(
        self,
        data: bytes,
        at: int,
        header: int,
        stop: int,
        packet: int,
        time_ns: int,
        earlier: tuple[int, ...],
    ) -> None:
        content = data[at + header : stop]
        if self.framing == WEBSOCKET:
            if opcode(data, at) not in (CONTINUATION, BINARY):
                return
            content = self._message + unmask(data[at : at + header], content)
            self._message = b""
            if not is_final(data, at):
                self._message = content
                return
        read = read_content(self.form, content)
        if read.error is not None:
            close = _plain_close(self.form, content)
            if close is None:
                self._events.batch(packet, time_ns, content, read, "malformed", earlier)
                tail = content[len(content) - read.lost_bytes() :]
                self._suspect_unit(data[at : at + header] + tail, tail, packet, time_ns)
                return
            read = close
        self._suspect = None
        self._events.batch(packet, time_ns, content, read, "ok", earlier)
        connection = self._connection
        if not connection.modes.is_handshake_over:
            connection.apply_handshake(self, read.messages)

    def _suspect_unit(self, unit: bytes, tail: bytes, packet: int, time_ns: int) -> None:
        """After the second undecodable unit in a row, the framing counts as lost."""
        suspect = self._suspect
        if suspect is None:
            self._suspect = tail
            return
        self._lost_state = "malformed"
        self._lose_framing()
        self._events.reported_bytes = len(suspect) + len(tail)
        self._queued().appendleft(Piece(0, suspect + unit, packet, time_ns))

    def _impossible(self, rest: bytes, packet: int, time_ns: int) -> bytes | None:
        """Handles an impossible length: the framing is lost, or a low-latency link ends (§9)."""
        if self.framing == LONG and _is_last_close(rest):
            self._ended = True
            self._after_close(rest, packet, time_ns)
            return None
        suspect = self._suspect or b""
        self._lost_state = "malformed"
        self._lose_framing()
        self._events.reported_bytes = len(suspect)
        return suspect + rest

    def _after_close(self, rest: bytes, packet: int, time_ns: int) -> None:
        """Handles bytes after a CLOSE: low latency ends with another CLOSE of short length (§9).

        The second CLOSE is reported as a message only if the handshake failed.
        """
        if not _is_last_close(rest):
            self._events.undecoded(packet, time_ns, "malformed", len(rest), "after CLOSE")
            return
        read = read_content(PLAIN, rest[2:])
        if not self._connection.is_opening:
            read.messages.clear()
        self._events.batch(packet, time_ns, rest[2:], read, "ok", ())

    # --- missing bytes -------------------------------------------------------------------

    def gap(self, missing_bytes: int, cause: str) -> None:
        """Bytes are missing; `missing_bytes` is 0 if their number is not known."""
        self._queued().append(Piece(missing_bytes, b"", _MARKS[cause], 0))
        self._work()

    def _gap(self, missing_bytes: int, cause: str) -> None:
        if self._ended:
            return
        if self.scanner is not None:
            if missing_bytes:
                self.scanner.gap(missing_bytes, cause)
                return
            # Units cannot be counted across a hole of unknown size: decide by the bytes before it.
            queue = self._queued()
            scanner, later = self.scanner, len(queue)
            self._search(True)
            if self.knows_framing():
                hole = Piece(0, b"", _MARKS[cause], 0)
                queue.insert(len(queue) - later, hole)
                return
            self._events.no_unit_in(scanner.dropped_bytes + scanner.held_bytes, self._lost_state)
        self._lost_state = "truncated" if cause == "snaplen" else "gap"
        if missing_bytes and missing_bytes <= self._skip:
            self._skip -= missing_bytes
            return
        if self._pending.have and not self._skip:
            left = self._cut(self._lost_state)
            if not self.knows_framing():
                # This was the OPEN after which units have another form, which is not known.
                return
            if missing_bytes and missing_bytes <= left:
                self._skip = left - missing_bytes
                return
        self._skip = 0
        self._lose_framing(missing_bytes > 0)

    def _cut(self, state: str) -> int:
        """Reads the captured part of an incomplete unit; returns how many bytes it lacks, or 0."""
        pending = self._pending
        # The batch gets the packet of its last bytes, not the one that revealed the gap.
        *earlier, packet = pending.packets()
        time_ns, data = pending.time_ns, pending.pop()
        header, size = unit_sizes(self.framing, data, 0)
        if header < 0 or len(data) < header:
            self._events.undecoded(packet, time_ns, state, len(data), "the beginning of a batch")
            return 0
        content = data[header:]
        if self.framing == WEBSOCKET:
            content = self._message + unmask(data[:header], content)
            self._message = b""
        read = Content([], None, len(content))
        if self.form != COMPRESSED or not content or content[0] == 0:
            read = read_content(self.form, content)
            read.error = None
            if read.messages and isinstance(read.messages[-1], Fragment):
                # The payload of a FRAGMENT extends to the end of the batch, which is missing.
                read.messages.pop()
        self._events.batch(packet, time_ns, content, read, state, tuple(earlier))
        connection = self._connection
        is_open = content and content[0] & ID_BITS == OPEN_ID
        if is_open and not connection.modes.is_handshake_over:
            connection.switch_form(self)
        return header + size - len(data)

    # --- losing and finding the framing --------------------------------------------------

    def _lose_framing(self, is_measured: bool = True) -> None:
        """Starts a search for units; `is_measured`: the number of missing bytes is known."""
        connection = self._connection
        before, mask = connection.numbers(self.direction)
        if not is_measured:
            before = {}
        self._pending.pop()
        self._message = b""
        self._suspect = None
        demand = AFTER_LOSS if connection.is_zenoh else UNDECIDED
        self.scanner = Scanner(connection.modes.possible(self.form), before, mask, demand)

    def held_bytes(self) -> int:
        held = self._pending.have + len(self._message)
        return held if self.scanner is None else held + self.scanner.held_bytes

    def knows_framing(self) -> bool:
        """Whether the start of the next unit is known."""
        return self.scanner is None

    def look_for_start(self, demand: Demand = UNDECIDED) -> None:
        """Starts a search: the beginning was not captured, or was not recognised."""
        modes = self._connection.modes.possible(self.form)
        if self._connection.is_zenoh and len(modes) == 1:
            demand = ON_KNOWN_LINK
        self.scanner = Scanner(modes, {}, 0, demand)

    def _search(self, at_end: bool) -> None:
        scanner = self.scanner
        if scanner is None:
            return
        found = scanner.find(at_end)
        if found is not None:
            self._resume(scanner, found)
        elif scanner.dropped_bytes:
            self._events.no_unit_in(scanner.dropped_bytes, self._lost_state)
            scanner.dropped_bytes = 0

    def _resume(self, scanner: Scanner, found: Candidate) -> None:
        """Continues at an accepted place: queues all bytes from there, in order."""
        self.scanner = None
        self._connection.use_mode(self, found.framing, found.form)
        replay: list[Piece] = []
        passed = scanner.dropped_bytes
        at = found.at
        for piece in scanner.pieces:
            stop = piece.at + len(piece.data)
            if stop <= found.at:
                passed += len(piece.data)
                continue
            data = piece.data
            if piece.at < found.at:
                passed += found.at - piece.at
                data = data[found.at - piece.at :]
            elif piece.at > at:
                mark = _MARKS["snaplen" if scanner.is_cut else "missing"]
                replay.append(Piece(piece.at - at, b"", mark, 0))
            replay.append(Piece(0, data, piece.packet, piece.time_ns))
            at = stop
        self._events.no_unit_in(passed, self._lost_state)
        self._queued().extendleft(reversed(replay))

    def finish(self) -> None:
        """Handles the end of the direction."""
        if self.scanner is not None:
            self._search(True)
            self._work()
        scanner = self.scanner
        if scanner is not None:
            passed = scanner.dropped_bytes + scanner.held_bytes
            last = scanner.pieces[-1] if scanner.pieces else None
            is_low_latency = self._connection.modes.is_low_latency
            if last is not None and is_low_latency and _is_last_close(last.data):
                self._after_close(last.data, last.packet, last.time_ns)
                passed -= len(last.data)
            self._events.no_unit_in(passed, self._lost_state)
            self.scanner = None
        if self._pending.have:
            self._cut("truncated")


def _is_last_close(rest: bytes) -> bool:
    return len(rest) == 4 and rest[:2] == b"\x02\x00" and rest[2] in _PLAIN_CLOSES


def _plain_close(form: int, content: bytes) -> Content | None:
    """The CLOSE of a failed handshake, which is plain whatever form was agreed (§14)."""
    if form != COMPRESSED or len(content) != 2 or content[0] not in _PLAIN_CLOSES:
        return None
    return read_content(PLAIN, content)
