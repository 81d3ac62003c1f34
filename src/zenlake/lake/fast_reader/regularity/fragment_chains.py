"""FragmentChains: reassembles fragments and checks that each chain is exactly one message (§7)."""

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
        """Its bytes, and the overhead of its pieces, against `TRACE_FRAGMENT_BYTES_MAX`."""


class FragmentChains:
    """Chains in progress. A pair with an incomplete or malformed chain becomes irregular.

    `verdicts` has for each pair the reason why it is irregular, 0 if it is not.
    """

    def __init__(self) -> None:
        self._open: dict[int, _Chain] = {}
        self._whole: list[_Chain] = []
        self._held_bytes = 0

    def feed(
        self, pieces: NDArray[np.int64], data: NDArray[np.uint8], verdicts: NDArray[np.int64]
    ) -> None:
        """Adds fragments in their order: rows of `pieces` as `check_regularity` writes them."""
        for number, pair, start, size, more in pieces.tolist():
            chain = self._open.get(number)
            if chain is None:
                chain = self._open[number] = _Chain(pair)
            chain.parts.append(data[start : start + size].tobytes())
            chain.size += size
            chain.cost += size + PIECE_COST
            self._held_bytes += size + PIECE_COST
            if chain.size > TRACE_MESSAGE_BYTES_MAX:
                _mark_irregular(verdicts, pair)
            if not more:
                self._whole.append(self._open.pop(number))
                self._held_bytes -= chain.cost
        if self._held_bytes > TRACE_FRAGMENT_BYTES_MAX:
            self._drop_unneeded(verdicts)

    def decode_complete(self, verdicts: NDArray[np.int64], least_bytes: int = 0) -> None:
        """Decodes the completed chains if they have `least_bytes` together."""
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
            _mark_irregular(verdicts, whole[index].pair)

    def _drop_unneeded(self, verdicts: NDArray[np.int64]) -> None:
        """Drops chains of irregular pairs; all chains if the limit is still exceeded."""
        for number, chain in list(self._open.items()):
            if verdicts[chain.pair]:
                self._held_bytes -= chain.cost
                del self._open[number]
        if self._held_bytes > TRACE_FRAGMENT_BYTES_MAX:
            for chain in self._open.values():
                _mark_irregular(verdicts, chain.pair)
            self._open.clear()
            self._held_bytes = 0


def _mark_irregular(verdicts: NDArray[np.int64], pair: int) -> None:
    if not verdicts[pair]:
        verdicts[pair] = reasons.FRAGMENTS
