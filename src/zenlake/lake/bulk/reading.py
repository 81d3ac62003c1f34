"""Reading: one pass over a capture, a stretch of packets at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zenlake.lake.bulk.advance import SIGHT_WORDS, advance
from zenlake.lake.bulk.batches import (
    COUNTERS,
    EXTENTS_MAX,
    FREE,
    HANDED,
    OTHERS,
    PAIRS,
    SIGHTED,
    UNIT_BYTES,
    UNITS,
    Batches,
    Extents,
    empty_batches,
    more_extents,
)
from zenlake.lake.bulk.packets import ROWS, empty_packets
from zenlake.lake.bulk.pairs import Pairs
from zenlake.lake.bulk.segment import SEGMENT_WORDS
from zenlake.lake.bulk.statuses import CAUSES, CUT, END, FULL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.bulk.pcap_scan import PcapScan
    from zenlake.lake.bulk.pcapng_scan import PcapngScan

CHUNK_BYTES: Final = 4 << 20
"""Of the file, in one stretch: what a cache holds."""
CHUNK_UNITS: Final = 262_144
PAIRS_MAX: Final = 1 << 20
"""Each takes some hundred bytes; a capture with more is read on the scalar road."""
_NOBODY: Final = np.zeros(0, np.uint8)
SIGHTINGS_MAX: Final = 1 << 22
"""INITs that are remembered; a connection has two."""


class Known(NamedTuple):
    """What a survey tells a second reading of packets that it need not look at."""

    pair_of: NDArray[np.int32]
    """For each packet the pair it is of, or -1."""
    passes: NDArray[np.uint8]
    """For each pair 1 where its packets are left to others."""


class Reading:
    """What was found in the stretch of packets read last, and on the whole."""

    def __init__(
        self,
        data: NDArray[np.uint8],
        scan: PcapScan | PcapngScan,
        pairs: Pairs,
        is_survey: bool,
        with_other: bool = False,
        chunk_bytes: int = CHUNK_BYTES,
        known: Known | None = None,
    ) -> None:
        self.data = data
        self.pairs = pairs
        self.packets = empty_packets(ROWS)
        self.number = 1
        """Of the first packet in `packets`."""
        self.counters = np.zeros(COUNTERS, np.int64)
        self.counters[PAIRS] = pairs.count
        self.handed = np.zeros(ROWS, np.int64)
        self.sighted = np.zeros((1_024, SIGHT_WORDS), np.int64)
        self.problem = scan.problem
        """Why the file is left to the scalar road."""
        self.cut_bytes = 0
        """What is left of a record that the file ends in."""
        self.first_ns = self.last_ns = 0
        self._scan = scan
        self._is_survey = is_survey
        self._with_other = with_other
        self._chunk_bytes = max(chunk_bytes, 1)
        self._row = self._count = 0
        self._segment = np.zeros(SEGMENT_WORDS, np.int64)
        self._known = known
        self._pair_of = np.zeros(ROWS if is_survey else 0, np.int32)
        self._told: list[NDArray[np.int32]] = []
        self._ended = bool(self.problem)
        self._extents: Extents = more_extents(None, self.counters)
        self.batches: Batches = self.new_batches()

    def new_batches(self) -> Batches:
        return empty_batches(CHUNK_UNITS, self._chunk_bytes)

    @property
    def units(self) -> int:
        return int(self.counters[UNITS])

    @property
    def packet_count(self) -> int:
        return self.number - 1 + self._count

    def advance(self) -> bool:
        """Read a stretch; False if there is none, because of the end or of a problem."""
        counters, pairs = self.counters, self.pairs
        counters[[UNITS, UNIT_BYTES, HANDED]] = 0
        if self._row == self._count and not self._fill():
            return False
        while True:
            status, self._row = advance(
                self.data,
                self.packets,
                self._row,
                self._count,
                self.number,
                pairs.keys,
                pairs.slots,
                pairs.seed,
                pairs.state,
                counters,
                self._extents,
                self.batches,
                self.handed,
                self.sighted,
                self._segment,
                self._pair_of,
                _NOBODY if self._known is None else self._known.passes,
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
        """The next packets of the file."""
        if self._ended:
            return False
        self._told += [self._pair_of[: self._count].copy()] if self._is_survey else []
        self.number += self._count
        self._row = 0
        stop = min(self._scan.at + self._chunk_bytes, len(self.data))
        status, self._count = self._scan.fill(self.packets, stop)
        if status == END:
            self._ended = True
        elif status == CUT:
            self._ended = True
            self.cut_bytes = len(self.data) - self._scan.at
            if self._scan.may_go_on():
                return self._stop("it is cut, and something may lie behind")
        elif status != FULL:
            return self._stop(self._scan.problem or CAUSES[status])
        if self._known is not None:
            first = self.number - 1
            self._pair_of = self._known.pair_of[first : first + self._count]
            if len(self._pair_of) < self._count:
                return self._stop("it has more packets than were surveyed")
        if self._count:
            if self.number == 1:
                self.first_ns = int(self.packets.time_ns[0])
            self.last_ns = int(self.packets.time_ns[self._count - 1])
        return True

    def _make_room(self) -> bool:
        """Whether it was not for the batches that there was no room, and now there is."""
        counters = self.counters
        made = False
        if counters[PAIRS] == self.pairs.room:
            if self.pairs.room >= PAIRS_MAX:
                return self._stop("there are too many connections")
            self.pairs.grow(PAIRS_MAX)
            made = True
        if not counters[FREE]:
            if len(self._extents.start) >= EXTENTS_MAX:
                return self._stop("there are too many unfinished batches")
            self._extents = more_extents(self._extents, counters)
            made = True
        if counters[SIGHTED] == len(self.sighted):
            if len(self.sighted) >= SIGHTINGS_MAX:
                return self._stop("there are too many INITs")
            self.sighted = np.vstack((self.sighted, np.zeros_like(self.sighted)))
            made = True
        return made

    def _stop(self, problem: str) -> bool:
        self.problem = problem
        self._ended = True
        self._row = self._count
        return False

    @property
    def others(self) -> int:
        return int(self.counters[OTHERS])

    def pair_of(self) -> NDArray[np.int32]:
        """For each packet that was surveyed the pair it is of, or -1."""
        return np.concatenate((*self._told, self._pair_of[: self._count]))

    def sightings(self) -> NDArray[np.int64]:
        return self.sighted[: int(self.counters[SIGHTED])]
