"""Scanner: finds where batches begin again in a stream whose framing is lost.

It keeps the last bytes, with the holes between them, and tries every place where a unit might
begin. A place is taken once the chain of units from there is evidence enough; it is dropped at
the first contradiction; otherwise it waits for the bytes its next unit needs. Nothing is
handed on before, so no message is invented.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from zenlake.limits import TRACE_CANDIDATES_MAX, TRACE_SCAN_BYTES_MAX
from zenlake.trace.evidence import (
    AFTER_LOSS,
    CONTRADICTION,
    ON_KNOWN_LINK,
    PACKET_BITS,
    TO_THE_END,
    UNDECIDED,
    Demand,
    Numbers,
    may_begin,
    weigh,
)
from zenlake.trace.units import (
    COMPRESSED,
    LONG,
    LOW_LATENCY,
    PLAIN,
    SHORT,
    UNKNOWN,
    WEBSOCKET,
    unit_sizes,
)
from zenlake.trace.websocket import opcode, unmask

# What a unit may begin with, as far as a pattern can tell: FRAME or FRAGMENT, a sequence number,
# then a network message, an extension or a piece; or INIT, or KEEP_ALIVE alone.
_SN: Final = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_NETWORK: Final = rb"[\x19-\x1f\x39-\x3f\x59-\x5f\x79-\x7f\x99-\x9f\xb9-\xbf\xd9-\xdf\xf9-\xff]"
_HEADS: Final = (
    rb"(?:[\x05\x25]"
    + _SN
    + _NETWORK
    + rb"|[\x06\x26\x46\x66]"
    + _SN
    + rb"|[\x85\xa5]"
    + _SN
    + rb"[\x31\xb1]|[\x86\xa6\xc6\xe6]"
    + _SN
    + rb"[\x02\x31\x82\xb1])"
)
_INIT: Final = rb"[\x01\x21\x41\x61\x81\xa1\xc1\xe1]\x09"
_PATTERNS: Final = {
    (SHORT, PLAIN): re.compile(rb"(?s)(?=\x01\x00\x04|..(?:" + _HEADS + rb"|" + _INIT + rb"))"),
    (SHORT, COMPRESSED): re.compile(rb"(?s)(?=\x02\x00\x00\x04|..(?:\x01|\x00" + _HEADS + rb"))"),
    (LONG, LOW_LATENCY): re.compile(rb"(?s)(?=..\x00\x00(?:[\x03\x04]|" + _NETWORK + rb"))"),
    (WEBSOCKET, PLAIN): re.compile(rb"(?s)(?=\x82)"),
}
_PATTERN_BYTES: Final = 10
"""No pattern looks farther than that."""
WEBSOCKET_MODE: Final = (WEBSOCKET, PLAIN)
MODES: Final = ((SHORT, PLAIN), (SHORT, COMPRESSED), (LONG, LOW_LATENCY))
"""Cut and form of units, in the order they are tried where nothing is known."""

BELIEVED: Final = 1
WAITING: Final = 0
DROPPED: Final = -1


class Candidate:
    """A place where a unit may begin, and the chain of units from there, as far as it was read."""

    __slots__ = ("at", "bits", "form", "framing", "need", "next", "numbers", "units")

    def __init__(self, at: int, framing: int, form: int) -> None:
        self.at = at
        self.framing = framing
        self.form = form
        self.next = at
        """Where the next unit of the chain begins."""
        self.need = 0
        """Up to where bytes are needed to say more."""
        self.bits = 0
        self.units = 0
        self.numbers: Numbers | None = None


class Piece:
    """Bytes at a place of the stream, and the packet they came with."""

    __slots__ = ("at", "data", "packet", "time_ns")

    def __init__(self, at: int, data: bytes, packet: int, time_ns: int) -> None:
        self.at = at
        self.data = data
        self.packet = packet
        self.time_ns = time_ns


class Run:
    """Bytes without a hole between them."""

    __slots__ = ("at", "data", "tried")

    def __init__(self, at: int) -> None:
        self.at = at
        self.data = b""
        self.tried = 0

    @property
    def end(self) -> int:
        return self.at + len(self.data)


class Scanner:
    """Feed it bytes and holes; `find` says whether a place is believed."""

    __slots__ = (
        "_candidates",
        "_demand",
        "_modes",
        "_numbers",
        "_run_starts",
        "_runs",
        "_starts",
        "dropped_bytes",
        "held_bytes",
        "is_cut",
        "pieces",
        "scanned_bytes",
    )

    def __init__(
        self,
        modes: tuple[tuple[int, int], ...],
        before: dict[int, int],
        mask: int,
        demand: Demand,
    ) -> None:
        self._modes = modes
        self._demand = demand
        self._numbers = (before, mask)
        self._runs: list[Run] = [Run(0)]
        self._run_starts = [0]
        self._candidates: list[Candidate] = []
        self._starts: set[int] = set()
        self.pieces: list[Piece] = []
        self.held_bytes = 0
        self.scanned_bytes = 0
        self.dropped_bytes = 0
        self.is_cut = False
        """Whether bytes are missing because packets were cut."""

    def feed(self, data: bytes, packet: int, time_ns: int) -> None:
        run = self._runs[-1]
        at = run.end
        self._starts.add(at)
        self.pieces.append(Piece(at, data, packet, time_ns))
        run.data += data
        self.held_bytes += len(data)
        self.scanned_bytes += len(data)
        self._add_candidates(run)
        while self.held_bytes > TRACE_SCAN_BYTES_MAX and len(self.pieces) > 1:
            self._drop_first()

    def gap(self, missing_bytes: int, cause: str) -> None:
        """So many bytes are missing here."""
        self.is_cut = cause == "snaplen"
        at = self._runs[-1].end + missing_bytes
        self._runs.append(Run(at))
        self._run_starts.append(at)

    def find(self, at_end: bool = False) -> Candidate | None:
        """The first place that is believed by now. `at_end`: the stream has ended."""
        if at_end:
            self._add_candidates(self._runs[-1], True)
        end = self._runs[-1].end
        waiting: list[Candidate] = []
        for candidate in self._candidates:
            if candidate.need > end and not at_end:
                waiting.append(candidate)
                continue
            answer = self._weigh(candidate, at_end)
            if answer == BELIEVED:
                return candidate
            if answer == WAITING:
                waiting.append(candidate)
        self._candidates = waiting[-TRACE_CANDIDATES_MAX:]
        return None

    def _add_candidates(self, run: Run, at_end: bool = False) -> None:
        """Places in the bytes that were not tried; the last few may lack their pattern's end."""
        stop = len(run.data) if at_end else len(run.data) - _PATTERN_BYTES
        if stop <= run.tried:
            return
        found: list[Candidate] = []
        for framing, form in self._modes:
            for match in _PATTERNS[framing, form].finditer(run.data, run.tried):
                if match.start() < stop:
                    found.append(Candidate(run.at + match.start(), framing, form))
        found.sort(key=_place)
        self._candidates += found
        run.tried = stop

    def _drop_first(self) -> None:
        piece = self.pieces.pop(0)
        size = len(piece.data)
        self.held_bytes -= size
        self.dropped_bytes += size
        run = self._runs[0]
        run.data = run.data[size:]
        run.at += size
        self._run_starts[0] = run.at
        run.tried = max(run.tried - size, 0)
        if not run.data and len(self._runs) > 1:
            del self._runs[0]
            del self._run_starts[0]
        self._starts.discard(piece.at)
        first = self.pieces[0].at
        self._candidates = [one for one in self._candidates if one.at >= first]

    def _run_at(self, at: int) -> Run | None:
        index = bisect_right(self._run_starts, at) - 1
        if index < 0:
            return None
        run = self._runs[index]
        return run if at < run.end else None

    def _weigh(self, candidate: Candidate, at_end: bool) -> int:
        """Go on with the chain that begins here: is it believed by now?"""
        numbers = candidate.numbers
        if numbers is None:
            before, mask = self._numbers
            numbers = candidate.numbers = Numbers(before, mask)
            candidate.bits = PACKET_BITS if candidate.at in self._starts else 0
        while not self._is_enough(candidate, numbers):
            if candidate.next >= self._runs[-1].end:
                candidate.need = candidate.next + 1
                is_exact = at_end and candidate.next == self._runs[-1].end
                return BELIEVED if is_exact and self._is_enough_at_end(candidate) else WAITING
            answer = self._weigh_next(candidate, numbers, at_end)
            if answer != BELIEVED:
                return answer
        return BELIEVED

    def _weigh_next(self, candidate: Candidate, numbers: Numbers, at_end: bool) -> int:
        """The next unit of a chain: BELIEVED if it can be one."""
        framing, form, at = candidate.framing, candidate.form, candidate.next
        run = self._run_at(at)
        if run is None:
            return DROPPED
        is_last = run is self._runs[-1] and not at_end
        header, size = unit_sizes(framing, run.data, at - run.at)
        if header == UNKNOWN and is_last:
            candidate.need = run.end + 1
            return WAITING
        if header < 0 or size == 0:
            # Empty units exist, but rows of zeros are no sign of them.
            return DROPPED
        start = at + header - run.at
        if start + size > len(run.data) and is_last:
            candidate.need = at + header + size
            may_be = form != PLAIN or may_begin(run.data[start : start + 8], numbers)
            return WAITING if may_be else DROPPED
        bits = weigh_unit(framing, form, run.data, at - run.at, start, size, numbers)
        if bits == CONTRADICTION:
            return DROPPED
        candidate.bits += bits
        candidate.units += 1
        candidate.next = at + header + size
        return BELIEVED

    def _is_enough(self, candidate: Candidate, numbers: Numbers) -> bool:
        demand = self._demand
        if demand is AFTER_LOSS and not numbers.has_matched:
            demand = UNDECIDED
        if demand is not ON_KNOWN_LINK and not numbers.has_content:
            return False
        return candidate.bits >= demand.bits and candidate.units >= demand.units

    def _is_enough_at_end(self, candidate: Candidate) -> bool:
        """The chain reaches to the end of the stream, which few places would by chance."""
        demand, numbers = self._demand, candidate.numbers
        if not candidate.units or numbers is None:
            return False
        if demand is not ON_KNOWN_LINK and not numbers.has_content:
            return False
        bits = TO_THE_END.bits if demand is UNDECIDED else demand.bits
        return candidate.bits + PACKET_BITS >= bits


def weigh_unit(
    framing: int, form: int, data: bytes, at: int, start: int, size: int, numbers: Numbers
) -> int:
    """The bits of the unit at `at`, whose content begins at `start`, as far as it is there."""
    content = data[start : start + size]
    if framing == WEBSOCKET:
        if opcode(data, at) in (0x8, 0x9, 0xA):
            return 1
        content = unmask(data[at:start], content)
    return weigh(form, content, len(content) == size, numbers)


def _place(candidate: Candidate) -> int:
    return candidate.at
