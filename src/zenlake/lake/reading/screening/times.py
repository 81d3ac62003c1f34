"""Silences of many connections, and numbers that sources give."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from zenlake.lake.reading.columns.decoded import Decoded
from zenlake.lake.reading.screening.terms import Terms

_NEVER: Final = -1


class SilenceScreen:
    """When each direction was heard last."""

    def __init__(self, pairs: int) -> None:
        self._last_ns = np.full(2 * pairs, _NEVER, np.int64)

    def doubtful(self, rows: Decoded, terms: Terms) -> NDArray[np.int64]:
        """Pairs of which a direction was silent for long."""
        units = np.flatnonzero(rows.is_batch)
        owners = rows.units.pair[units].astype(np.int64) * 2 + rows.units.direction[units]
        order = np.argsort(owners, kind="stable")
        owners, times = owners[order], rows.units.time_ns[units][order]
        if not len(owners):
            return owners
        is_first = np.concatenate(([True], owners[1:] != owners[:-1]))
        before = np.concatenate(([0], times[:-1]))
        known = self._last_ns[owners]
        before = np.where(is_first, np.where(known == _NEVER, times, known), before)
        is_long = times - before > terms.silence_ns(owners)
        np.maximum.at(self._last_ns, owners, times)
        found: NDArray[np.int64] = np.unique(owners[is_long] >> 1)
        return found

    def is_doubtful(self, pair: int, terms: Terms) -> bool:
        """A connection ends: whether one side went on though the other was silent."""
        times: list[int] = self._last_ns[2 * pair : 2 * pair + 2].tolist()
        return abs(times[0] - times[1]) > terms.shorter_silence_ns(pair)


class SourceScreen:
    """The last number of each source, in each channel."""

    def __init__(self) -> None:
        self._last: dict[int, dict[tuple[bytes, int, int], int]] = {}
        """By the direction it is sent in."""

    def doubtful(self, rows: Decoded) -> list[int]:
        """Rows with a number below the one before."""
        columns = rows.columns
        if not columns.has_any("source_sn"):
            return []
        pushes = rows.is_kind("PUSH/PUT", "PUSH/DEL") & (columns["source_zid_length"] != 0)
        priority, has_priority = rows.channel("priority")
        reliable, has_reliable = rows.channel("reliable")
        lane = np.where(has_priority, priority & 7, 5) * 2 + (reliable != 0)
        lane = np.where(has_reliable, lane, 0)
        found = []
        for row in np.flatnonzero(pushes).tolist():
            zid = columns.bytes_of("source_zid", row) or b""
            last = self._last.setdefault(int(rows.owner[row]), {})
            place = zid, int(columns["source_eid"][row]), int(lane[row])
            number = int(columns["source_sn"][row])
            if number < last.get(place, 0):
                found.append(row)
            last[place] = number
        return found

    def forget(self, pair: int) -> None:
        self._last.pop(2 * pair, None)
        self._last.pop(2 * pair + 1, None)
