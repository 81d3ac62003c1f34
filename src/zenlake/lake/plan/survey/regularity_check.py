"""RegularityCheck: follows what pairs say, stretch by stretch.

One stretch is checked while the next one is cut into batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.batches import FAREWELL, Batches, decodable
from zenlake.lake.fast_reader.assemble.pairs import PASS, REASON, ROLE
from zenlake.lake.plan.survey.chains import Chains
from zenlake.lake.plan.survey.message_rows import MessageRows
from zenlake.lake.plan.survey.regularity_kernel import (
    CONVERSATION_WORDS,
    PIECE_WORDS,
    check_regularity,
    codes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.assemble.pairs import Pairs

_SETTLED_BYTES: Final = 1 << 20
"""Messages of fragments are looked at when there are as many."""


class RegularityCheck:
    """`talks` is what is known of each conversation, as `conversation` has it."""

    def __init__(self) -> None:
        self.talks = np.zeros((0, CONVERSATION_WORDS), np.int64)
        self._verdicts = np.zeros(0, np.int64)
        """Why a pair is irregular, as far as this has found it; 0 otherwise."""
        self._rows = MessageRows()
        self._chains = Chains()
        self._last_chain = 0
        self._pieces = np.zeros((0, PIECE_WORDS), np.int64)

    def make_room(self, pairs: Pairs) -> None:
        missing = pairs.room - len(self.talks)
        if missing:
            more = np.zeros((missing, CONVERSATION_WORDS), np.int64)
            self.talks = np.vstack((self.talks, more))
            self._verdicts = np.append(self._verdicts, np.zeros(missing, np.int64))

    def hear(self, batches: Batches, units: int, state: NDArray[np.int64]) -> NDArray[np.int32]:
        """Follow some units, which nobody may change meanwhile; their pairs.

        Of `state` it takes what stays as it is from the first batch of a pair on.
        """
        bounds = np.zeros(units + 1, np.int64)
        bounds[1:] = batches.stop[:units]
        forms, failures = batches.form[:units], np.zeros(units, np.int64)
        verdicts = self._verdicts
        for rows in self._rows.read(batches.data, bounds, decodable(forms), failures):
            if len(self._pieces) < len(rows.kind):
                self._pieces = np.zeros((len(rows.kind), PIECE_WORDS), np.int64)
            count, self._last_chain = check_regularity(
                rows, batches, codes(), state, self.talks, verdicts, self._pieces, self._last_chain
            )
            if count:
                self._chains.take(self._pieces[:count], batches.data, verdicts)
        self._chains.settle(verdicts, _SETTLED_BYTES)
        found = batches.pair[:units]
        malformed = found[(failures != 0) & (forms != FAREWELL)]
        verdicts[malformed[verdicts[malformed] == reasons.NONE]] = reasons.MALFORMED
        return np.unique(found)

    def tell(self, pairs: Pairs, those: NDArray[np.int32]) -> NDArray[np.int32]:
        """Both sides learn of some pairs what the other found: no more is made of these.

        The pairs of which the reading learned something.
        """
        state, verdicts = pairs.state, self._verdicts
        reason = state[those, REASON]
        found: NDArray[np.int32] = those[(verdicts[those] != 0) & (reason == 0)]
        state[found, REASON] = verdicts[found]
        state[found, ROLE] = PASS
        verdicts[those] = state[those, REASON]
        return found

    def end(self, pairs: Pairs) -> None:
        self.make_room(pairs)
        self._chains.settle(self._verdicts)
        self.tell(pairs, np.arange(pairs.count, dtype=np.int32))
