"""RegularityCheck: checks the messages of pairs, stretch by stretch of the capture.

A thread checks one stretch while the next one is cut into batches.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.batches import LAST_CLOSE, Batches, decodable
from zenlake.lake.fast_reader.assemble.pairs import REASON, ROLE, SKIP
from zenlake.lake.fast_reader.regularity.fragment_chains import FragmentChains
from zenlake.lake.fast_reader.regularity.message_rows import MessageRows
from zenlake.lake.fast_reader.regularity.regularity_kernel import (
    PIECE_WORDS,
    SESSION_WORDS,
    check_regularity,
    codes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.assemble.capture_pass import CapturePass
    from zenlake.lake.fast_reader.assemble.pairs import Pairs

_DECODED_BYTES_MIN: Final = 1 << 20
"""Reassembled messages are decoded when there are so many bytes of them."""


class RegularityCheck:
    """`sessions` has a row for each pair, with the fields that `regularity_kernel` declares."""

    def __init__(self) -> None:
        self.sessions = np.zeros((0, SESSION_WORDS), np.int64)
        self._verdicts = np.zeros(0, np.int64)
        """For each pair the reason why this check found it irregular, or 0."""
        self._rows = MessageRows()
        self._chains = FragmentChains()
        self._last_chain = 0
        self._pieces = np.zeros((0, PIECE_WORDS), np.int64)

    def make_room(self, pairs: Pairs) -> None:
        missing = pairs.room - len(self.sessions)
        if missing:
            more = np.zeros((missing, SESSION_WORDS), np.int64)
            self.sessions = np.vstack((self.sessions, more))
            self._verdicts = np.append(self._verdicts, np.zeros(missing, np.int64))

    def check_units(
        self, batches: Batches, units: int, state: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Checks units, which must not change meanwhile; returns their pairs.

        Reads only those fields of `state` that do not change after the first batch of a pair.
        """
        bounds = np.zeros(units + 1, np.int64)
        bounds[1:] = batches.stop[:units]
        forms, failures = batches.form[:units], np.zeros(units, np.int64)
        verdicts = self._verdicts
        for rows in self._rows.read(batches.data, bounds, decodable(forms), failures):
            if len(self._pieces) < len(rows.kind):
                self._pieces = np.zeros((len(rows.kind), PIECE_WORDS), np.int64)
            count, self._last_chain = check_regularity(
                rows,
                batches,
                codes(),
                state,
                self.sessions,
                verdicts,
                self._pieces,
                self._last_chain,
            )
            if count:
                self._chains.feed(self._pieces[:count], batches.data, verdicts)
        self._chains.decode_complete(verdicts, _DECODED_BYTES_MIN)
        found = batches.pair[:units]
        malformed = found[(failures != 0) & (forms != LAST_CLOSE)]
        verdicts[malformed[verdicts[malformed] == reasons.NONE]] = reasons.MALFORMED
        return np.unique(found)

    def exchange_verdicts(self, pairs: Pairs, those: NDArray[np.int32]) -> NDArray[np.int32]:
        """Exchanges reasons with the pass over the capture: irregular pairs are skipped by both.

        Returns the pairs that the pass did not know to be irregular.
        """
        state, verdicts = pairs.state, self._verdicts
        reason = state[those, REASON]
        found: NDArray[np.int32] = those[(verdicts[those] != 0) & (reason == 0)]
        state[found, REASON] = verdicts[found]
        state[found, ROLE] = SKIP
        verdicts[those] = state[those, REASON]
        return found

    def finish(self, pairs: Pairs) -> None:
        self.make_room(pairs)
        self._chains.decode_complete(self._verdicts)
        self.exchange_verdicts(pairs, np.arange(pairs.count, dtype=np.int32))


def check_pass(capture_pass: CapturePass) -> NDArray[np.int64]:
    """Reads the whole capture and checks it; the rows of `RegularityCheck.sessions`."""
    pairs, check = capture_pass.pairs, RegularityCheck()
    spare = capture_pass.new_batches()
    with ThreadPoolExecutor(1) as thread:
        checked = thread.submit(np.zeros, 0, np.int32)
        capture_pass.begin_chunk()
        while capture_pass.read_packets():
            capture_pass.held.forget(pairs.state, check.exchange_verdicts(pairs, checked.result()))
            check.make_room(pairs)
            capture_pass.batches, spare = spare, capture_pass.batches
            checked = thread.submit(check.check_units, spare, capture_pass.units, pairs.state)
            capture_pass.begin_chunk()
        checked.result()
    check.finish(pairs)
    return check.sessions[: pairs.count]
