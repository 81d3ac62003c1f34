"""Connection: one TCP connection, from the bytes of both directions to batches.

It recognises the protocol by the content, then follows the handshake, because the agreed terms
change how the rest is read (wire reference §14).
"""

from __future__ import annotations

from typing import Final

from zenlake.capture.stream_events import Flow
from zenlake.limits import TRACE_UNDECIDED_BYTES_MAX, TRACE_WAITING_BATCHES_MAX
from zenlake.trace.events import Missing, Undecoded
from zenlake.trace.link import Link, LinkBatch, LinkClosed
from zenlake.trace.links import recognition
from zenlake.trace.links.capture_order import Found, in_capture_order
from zenlake.trace.links.evidence import AGAINST_BEGINNING, ON_KNOWN_LINK, UNDECIDED
from zenlake.trace.links.modes import Modes
from zenlake.trace.links.scanner import Piece
from zenlake.trace.links.stream_reader import StreamReader
from zenlake.trace.links.units import WEBSOCKET
from zenlake.trace.links.websocket import is_upgrade
from zenlake.wire import Init, Open
from zenlake.wire.message import Message

LinkItem = LinkBatch | LinkClosed | Missing | Undecoded

_HEAD_BYTES_MAX: Final = 16_384
_HEAD_END: Final = b"\r\n\r\n"
_DEFERRED_BYTES_MAX: Final = 256
"""Fewer bytes prove little: they are searched for units only when more bytes arrive."""


class Connection:
    """Both directions of a flow: feed it, then call `release` to move its items to `target`.

    Items go to `out` first. They wait there while the other direction has a hole or searches for
    its units, because the items that it will find may be older.
    """

    __slots__ = (
        "_deferred",
        "_flow",
        "_held",
        "_is_waiting",
        "_known_start",
        "_open",
        "_readers",
        "_target",
        "is_rejected",
        "is_zenoh",
        "link",
        "may_wait",
        "modes",
        "out",
        "packet",
        "rejected_bytes",
        "rejected_cause",
        "rejected_state",
        "time_ns",
    )

    def __init__(self, flow: Flow, target: list[LinkItem]) -> None:
        self.link = Link(flow.name, "tcp", flow.source, flow.destination, flow.number > 0)
        self._flow = flow
        self.out: list[Found] = []
        self._target = target
        self._is_waiting = False
        self.may_wait = True
        """Whether items may wait. Above a limit they may not, until both framings are known."""
        self._readers: list[StreamReader | None] = [None, None]
        """Created with the first bytes, because most connections of a hostile capture have none."""
        self.is_zenoh = False
        self.is_rejected = False
        """Whether the connection carries another protocol."""
        self.rejected_state = "not_zenoh"
        self.rejected_cause = "no Zenoh was found in it"
        self.rejected_bytes = [0, 0]
        self.modes = Modes()
        self._held: tuple[list[Piece], list[Piece]] = ([], [])
        """Bytes that arrived before the protocol was recognised."""
        self._deferred = 0
        """A bit for each direction whose held bytes have not been searched for units yet."""
        self._known_start = [False, False]
        self._open = 0
        self.packet = 0
        self.time_ns = 0

    def reader(self, direction: int) -> StreamReader:
        reader = self._readers[direction]
        if reader is None:
            reader = self._readers[direction] = StreamReader(self, direction)
            if self.modes.is_websocket:
                reader.framing = WEBSOCKET
        return reader

    def opened(self, direction: int, seen_syn: bool) -> None:
        self._known_start[direction] = seen_syn
        self._open += 1

    def closed(self) -> bool:
        """Marks one of the open directions as closed; returns whether it was the last."""
        self._open -= 1
        return self._open <= 0

    def reject(self, state: str, cause: str) -> None:
        """Marks the connection as another protocol: from now on its bytes are only counted."""
        self.is_rejected = True
        self.rejected_state, self.rejected_cause = state, cause
        self._deferred = 0
        for direction, held in enumerate(self._held):
            count = sum(len(piece.data) for piece in held)
            reader = self._readers[direction]
            if reader is not None and reader.scanner is not None:
                count += reader.scanner.held_bytes + reader.scanner.dropped_bytes
                reader.scanner = None
            self.rejected_bytes[direction] += count
            held.clear()
            self._readers[direction] = None

    def feed(self, direction: int, data: bytes, packet: int, time_ns: int) -> None:
        self.packet, self.time_ns = packet, time_ns
        if self.is_rejected:
            self.rejected_bytes[direction] += len(data)
            return
        held, reader = self._held[direction], self._readers[direction]
        if self.is_zenoh and not held:
            if reader is None:
                reader = self.reader(direction)
            if not self._known_start[direction]:
                self._known_start[direction] = True
                begins = recognition.recognise(data)
                # Too few bytes to recognise: they begin a handshake if the other direction does.
                may_begin = begins == recognition.UNDECIDED and self.modes.guessed is None
                if begins != recognition.ZENOH and not may_begin:
                    reader.look_for_start()
            reader.feed(data, packet, time_ns)
        elif reader is not None and reader.scanner is not None:
            reader.feed(data, packet, time_ns)
            self._reject_if_searched(reader)
        else:
            held.append(Piece(0, data, packet, time_ns))
            if self._deferred & 1 << direction:
                self._scan(direction)
            else:
                self._recognise(direction)

    def gap(self, direction: int, missing_bytes: int | None, cause: str) -> None:
        missing = missing_bytes or 0
        if self.is_rejected:
            return
        if self._held[direction]:
            self._scan_held(direction)
        reader = self.reader(direction)
        if self.is_zenoh:
            kind = "truncated" if cause == "snaplen" else "tcp_gap"
            words = "cut by the snap length" if cause == "snaplen" else "packets are missing"
            self.out.append(
                Missing(self.packet, self.time_ns, self.link, direction, kind, words, bytes=missing)
            )
        elif reader.scanner is None:
            reader.look_for_start()
        reader.gap(missing, cause)

    def held_bytes(self) -> int:
        """The number of bytes held until more arrive."""
        held = 0
        for reader in self._readers:
            if reader is not None:
                held += reader.held_bytes()
        if not self.is_zenoh:
            for pieces in self._held:
                for piece in pieces:
                    held += len(piece.data)
        if self._is_waiting:
            for item in self.out:
                if isinstance(item, LinkBatch):
                    held += len(item.data)
        return held

    def release(self) -> None:
        """Moves the items to `target`, in the order of the capture."""
        is_looking = self.is_zenoh and (self._flow.holes > 0 or self._is_searching())
        if len(self.out) > TRACE_WAITING_BATCHES_MAX:
            self.may_wait = False
        if is_looking and self.may_wait:
            self._is_waiting = bool(self.out)
            return
        self.may_wait = not is_looking
        self._is_waiting = False
        found = self.out
        if len(found) > 1 and any(item.direction != found[0].direction for item in found):
            found = in_capture_order(found)
        self._target.extend(found)
        self.out.clear()

    def _is_searching(self) -> bool:
        """Whether a direction has lost its framing and searches for the next unit."""
        first, second = self._readers
        if first is not None and not first.knows_framing():
            return True
        return second is not None and not second.knows_framing()

    def give_up(self) -> None:
        """Drops held bytes, because the limit for all connections is reached."""
        if not self.is_zenoh:
            self.reject("not_zenoh", "no Zenoh was found in its beginning")
            return
        for reader in self._readers:
            if reader is not None and reader.held_bytes():
                self.gap(reader.direction, None, "missing")
        self.may_wait = False
        self.release()

    def finish(self, direction: int) -> None:
        """Handles the end of a direction."""
        if not self.is_rejected:
            if self._held[direction]:
                self._scan_held(direction)
            reader = self._readers[direction]
            if reader is not None:
                reader.finish()
        count = self.rejected_bytes[direction]
        if count:
            state, cause = self.rejected_state, self.rejected_cause
            self.out.append(
                Undecoded(self.packet, self.time_ns, self.link, direction, state, count, cause)
            )
            self.rejected_bytes[direction] = 0

    def drop_readers(self) -> None:
        """Breaks the reference cycle after both directions ended, so that memory is freed now."""
        self._readers = [None, None]

    # --- recognising the protocol --------------------------------------------------------

    def _recognise(self, direction: int) -> None:
        held = self._held[direction]
        data = held[0].data if len(held) == 1 else b"".join(piece.data for piece in held)
        if self.modes.is_websocket:
            self._recognise_websocket(direction, data)
            return
        found = recognition.recognise(data)
        if found == recognition.ZENOH:
            self._confirm(direction)
        elif found == recognition.TLS:
            self.reject("encrypted", "TLS")
        elif found == recognition.OTHER:
            self.reject("not_zenoh", "another protocol")
        elif found == recognition.HTTP:
            self._recognise_http(direction, data)
        elif found == recognition.UNKNOWN:
            if self.is_zenoh or len(data) > _DEFERRED_BYTES_MAX:
                self._scan(direction)
            else:
                # Most connections of a hostile capture end here, or are evicted.
                self._deferred |= 1 << direction

    def _scan_deferred(self) -> None:
        """Searches deferred bytes, before the state of the connection changes."""
        for direction in (0, 1):
            if self._deferred & 1 << direction:
                self._scan_held(direction)

    def _scan_held(self, direction: int) -> None:
        """Searches held bytes; for deferred ones the current packet is restored afterwards."""
        now = self.packet, self.time_ns
        was_deferred = bool(self._deferred & 1 << direction)
        self._scan(direction)
        if was_deferred:
            self.packet, self.time_ns = now

    def _confirm(self, direction: int) -> None:
        """Marks the connection as Zenoh; the bytes of this direction begin with a unit."""
        self._scan_deferred()
        self.is_zenoh = True
        self._release(direction)
        other = 1 - direction
        if self._held[other]:
            if self._known_start[other]:
                self._release(other)
            else:
                self._scan(other)

    def _release(self, direction: int) -> None:
        held = self._held[direction]
        pieces = held[:]
        held.clear()
        self._known_start[direction] = True
        for piece in pieces:
            self.packet, self.time_ns = piece.packet, piece.time_ns
            self.reader(direction).feed(piece.data, piece.packet, piece.time_ns)

    def _scan(self, direction: int) -> None:
        """Searches all held bytes for units, because their beginning was not recognised."""
        self._deferred &= ~(1 << direction)
        reader = self.reader(direction)
        if reader.scanner is None:
            demand = AGAINST_BEGINNING if self._known_start[direction] else UNDECIDED
            self._known_start[direction] = True
            reader.look_for_start(demand)
        self._release(direction)
        self._reject_if_searched(reader)

    def _reject_if_searched(self, reader: StreamReader) -> None:
        scanner = reader.scanner
        if self.is_zenoh or scanner is None:
            return
        if scanner.scanned_bytes > TRACE_UNDECIDED_BYTES_MAX:
            self.reject("not_zenoh", "no Zenoh was found in it")

    def _recognise_http(self, direction: int, data: bytes) -> None:
        """Rejects HTTP, unless it is upgraded to a WebSocket that carries Zenoh."""
        end = data.find(_HEAD_END)
        if end < 0 and len(data) <= _HEAD_BYTES_MAX:
            return
        if end < 0 or not is_upgrade(data[:end]):
            self.reject("not_zenoh", "HTTP")
            return
        self._scan_deferred()
        self.modes.is_websocket = True
        for reader in self._readers:
            if reader is not None:
                reader.framing = WEBSOCKET
        self.link.protocol = "ws"
        self._recognise_websocket(direction, data)
        if self._held[1 - direction]:
            self._recognise(1 - direction)

    def _recognise_websocket(self, direction: int, data: bytes) -> None:
        """Accepts a WebSocket whose first binary message after the HTTP header is an INIT."""
        end = data.find(_HEAD_END)
        if end < 0:
            if len(data) > _HEAD_BYTES_MAX:
                self.reject("not_zenoh", "WebSocket")
            return
        frames = data[end + len(_HEAD_END) :]
        found = recognition.recognise_websocket(frames)
        if found == recognition.UNDECIDED:
            return
        if found != recognition.ZENOH:
            self.reject("not_zenoh", "WebSocket without Zenoh")
            return
        held = self._held[direction]
        last = held[-1]
        held[:] = [Piece(0, frames, last.packet, last.time_ns)]
        self.is_zenoh = True
        self._release(direction)

    # --- the handshake -------------------------------------------------------------------

    def apply_handshake(self, reader: StreamReader, messages: list[Message]) -> None:
        """Changes framing and form of a direction after INIT_ACK and OPEN."""
        for message in messages:
            if isinstance(message, Init) and message.cookie is not None:
                self.modes.agree(message)
            elif isinstance(message, Open):
                self.switch_form(reader)
                self.modes.is_handshake_over = message.cookie is None

    def switch_form(self, reader: StreamReader) -> None:
        """Applies the agreed form to the units after an OPEN."""
        if self.modes.agreed is None:
            # The capture lacks the agreed form, but the next byte begins a unit.
            self.modes.guessed = None
            reader.look_for_start(ON_KNOWN_LINK)
        else:
            reader.framing, reader.form = self.modes.agreed

    @property
    def is_opening(self) -> bool:
        """Whether the handshake is in progress, as far as the capture shows."""
        session = self.link.session
        if session is None or not session.seen_start:
            return False
        return not session.is_open and session.closed_ns is None

    def use_mode(self, reader: StreamReader, framing: int, form: int) -> None:
        """Sets the framing and form of the units that were found."""
        self._scan_deferred()
        self.is_zenoh = True
        self._known_start[reader.direction] = True
        reader.framing, reader.form = framing, form
        if self.modes.agreed is None:
            self.modes.guessed = (framing, form)
            self.link.form = form
            if framing == WEBSOCKET:
                # The other direction keeps the short length until its units are found too.
                self.reader(1 - reader.direction)
                self.modes.is_websocket = True
                self.link.protocol = "ws"

    def numbers(self, direction: int) -> tuple[dict[int, int], int]:
        """The last sequence numbers of this direction by channel, and their mask."""
        session = self.link.session
        if session is None:
            return {}, 0
        node = session.nodes[self.link.sides[direction]]
        return {key: channel.last_sn for key, channel in node.channels.items()}, session.mask
