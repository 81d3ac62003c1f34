"""Checks of pairs that need all their packets: unfinished handshakes, batches and chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zenlake.capture.tcp_hole import MASK as SEQ_MASK
from zenlake.capture.tcp_hole import UNKNOWN
from zenlake.lake.fast_reader.assemble import pairs as field
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.regularity.identities import pairs_sharing_nodes
from zenlake.lake.fast_reader.regularity.regularity_kernel import CHAINS_OPEN, OPEN, STAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_at_end(
    state: NDArray[np.int64],
    sessions: NDArray[np.int64],
    zids: NDArray[np.str_],
    elsewhere: NDArray[np.str_],
    end: tuple[int, int],
) -> None:
    """Completes the rows of pairs. `end` is the last packet of the capture and its time."""
    last, last_ns = end
    reason = state[:, field.REASON]
    is_left = reason == reasons.NONE
    is_left = _mark(reason, is_left, sessions[:, STAGE] != OPEN, reasons.HANDSHAKE)
    has_rest = (state[:, field.HAVE] != 0) | (state[:, field.HAVE + 1] != 0)
    is_left = _mark(reason, is_left, has_rest, reasons.UNFINISHED)
    is_left = _mark(reason, is_left, sessions[:, CHAINS_OPEN] != 0, reasons.FRAGMENTS)
    for side in (0, 1):
        following, acked = state[:, field.NEXT + side], state[:, field.ACKED + side]
        beyond = ((acked - following + 0x8000_0000) & SEQ_MASK) - 0x8000_0000
        has_more = (following != UNKNOWN) & (acked != UNKNOWN) & (beyond > 0)
        is_left = _mark(reason, is_left, has_more, reasons.ACKED_BEYOND)
    # The exact reader adds later links to a session whose end is not in the capture.
    is_over = is_left & (state[:, field.CAUSE] != 0)
    ends = np.where(is_over, state[:, field.LAST_PACKET], last)
    is_shared = pairs_sharing_nodes(zids, elsewhere, state[:, field.FIRST_PACKET], ends)
    is_left = _mark(reason, is_left, is_shared, reasons.SEVERAL_LINKS)
    # The end of the capture closes the others.
    is_open = state[:, field.CAUSE] == 0
    state[is_open, field.CLOSED_PACKET] = last
    state[is_open, field.CLOSED_NS] = last_ns
    has_no_end = state[:, field.ENDED_NS] == 0
    state[has_no_end, field.ENDED_NS] = last_ns


def _mark(
    reason: NDArray[np.int64],
    is_left: NDArray[np.bool_],
    is_bad: NDArray[np.bool_],
    why: int,
) -> NDArray[np.bool_]:
    """Sets `why` for pairs that are bad; returns the pairs that are still regular."""
    reason[is_left & is_bad] = why
    return is_left & ~is_bad
