"""CapturePass: one pass over a capture, a stretch of packets at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zenlake.lake.fast_reader.assemble.assemble_kernel import INIT_SEEN_WORDS, assemble_packets
from zenlake.lake.fast_reader.assemble.batches import (
    COUNTERS,
    FORWARDED,
    INITS_SEEN,
    OTHERS,
    PAIRS,
    UNIT_BYTES,
    UNITS,
    Batches,
    empty_batches,
)
from zenlake.lake.fast_reader.assemble.held_batches import HeldBatches
from zenlake.lake.fast_reader.assemble.pairs import ASSEMBLE, Pairs
from zenlake.lake.fast_reader.assemble.segment import SEGMENT_WORDS
from zenlake.lake.fast_reader.scan.capture_file import Refusal, scan_of
from zenlake.lake.fast_reader.scan.file_window import FileWindow, changed
from zenlake.lake.fast_reader.scan.packets import ROWS, empty_packets
from zenlake.lake.fast_reader.scan.statuses import CAUSES, CUT, END, FULL
from zenlake.limits import FAST_READER_HELD_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.regularity.survey import Survey
    from zenlake.lake.fast_reader.scan.capture_file import Scan

CHUNK_BYTES: Final = 4 << 20
"""Bytes of the file in one chunk."""
BATCH_BYTES_PER_CHUNK: Final = 16 << 20
"""Of batches in one chunk, however large. Later steps take several times as much memory."""
CHUNK_UNITS: Final = 262_144
PAIRS_MAX: Final = 1 << 20
"""Each takes some hundred bytes. A capture with more is left to the exact reader."""
_NO_PAIRS: Final = np.zeros(0, np.uint8)
INITS_SEEN_MAX: Final = 1 << 22
"""INITs that are kept; a connection has two."""


class Range(NamedTuple):
    """A part of the file, from one record to another."""

    start: int
    stop: int
    number: int
    """Number of its first packet."""
    packets: int


class SurveyedRanges(NamedTuple):
    """Facts of a survey for a later pass: what to read, and which pairs to skip."""

    ranges: Sequence[Range]
    specials: NDArray[np.int64]
    """The blocks of pcapng that packets depend on."""
    pair_of: NDArray[np.int32]
    """The pair of each packet of the ranges, or `NO_PAIR`, or `OTHER_TASK`."""
    is_skipped: NDArray[np.uint8]
    """1 for each pair that this pass does not read."""


class CapturePass:
    """The packets and batches of the current stretch, and totals of the pass."""

    def __init__(
        self,
        window: FileWindow,
        scan: Scan,
        pairs: Pairs,
        chunk_bytes: int = CHUNK_BYTES,
        known: SurveyedRanges | None = None,
        with_other: bool = False,
        first_role: int = ASSEMBLE,
        is_check: bool = False,
    ) -> None:
        """A survey, unless the survey is `known`."""
        self.window = window
        self.pairs = pairs
        self.packets = empty_packets(ROWS)
        self.number = scan.first_number
        """Number of the first packet in `packets`."""
        self.counters = np.zeros(COUNTERS, np.int64)
        self.counters[PAIRS] = pairs.count
        self.forwarded = np.zeros(ROWS, np.int64)
        self.inits_seen = np.zeros((1_024, INIT_SEEN_WORDS), np.int64)
        self.problem = scan.problem
        """Why the file is left to the exact reader; empty if it is not."""
        self.cut_bytes = 0
        """Bytes of an incomplete last record."""
        self.first_ns = self.last_ns = 0
        self.scan = scan
        self._is_survey = is_survey = known is None
        self._is_check = is_survey or is_check
        self._first_role = first_role
        self.is_memory_limit = False
        """Whether the problem is a limit of memory, and not the file itself."""
        self._with_other = with_other
        self._chunk_bytes = max(chunk_bytes, 1)
        self._chunk_stop = 0
        self._row = self._count = 0
        self._segment = np.zeros(SEGMENT_WORDS, np.int64)
        self._known = known
        whole = Range(scan.at, window.size, scan.first_number, 0)
        self._ranges = iter([whole] if known is None else known.ranges)
        self._range = Range(scan.at, scan.at, scan.first_number, 0)
        self.marks: list[tuple[int, int]] = []
        """Start of each stretch of a survey: offset, and number of its first packet."""
        self.packets_seen = 0
        self._pair_of = np.zeros(ROWS if is_survey else 0, np.int32)
        self._earlier_pair_of: list[NDArray[np.int32]] = []
        self._ended = bool(self.problem)
        self.held = HeldBatches(self.counters)
        self.batches: Batches = self.new_batches()

    def new_batches(self) -> Batches:
        return empty_batches(CHUNK_UNITS, self._chunk_bytes)

    @property
    def units(self) -> int:
        return int(self.counters[UNITS])

    @property
    def packet_count(self) -> int:
        """Without the state at the start of a recording."""
        return max(self.number - 1 + self._count, 0)

    def begin_chunk(self) -> None:
        """Starts a chunk; its batches overwrite those of the last one."""
        self.counters[[UNITS, UNIT_BYTES]] = 0
        self._chunk_stop = self.scan.at + self._chunk_bytes

    @property
    def is_chunk_over(self) -> bool:
        """Whether the chunk has enough bytes of the file, or enough batches."""
        is_full = self._row < self._count or self.counters[UNIT_BYTES] >= BATCH_BYTES_PER_CHUNK
        return is_full or self.scan.at >= self._chunk_stop

    def read_packets(self) -> bool:
        """Reads a stretch of packets; False at the end, or if there is a problem.

        Its batches are added to the chunk. The rows in `forwarded` are valid until the next call.
        """
        counters, pairs = self.counters, self.pairs
        counters[FORWARDED] = 0
        if self._row == self._count and not self._fill():
            return False
        while True:
            status, self._row = assemble_packets(
                self.window.data,
                self.packets,
                self._row,
                self._count,
                self.number,
                pairs.keys,
                pairs.slots,
                pairs.seed,
                pairs.state,
                counters,
                self.held.extents,
                self.batches,
                self.forwarded,
                self.inits_seen,
                self._segment,
                self._pair_of,
                _NO_PAIRS if self._known is None else self._known.is_skipped,
                self._first_role,
                self._is_survey,
                self._with_other,
            )
            pairs.count = int(counters[PAIRS])
            if status == END:
                return True
            if status != FULL:
                return self._stop(CAUSES[status])
            if not self._make_room():
                return not self.problem

    def _fill(self) -> bool:
        """Scans the next packets of the file."""
        if self._ended:
            return False
        if self._is_survey:
            self._earlier_pair_of.append(self._pair_of[: self._count].copy())
        # Later passes hold no more than the check of the same pairs, so they are not limited.
        if self._is_check and self.held.size > FAST_READER_HELD_BYTES_MAX:
            return self._stop("unfinished batches take too much memory", True)
        self.number += self._count
        self._row = self._count = 0
        if self.scan.at >= self._range.stop and not self._next_range():
            return False
        if self._is_survey:
            self.marks.append((self.scan.at, self.number))
        status, self._count = self._scan_loaded()
        if status == END:
            self._ended = True
        elif status == CUT:
            self._ended = True
            if not self.scan.is_growing:
                self.cut_bytes = self.window.size - self.scan.at
            if self.cut_bytes and self.scan.may_resume():
                return self._stop("it is cut, and something may lie behind")
        elif status != FULL:
            return self._stop(self.scan.problem or CAUSES[status])
        first, self.packets_seen = self.packets_seen, self.packets_seen + self._count
        if self._known is not None:
            self._pair_of = self._known.pair_of[first : self.packets_seen]
            if len(self._pair_of) < self._count:
                return self._stop("it has more packets than were surveyed")
        if self._count:
            # Row of packet 1: those before are the state of a recording.
            row = 1 - self.number
            if 0 <= row < self._count:
                self.first_ns = int(self.packets.time_ns[row])
            if row < self._count:
                self.last_ns = int(self.packets.time_ns[self._count - 1])
        return True

    def _next_range(self) -> bool:
        """Moves to the next range, if there is one."""
        last, scan = self._range, self.scan
        is_whole = self._known is None or self.number == last.number + last.packets
        if scan.at != last.stop or not is_whole:
            return self._stop("it has other records than were surveyed")
        following = next(self._ranges, None)
        if following is None:
            self._ended = True
            return False
        self._range = following
        self._chunk_stop += following.start - scan.at
        self.number = following.number
        if self._known is not None and not scan.seek(following.start, self._known.specials):
            return self._stop("it has other interfaces than were surveyed")
        return True

    def _scan_loaded(self) -> tuple[int, int]:
        """Scans loaded bytes; loads more if they hold no complete record."""
        window, scan = self.window, self.scan
        stop = min(self._chunk_stop, self._range.stop)
        while True:
            status, count = scan.fill(self.packets, stop)
            if status not in (END, CUT) or window.is_at_end:
                return status, count
            if count or scan.at >= stop:
                return FULL, count
            window.load(scan.at, self.held)

    def _make_room(self) -> bool:
        """Grows the arrays that are full; False if only the batches of the chunk are full."""
        counters = self.counters
        made = False
        if counters[PAIRS] == self.pairs.room:
            if self.pairs.room >= PAIRS_MAX:
                return self._stop("there are too many connections")
            self.pairs.grow(PAIRS_MAX)
            made = True
        if not self.held.has_room:
            if not self.held.grow():
                return self._stop("there are too many unfinished batches", True)
            made = True
        if counters[INITS_SEEN] == len(self.inits_seen):
            if len(self.inits_seen) >= INITS_SEEN_MAX:
                return self._stop("there are too many INITs")
            self.inits_seen = np.vstack((self.inits_seen, np.zeros_like(self.inits_seen)))
            made = True
        return made

    def _stop(self, problem: str, is_memory_limit: bool = False) -> bool:
        self.problem = problem
        self.is_memory_limit = is_memory_limit
        self._ended = True
        self._row = self._count
        return False

    @property
    def others(self) -> int:
        return int(self.counters[OTHERS])

    def pair_of(self) -> NDArray[np.int32]:
        """The pair of each surveyed packet, or `NO_PAIR`."""
        return np.concatenate((*self._earlier_pair_of, self._pair_of[: self._count]))

    def init_rows(self) -> NDArray[np.int64]:
        return self.inits_seen[: int(self.counters[INITS_SEEN])]


def second_pass(
    window: FileWindow,
    survey: Survey,
    pairs: Pairs,
    wanted: NDArray[np.bool_],
    chunk_bytes: int,
    with_other: bool = False,
    is_check: bool = False,
) -> CapturePass:
    """A pass over the wanted pairs of a surveyed capture; an error if the file has changed."""
    scan = scan_of(window, False) if window.has_size(survey.size_bytes) else None
    if scan is None or isinstance(scan, Refusal) or not survey.is_of(scan):
        raise changed(window.path, 0)
    ranges = [Range(*row) for row in survey.ranges.tolist()]
    known = SurveyedRanges(ranges, survey.specials, survey.pair_of, (~wanted).astype(np.uint8))
    return CapturePass(window, scan, pairs, chunk_bytes, known, with_other, is_check=is_check)
