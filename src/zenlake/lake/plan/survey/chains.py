"""Chains: fragments put together, to see that each chain is one message to its last byte (§7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zenlake.capture.byte_ranges import PIECE_COST
from zenlake.columnar.decoding import decode
from zenlake.columnar.forms import NETWORK
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.limits import TRACE_FRAGMENT_BYTES_MAX, TRACE_MESSAGE_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Chain:
    __slots__ = ("cost", "pair", "parts", "size")

    def __init__(self, pair: int) -> None:
        self.pair = pair
        self.parts: list[bytes] = []
        self.size = 0
        self.cost = 0
        """What it takes of the memory allowed."""


class Chains:
    """Those in progress; pairs whose chains are not what they should be become irregular.

    Why pairs are irregular is in `verdicts`, 0 for those that are not.
    """

    def __init__(self) -> None:
        self._open: dict[int, _Chain] = {}
        self._whole: list[_Chain] = []
        self._held_bytes = 0

    def take(
        self, pieces: NDArray[np.int64], data: NDArray[np.uint8], verdicts: NDArray[np.int64]
    ) -> None:
        """Fragments in their order, as `conversation.check_regularity` gives them."""
        for number, pair, start, size, more in pieces.tolist():
            chain = self._open.get(number)
            if chain is None:
                chain = self._open[number] = _Chain(pair)
            chain.parts.append(data[start : start + size].tobytes())
            chain.size += size
            chain.cost += size + PIECE_COST
            self._held_bytes += size + PIECE_COST
            if chain.size > TRACE_MESSAGE_BYTES_MAX:
                _leave(verdicts, pair)
            if not more:
                self._whole.append(self._open.pop(number))
                self._held_bytes -= chain.cost
        if self._held_bytes > TRACE_FRAGMENT_BYTES_MAX:
            self._forget(verdicts)

    def settle(self, verdicts: NDArray[np.int64], least_bytes: int = 0) -> None:
        """Look at those that became whole, where that is worth while."""
        if sum(chain.size for chain in self._whole) < max(least_bytes, 1):
            return
        whole, self._whole = self._whole, []
        bounds = np.zeros(len(whole) + 1, np.int64)
        np.cumsum([chain.size for chain in whole], out=bounds[1:])
        columns = decode(b"".join(part for one in whole for part in one.parts), bounds, NETWORK)
        is_bad = columns.failures != 0
        units = columns["unit"]
        is_bad[units[columns["length"] != np.diff(bounds)[units]]] = True
        for index in np.flatnonzero(is_bad).tolist():
            _leave(verdicts, whole[index].pair)

    def _forget(self, verdicts: NDArray[np.int64]) -> None:
        """What nobody needs any more; and all, where it is still more than may wait."""
        for number, chain in list(self._open.items()):
            if verdicts[chain.pair]:
                self._held_bytes -= chain.cost
                del self._open[number]
        if self._held_bytes > TRACE_FRAGMENT_BYTES_MAX:
            for chain in self._open.values():
                _leave(verdicts, chain.pair)
            self._open.clear()
            self._held_bytes = 0


def _leave(verdicts: NDArray[np.int64], pair: int) -> None:
    if not verdicts[pair]:
        verdicts[pair] = reasons.FRAGMENTS
