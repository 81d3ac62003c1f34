"""Judgement: what can be said of pairs only once all their packets were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zenlake.capture.tcp_hole import MASK as SEQ_MASK
from zenlake.capture.tcp_hole import UNKNOWN
from zenlake.lake.fast_reader.assemble import pairs as field
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.plan.survey.identities import sharing
from zenlake.lake.plan.survey.regularity_kernel import CHAINS_OPEN, OPEN, STAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray


def judge(
    state: NDArray[np.int64],
    talks: NDArray[np.int64],
    zids: NDArray[np.str_],
    elsewhere: NDArray[np.str_],
    end: tuple[int, int],
) -> None:
    """Completes the rows of pairs; `end` is the last packet of the capture and its time."""
    last, last_ns = end
    reason = state[:, field.REASON]
    is_left = reason == reasons.NONE
    is_left = _leave(reason, is_left, talks[:, STAGE] != OPEN, reasons.HANDSHAKE)
    has_rest = (state[:, field.HAVE] != 0) | (state[:, field.HAVE + 1] != 0)
    is_left = _leave(reason, is_left, has_rest, reasons.UNFINISHED)
    is_left = _leave(reason, is_left, talks[:, CHAINS_OPEN] != 0, reasons.FRAGMENTS)
    for side in (0, 1):
        following, acked = state[:, field.NEXT + side], state[:, field.ACKED + side]
        beyond = ((acked - following + 0x8000_0000) & SEQ_MASK) - 0x8000_0000
        has_more = (following != UNKNOWN) & (acked != UNKNOWN) & (beyond > 0)
        is_left = _leave(reason, is_left, has_more, reasons.ACKED_BEYOND)
    # A session without an end in sight lives on, for the exact reader, and takes later links.
    is_over = is_left & (state[:, field.CAUSE] != 0)
    ends = np.where(is_over, state[:, field.LAST_PACKET], last)
    is_shared = sharing(zids, elsewhere, state[:, field.FIRST_PACKET], ends)
    is_left = _leave(reason, is_left, is_shared, reasons.SEVERAL_LINKS)
    # What the end of the capture closes.
    is_open = state[:, field.CAUSE] == 0
    state[is_open, field.CLOSED_PACKET] = last
    state[is_open, field.CLOSED_NS] = last_ns
    has_no_end = state[:, field.ENDED_NS] == 0
    state[has_no_end, field.ENDED_NS] = last_ns


def _leave(
    reason: NDArray[np.int64],
    is_left: NDArray[np.bool_],
    is_bad: NDArray[np.bool_],
    why: int,
) -> NDArray[np.bool_]:
    """Those that are still regular."""
    reason[is_left & is_bad] = why
    return is_left & ~is_bad
