"""Scanner: finds the next unit in a stream whose framing is lost.

It keeps the last bytes, with the holes between them, and tries every place where a unit may
begin. A place is accepted once the chain of units from there is enough evidence, and dropped at
the first contradiction; otherwise it waits for the bytes of its next unit. Nothing is decoded
before that, so no message is invented.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Final

from zenlake.limits import TRACE_CANDIDATES_MAX, TRACE_SCAN_BYTES_MAX
from zenlake.trace.links.evidence import (
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
from zenlake.trace.links.patterns import PATTERN_BYTES, may_go_on, pattern
from zenlake.trace.links.units import PLAIN, SHORT, UNKNOWN, WEBSOCKET, unit_sizes
from zenlake.trace.links.websocket import opcode, unmask
from zenlake.wire.defaults import DEFAULT_SN_MASK

_RELAX_BYTES: Final = 1 << 13
"""After a search of this many bytes, sequence numbers from before the loss are ignored."""
_RELAX_LONG_BYTES: Final = 1 << 18
"""The number of bytes for long numbers, which mislead less often."""

BELIEVED: Final = 1
WAITING: Final = 0
DROPPED: Final = -1


class Candidate:
    """A place where a unit may begin, and the state of the chain of units from there."""

    __slots__ = ("at", "bits", "form", "framing", "need", "next", "numbers", "units")

    def __init__(self, at: int, framing: int, form: int) -> None:
        self.at = at
        self.framing = framing
        self.form = form
        self.next = at
        """Where the next unit of the chain begins."""
        self.need = 0
        """The place up to which bytes are needed to decide."""
        self.bits = 0
        self.units = 0
        self.numbers: Numbers | None = None


class Piece:
    """Bytes at a place of the stream, and the packet that carried them."""

    __slots__ = ("at", "data", "packet", "time_ns")

    def __init__(self, at: int, data: bytes, packet: int, time_ns: int) -> None:
        self.at = at
        self.data = data
        self.packet = packet
        self.time_ns = time_ns


class Run:
    """Bytes without a hole."""

    __slots__ = ("at", "data", "tried")

    def __init__(self, at: int) -> None:
        self.at = at
        self.data = b""
        self.tried = 0

    @property
    def end(self) -> int:
        return self.at + len(self.data)


class Scanner:
    """Feed it bytes and holes; `find` returns the place that is accepted."""

    __slots__ = (
        "_before",
        "_demand",
        "_fresh",
        "_gate",
        "_mask",
        "_modes",
        "_order",
        "_run_starts",
        "_runs",
        "_starts",
        "_waiting",
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
        if not mask and any(0 <= last < 1 << 14 for last in before.values()):
            # Sequence numbers of 7 or 14 bits may have wrapped around by now.
            before = {}
        self._before = before
        self._mask = mask
        self._gate = Numbers(before, mask)
        self._runs: list[Run] = [Run(0)]
        self._run_starts = [0]
        self._fresh: list[Candidate] = []
        self._waiting: list[tuple[int, int, Candidate]] = []
        """A heap, by the place up to which each candidate needs bytes."""
        self._order = 0
        self._starts: set[int] = set()
        self.pieces: deque[Piece] = deque()
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
        if self._before:
            is_long = self._mask in (0, DEFAULT_SN_MASK)
            if self.scanned_bytes > (_RELAX_LONG_BYTES if is_long else _RELAX_BYTES):
                self._relax()
        self._add_candidates(run, False)
        if self.held_bytes > TRACE_SCAN_BYTES_MAX:
            while self.held_bytes > TRACE_SCAN_BYTES_MAX // 2 and len(self.pieces) > 1:
                self._drop_first()
            self._cut_runs()

    def gap(self, missing_bytes: int, cause: str) -> None:
        """Adds a hole of `missing_bytes` bytes."""
        self.is_cut = cause == "snaplen"
        self._add_candidates(self._runs[-1], True)
        at = self._runs[-1].end + missing_bytes
        self._runs.append(Run(at))
        self._run_starts.append(at)

    def find(self, at_end: bool = False) -> Candidate | None:
        """The first place with enough evidence, if any. `at_end`: the stream has ended."""
        if at_end:
            self._add_candidates(self._runs[-1], True)
        ready, self._fresh = self._fresh, []
        waiting, end = self._waiting, self._runs[-1].end
        while waiting and (at_end or waiting[0][0] <= end):
            ready.append(heappop(waiting)[2])
        ready.sort(key=attrgetter("at"))
        first = self._run_starts[0]
        for candidate in ready:
            if candidate.at < first:
                continue
            answer = self._weigh(candidate, at_end)
            if answer == BELIEVED:
                return candidate
            if answer == WAITING:
                self._order += 1
                heappush(waiting, (candidate.need, self._order, candidate))
        if len(waiting) > TRACE_CANDIDATES_MAX:
            self._thin_out()
        return None

    def _thin_out(self) -> None:
        """Keeps the likeliest candidates: those that begin with a packet, then the latest."""
        starts = self._starts
        waiting = sorted(self._waiting, key=lambda one: (one[2].at in starts, one[2].at))
        self._waiting = waiting[-TRACE_CANDIDATES_MAX:]
        heapify(self._waiting)

    def _relax(self) -> None:
        """Ignores the numbers from before the loss: more was lost, or their resolution is wrong."""
        self._before = {}
        self._gate = Numbers({}, self._mask)
        self._demand = UNDECIDED
        self._fresh = []
        self._waiting = []
        for run in self._runs:
            run.tried = 0
            if run is not self._runs[-1]:
                self._add_candidates(run, True)

    def _add_candidates(self, run: Run, at_end: bool) -> None:
        """Adds places in bytes not tried yet; the last bytes may be too few for a pattern."""
        stop = len(run.data) if at_end else len(run.data) - PATTERN_BYTES
        if stop <= run.tried:
            return
        data, gate = run.data, self._gate
        for mode in self._modes:
            framing, form = mode
            found, offset = pattern(mode)
            is_gated = form == PLAIN and framing == SHORT and bool(gate.before)
            for match in found.finditer(data, run.tried + offset):
                start = match.start() - offset
                if start >= stop:
                    break
                header, size = unit_sizes(framing, data, start)
                if header < 0 or not may_go_on(framing, form, data, start + header + size):
                    continue
                if is_gated and not may_begin(data[start + 2 : start + 12], gate):
                    continue
                self._fresh.append(Candidate(run.at + start, framing, form))
        run.tried = stop

    def _drop_first(self) -> None:
        piece = self.pieces.popleft()
        self.held_bytes -= len(piece.data)
        self.dropped_bytes += len(piece.data)
        self._starts.discard(piece.at)

    def _cut_runs(self) -> None:
        """Drops the bytes before the first piece that is kept."""
        first = self.pieces[0].at
        while len(self._runs) > 1 and self._runs[0].end <= first:
            del self._runs[0]
            del self._run_starts[0]
        run = self._runs[0]
        size = max(first - run.at, 0)
        run.data = run.data[size:]
        run.at += size
        run.tried = max(run.tried - size, 0)
        self._run_starts[0] = run.at

    def _run_at(self, at: int) -> Run | None:
        index = bisect_right(self._run_starts, at) - 1
        if index < 0:
            return None
        run = self._runs[index]
        return run if at < run.end else None

    def _weigh(self, candidate: Candidate, at_end: bool) -> int:
        """Continues the chain of a candidate; returns BELIEVED, WAITING or DROPPED."""
        numbers = candidate.numbers
        if numbers is None:
            numbers = candidate.numbers = Numbers(self._before, self._mask)
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
        """Weighs the next unit of a chain; BELIEVED if the bytes can be a unit."""
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
            # Empty units exist, but runs of zeros are no evidence for them.
            return DROPPED
        start = at + header - run.at
        if start + size > len(run.data) and is_last:
            candidate.need = at + header + size
            may_be = form != PLAIN or may_begin(run.data[start : start + 10], numbers)
            return WAITING if may_be else DROPPED
        if not may_go_on(framing, form, run.data, start + size):
            return DROPPED
        bits = _weigh_unit(framing, form, run.data, at - run.at, start, size, numbers)
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
        bits = candidate.bits
        if demand is not ON_KNOWN_LINK:
            if not numbers.has_content:
                return False
            bits -= numbers.small_bits
        return bits >= demand.bits and candidate.units >= demand.units

    def _is_enough_at_end(self, candidate: Candidate) -> bool:
        """Weighs a chain that ends exactly at the end of the stream, which is rare by chance."""
        demand, numbers = self._demand, candidate.numbers
        if not candidate.units or numbers is None:
            return False
        if demand is not ON_KNOWN_LINK and not numbers.has_content:
            return False
        bits = TO_THE_END.bits if demand is UNDECIDED else demand.bits
        return candidate.bits + PACKET_BITS >= bits


def _weigh_unit(
    framing: int, form: int, data: bytes, at: int, start: int, size: int, numbers: Numbers
) -> int:
    """The bits of the unit at `at`, whose content begins at `start` and may be incomplete."""
    content = data[start : start + size]
    if framing == WEBSOCKET:
        if opcode(data, at) in (0x8, 0x9, 0xA):
            return 1
        content = unmask(data[at:start], content)
    return weigh(form, content, len(content) == size, numbers)
