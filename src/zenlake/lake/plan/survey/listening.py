"""Listening: packets to batches, and what these say, side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from zenlake.lake.plan.survey.regularity_check import RegularityCheck

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.lake.fast_reader.assemble.reading import Reading


def listen(reading: Reading) -> NDArray[np.int64]:
    """Read all; what is known then of the conversation of each pair."""
    pairs, listener = reading.pairs, RegularityCheck()
    spare = reading.new_batches()
    with ThreadPoolExecutor(1) as beside:
        # One stretch is listened to while the next is read.
        heard = beside.submit(np.zeros, 0, np.int32)
        reading.begin_chunk()
        while reading.advance():
            reading.held.forget(pairs.state, listener.tell(pairs, heard.result()))
            listener.make_room(pairs)
            reading.batches, spare = spare, reading.batches
            heard = beside.submit(listener.hear, spare, reading.units, pairs.state)
            reading.begin_chunk()
        heard.result()
    listener.end(pairs)
    return listener.talks[: pairs.count]
