"""Sources: whether the numbers of their publications grow, per channel."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake.columnar.intern import intern_stretches
from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.limits import RULES_OPEN_MAX
from zenlake.wire.defaults import DEFAULT_PRIORITY

_LANES: Final = 16


class Backwards(NamedTuple):
    """A row whose number is below the last one of its source."""

    row: int
    last: int


class SourceScreen:
    """The last number of each source, in each channel of each direction."""

    def __init__(self) -> None:
        self._last: dict[int, dict[tuple[bytes, int, int], int]] = {}
        """By direction, then by id, entity and channel."""

    def backwards(self, rows: Decoded) -> list[Backwards]:
        columns = rows.columns
        if not columns.has_any("source_sn"):
            return []
        pushes = rows.is_kind("PUSH/PUT", "PUSH/DEL") & (columns["source_zid_length"] != 0)
        chosen = np.flatnonzero(pushes)
        if not len(chosen):
            return []
        stretch = columns["source_zid_offset"][chosen], columns["source_zid_length"][chosen]
        entities = intern_stretches(columns.data, *stretch, columns["source_eid"][chosen])
        place = rows.owner[chosen] * len(entities.rows) + entities.ids
        name = place * _LANES + self._lanes(rows)[chosen]
        order = np.argsort(name, kind="stable")
        numbers = columns["source_sn"][chosen[order]].astype(np.int64)
        is_first = np.concatenate(([True], np.diff(name[order]) != 0))
        before = np.concatenate(([0], numbers[:-1]))
        firsts = np.flatnonzero(is_first)
        lasts = np.append(firsts[1:], len(order)) - 1
        lanes = name[order[firsts]] % _LANES
        for at, end, lane in zip(firsts.tolist(), lasts.tolist(), lanes.tolist(), strict=True):
            before[at] = self._exchange(rows, int(chosen[order[at]]), lane, int(numbers[end]))
        found = np.flatnonzero(numbers < before)
        places = zip(chosen[order[found]].tolist(), before[found].tolist(), strict=True)
        return [Backwards(row, last) for row, last in places]

    def _lanes(self, rows: Decoded) -> NDArray[np.int64]:
        """As `rules.samples.stream_of`; 0 on low latency, which has no channels."""
        priority, has_priority = rows.channel("priority")
        reliable, has_reliable = rows.channel("reliable")
        lane = np.where(has_priority, priority & 7, DEFAULT_PRIORITY) * 2 + (reliable != 0)
        found: NDArray[np.int64] = np.where(has_reliable, lane, 0)
        return found

    def _exchange(self, rows: Decoded, row: int, lane: int, number: int) -> int:
        """Stores the last number of a source in these rows; returns the last one before."""
        last = self._last.setdefault(int(rows.owner[row]), {})
        zid = rows.columns.bytes_of("source_zid", row) or b""
        name = zid, int(rows.columns["source_eid"][row]), lane
        before = last.get(name, 0)
        last[name] = number
        return before

    def is_crowded(self, pair: int) -> bool:
        """Whether there are more sources than the rules keep."""
        sizes = (len(self._last.get(owner, ())) for owner in (2 * pair, 2 * pair + 1))
        return max(sizes) > RULES_OPEN_MAX

    def forget(self, pair: int) -> None:
        self._last.pop(2 * pair, None)
        self._last.pop(2 * pair + 1, None)
