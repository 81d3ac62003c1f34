"""Sequence numbers that are skipped after the last fragment, as deployed nodes always do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.wire.defaults import DEFAULT_PRIORITY


class Skipped(NamedTuple):
    """A FRAME or FRAGMENT whose number does not follow that of the last fragment."""

    row: int
    last: int
    channel: int
    """The lower bits of its channel: priority and reliability."""


class FragmentScreen:
    """For each channel the number of a last fragment, until another message follows."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}

    def skipped(self, rows: Decoded) -> list[Skipped]:
        is_fragment = rows.is_kind("FRAGMENT")
        if not self._last and not is_fragment.any():
            return []
        waiting = np.array([channel >> 4 for channel in self._last], np.int64)
        owners = np.concatenate((np.unique(rows.owner[is_fragment]), waiting))
        chosen = np.flatnonzero((is_fragment | rows.is_kind("FRAME")) & np.isin(rows.owner, owners))
        columns = rows.columns
        is_part = (columns["fragment_more"][chosen] != 0) | (columns["fragment_drop"][chosen] != 0)
        is_last = is_fragment[chosen] & ~is_part
        sns = columns["sn"][chosen].tolist()
        channels = _channels(rows, chosen).tolist()
        found = []
        for row, channel, sn, ends in zip(
            chosen.tolist(), channels, sns, is_last.tolist(), strict=True
        ):
            last = self._last.pop(channel, None)
            if last is not None and sn != last + 1:
                found.append(Skipped(row, last, channel & 15))
            if ends:
                self._last[channel] = sn
        return found


def _channels(rows: Decoded, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Direction, priority and reliability in one number."""
    columns = rows.columns
    priority = np.where(rows.present("priority"), columns["priority"] & 7, DEFAULT_PRIORITY)[chosen]
    channel = rows.owner[chosen] << 4 | priority.astype(np.int64) << 1
    found: NDArray[np.int64] = channel | (columns["reliable"][chosen] != 0)
    return found
