"""DatagramLink: the UDP datagrams between two addresses, or from one address to a group.

A datagram is a unit, so there is no framing. If the capture lacks the handshake, datagrams are
held until they are enough evidence for Zenoh, as the bytes of a stream are.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from zenlake.capture.transport import UdpDatagram
from zenlake.limits import TRACE_HELD_DATAGRAM_BYTES_MAX, TRACE_HELD_DATAGRAMS_MAX
from zenlake.trace.events import Undecoded
from zenlake.trace.link import Link, LinkBatch
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.links.evidence import CONTRADICTION, UNDECIDED, Numbers, weigh
from zenlake.trace.links.units import (
    COMPRESSED,
    LOW_LATENCY,
    PLAIN,
    Content,
    form_of,
    read_content,
)
from zenlake.wire import Close, Fragment, Init, Open
from zenlake.wire.defaults import PROTOCOL_VERSION
from zenlake.wire.headers import (
    CLOSE_ID,
    FRAGMENT_ID,
    FRAME_ID,
    ID_BITS,
    KEEP_ALIVE_ID,
    NETWORK_ID_MIN,
)

_FORMS: Final = (COMPRESSED, PLAIN, LOW_LATENCY)
"""The order in which forms are tried: a compressed unit may look like a plain OAM or INIT."""
_RECENT_MAX: Final = 8
_REPEATED_NS: Final = 10_000_000
"""A datagram after a longer time is not a copy from another interface."""


class DatagramBudget:
    """The bytes that all links hold until they are recognised as Zenoh."""

    __slots__ = ("held_bytes", "held_bytes_max")

    def __init__(self) -> None:
        self.held_bytes = 0
        self.held_bytes_max = TRACE_HELD_DATAGRAM_BYTES_MAX


class DatagramLink:
    """Both directions between two addresses; a group has one direction."""

    __slots__ = (
        "_agreed",
        "_bits",
        "_budget",
        "_forms",
        "_held",
        "_numbers",
        "_offer",
        "_offered_by",
        "_recent",
        "ends",
        "is_rejected",
        "is_zenoh",
        "last_ns",
        "link",
        "number",
        "out",
        "packet",
        "rejected_bytes",
        "rejected_cause",
        "rejected_state",
    )

    def __init__(
        self, datagram: UdpDatagram, protocol: str, out: list[LinkItem], budget: DatagramBudget
    ) -> None:
        self._budget = budget
        self.ends = datagram.ends
        self.out = out
        self.number = 0
        self.link = Link(
            f"{self.ends.text}#0", protocol, self.ends.source, self.ends.destination, False
        )
        self.is_zenoh = False
        self.is_rejected = False
        self.rejected_state = "not_zenoh"
        self.rejected_cause = "no Zenoh was found in it"
        self.rejected_bytes = 0
        self.packet = datagram.number
        self.last_ns = datagram.time_ns
        self._recent: tuple[deque[tuple[int, int, int, int]], ...] = (
            deque(maxlen=_RECENT_MAX),
            deque(maxlen=_RECENT_MAX),
        )
        self._agreed: int | None = None
        self._forms: list[int | None] = [PLAIN, PLAIN]
        self._held: list[UdpDatagram] = []
        self._offer: UdpDatagram | None = None
        self._offered_by = 0
        self._bits = 0
        self._numbers = (Numbers({}, 0), Numbers({}, 0))

    def is_repeated(self, direction: int, datagram: UdpDatagram) -> bool:
        """Whether it is a copy of an earlier datagram, captured on another interface."""
        now_ns, mark = datagram.time_ns, hash(datagram.payload)
        recent = self._recent[direction]
        while recent and not 0 <= now_ns - recent[0][1] <= _REPEATED_NS:
            recent.popleft()
        equal = [(one[2], one[3]) for one in recent if one[0] == mark]
        identification, place = datagram.identification, datagram.place
        recent.append((mark, now_ns, identification, place))
        return bool(equal and datagram.payload) and _is_copy(identification, place, equal)

    def start(self, direction: int) -> None:
        """Begins a handshake, the first or a later one between these addresses."""
        self.number += 1
        ends = self.ends
        source, destination = ends.source, ends.destination
        if direction:
            source, destination = destination, source
        if self.number > 1 or not self.is_zenoh:
            name = f"{source}-{destination}#{self.number}"
            self.link = Link(name, self.link.protocol, source, destination, True)
        self.is_zenoh = True
        self.is_rejected = False
        self._agreed = None
        self._forms = [None, None]

    def offer(self, direction: int, datagram: UdpDatagram) -> None:
        """Holds a possible INIT_SYN: without a length before it, only an answer proves it."""
        self._withdraw()
        self._offer = datagram
        self._offered_by = direction

    def accept(self, direction: int) -> None:
        """Handles an answer: if the other side sent it, the held INIT_SYN begins a handshake."""
        offer = self._offer
        if offer is None or direction == self._offered_by:
            return
        self._offer = None
        self.start(self._offered_by)
        self.read(self._offered_by, offer)

    def _withdraw(self) -> None:
        if self._offer is not None:
            self.rejected_bytes += len(self._offer.payload)
            self._offer = None

    def use_form(self, form: int) -> None:
        """Sets the form for a group: its members negotiate nothing (wire reference §6.2)."""
        self._forms = [form, form]

    def read(self, direction: int, datagram: UdpDatagram) -> None:
        """Reads a datagram of a link that carries Zenoh."""
        payload = datagram.payload
        form = self._forms[direction]
        read = self._guess(direction, payload) if form is None else read_content(form, payload)
        state, lost = "ok", 0
        if datagram.missing:
            state = "truncated"
            if read.messages and isinstance(read.messages[-1], Fragment):
                read.messages.pop()
            lost = read.lost_bytes(is_cut=True)
        elif read.error is not None:
            state = "malformed"
            lost = read.lost_bytes()
        error = None if datagram.missing else read.error
        way = direction if self.ends.source == self.link.ends[0] else 1 - direction
        self.out.append(
            LinkBatch(
                self.link,
                way,
                datagram.number,
                datagram.time_ns,
                payload,
                read.messages,
                state,
                error,
                lost,
                (),
                read.content,
                read.form,
            )
        )
        for message in read.messages:
            if isinstance(message, Init) and message.cookie is not None:
                self._agreed = form_of(message)
            elif isinstance(message, Open):
                self._forms[direction] = self._agreed

    def _guess(self, direction: int, payload: bytes) -> Content:
        """Tries the forms until one fits, because the OPEN of this side was not seen.

        The handshake is plain, and so is a CLOSE before its end (wire reference §5.1).
        """
        plain = read_content(PLAIN, payload)
        if _is_handshake(plain):
            return plain
        agreed = self._agreed
        for form in _FORMS if agreed is None else (agreed,):
            other = read_content(form, payload)
            if other.error is None:
                # The OPEN was lost: from here on the agreed form applies, if it is known.
                self._forms[direction] = agreed
                return other
        return plain if agreed is None or not plain.messages else other

    def consider(self, direction: int, datagram: UdpDatagram) -> None:
        """Holds a datagram that may be Zenoh, until the next ones decide."""
        payload = datagram.payload
        budget = self._budget
        is_full = budget.held_bytes + len(payload) > budget.held_bytes_max
        is_full = is_full or len(self._held) >= TRACE_HELD_DATAGRAMS_MAX
        if self.is_rejected or datagram.missing or is_full:
            self._give_up(datagram)
            return
        form = self._forms[direction] if self._held else _likely_form(payload)
        bits = CONTRADICTION
        if form is not None:
            bits = weigh(form, payload, True, self._numbers[direction])
        if bits == CONTRADICTION:
            self._give_up(datagram)
            return
        self._forms = [form, form]
        self._bits += bits
        self._held.append(datagram)
        budget.held_bytes += len(payload)
        has_content = self._numbers[0].has_content or self._numbers[1].has_content
        small_bits = self._numbers[0].small_bits + self._numbers[1].small_bits
        is_enough = self._bits - small_bits >= UNDECIDED.bits and len(self._held) >= UNDECIDED.units
        if is_enough and has_content:
            self.is_zenoh = True
            for one in self._release():
                self.read(0 if one.ends.source == self.ends.source else 1, one)

    def _give_up(self, datagram: UdpDatagram) -> None:
        self.rejected_bytes += len(datagram.payload) + _size(self._release())
        self._bits = 0
        self._numbers = (Numbers({}, 0), Numbers({}, 0))

    def _release(self) -> list[UdpDatagram]:
        held, self._held = self._held, []
        self._budget.held_bytes -= _size(held)
        return held

    def reject(self, state: str, cause: str) -> None:
        self.is_rejected = True
        self.rejected_state, self.rejected_cause = state, cause

    def finish(self) -> None:
        """Handles the end of the link."""
        self._withdraw()
        self.rejected_bytes += _size(self._release())
        if self.rejected_bytes:
            self.out.append(
                Undecoded(
                    self.packet,
                    self.last_ns,
                    self.link,
                    0,
                    self.rejected_state,
                    self.rejected_bytes,
                    self.rejected_cause,
                )
            )
            self.rejected_bytes = 0


def _is_copy(identification: int, place: int, equal: list[tuple[int, int]]) -> bool:
    """Whether a datagram is a copy of one with the same payload; False if in doubt.

    Without an IP identification, the second one of a capture point can only be a copy of the
    second one of another capture point.
    """
    if identification:
        return any(one == identification for one, _ in equal)
    places = [where for one, where in equal if not one]
    own = places.count(place)
    return any(places.count(other) > own for other in places if other != place)


def _size(datagrams: list[UdpDatagram]) -> int:
    return sum([len(one.payload) for one in datagrams])


def _likely_form(payload: bytes) -> int | None:
    """The form of a unit by its first byte, if it is Zenoh."""
    if not payload:
        return None
    id = payload[0] & ID_BITS
    if id in (CLOSE_ID, KEEP_ALIVE_ID, FRAME_ID, FRAGMENT_ID):
        return PLAIN
    if payload[0] <= 1:
        return COMPRESSED
    return LOW_LATENCY if id >= NETWORK_ID_MIN else None


def _is_handshake(read: Content) -> bool:
    if read.error is not None or not read.messages:
        return False
    first = read.messages[0]
    return isinstance(first, (Open, Close)) or (
        isinstance(first, Init) and first.version == PROTOCOL_VERSION
    )
