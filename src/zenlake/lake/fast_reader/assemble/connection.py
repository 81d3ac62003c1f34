"""Connection: the TCP state of a pair, with the rules of `capture.tcp_streams`.

Only segments without gaps are accepted: bytes in order, and retransmissions.
"""

from __future__ import annotations

from typing import Final

from zenlake.capture.tcp_hole import UNKNOWN
from zenlake.capture.transport import ACK, FIN, RST, SYN
from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.pairs import (
    ACKED,
    CAUSE,
    CLOSED_NS,
    CLOSED_PACKET,
    END,
    ENDED_CAUSE,
    ENDED_NS,
    ENDED_PACKET,
    ENDED_SIDE,
    FIRST_SIDE,
    NEXT,
    PACKETS,
    START,
)
from zenlake.lake.fast_reader.assemble.segment import (
    ACK_SEQ,
    BEGIN,
    FLAGS,
    MISSING,
    SEQ,
    SIDE,
    STOP,
)
from zenlake.lake.fast_reader.scan.numbers import Numbers
from zenlake.limits import TCP_HOLE_BYTES_MAX

_MASK: Final = 0xFFFF_FFFF

BY_FIN: Final = 1
BY_RST: Final = 2
CAUSES: Final = ("end", "fin", "rst")
"""Names of the numbers in `pairs.CAUSE`."""


@inlined
def _distance(seq: int, other: int) -> int:
    return ((seq - other + 0x8000_0000) & _MASK) - 0x8000_0000


@inlined
def follow(state: Numbers, pair: int, segment: Numbers, number: int, time_ns: int) -> int:
    """Updates the pair; the reason why it is irregular from here on, or 0.

    Leaves the new bytes in the segment, none of an RST. If FIN is still set, the caller calls
    `close` after it has taken the bytes.
    """
    side, flags, seq = segment[SIDE], segment[FLAGS], segment[SEQ]
    size = segment[STOP] - segment[BEGIN]
    if segment[MISSING]:
        return reasons.CUT_SEGMENT
    if flags & SYN:
        return _start(state, pair, segment, size)
    if state[pair, PACKETS] == 1:
        return reasons.NO_START
    if flags & ACK and _acks_beyond(state, pair, segment):
        return reasons.ACKED_BEYOND
    if flags & RST:
        segment[BEGIN] = segment[STOP]
        segment[FLAGS] &= ~FIN
        next_seq = state[pair, NEXT + side]
        if next_seq != UNKNOWN and abs(_distance(seq, next_seq)) > TCP_HOLE_BYTES_MAX:
            return reasons.NONE
        first = state[pair, FIRST_SIDE]
        reason = close(state, pair, first, BY_RST, side, number, time_ns)
        return reason or close(state, pair, 1 - first, BY_RST, side, number, time_ns)
    if state[pair, END + side] != UNKNOWN:
        segment[FLAGS] &= ~FIN
        return reasons.AFTER_END if size else reasons.NONE
    if state[pair, START + side] == UNKNOWN:
        return reasons.NO_START
    if not size and not flags & FIN:
        return reasons.NONE
    ahead = _distance(seq, state[pair, NEXT + side])
    if ahead > 0 or ahead < -TCP_HOLE_BYTES_MAX:
        return reasons.OUT_OF_ORDER
    if ahead < 0:
        is_old = ahead + size < 0 or (ahead + size == 0 and not flags & FIN)
        # One byte before the expected one is a keep-alive; other old bytes are retransmissions.
        if is_old or (ahead == -1 and size <= 1 and not flags & FIN):
            segment[BEGIN] = segment[STOP]
            segment[FLAGS] &= ~FIN
            return reasons.NONE
        segment[BEGIN] -= ahead
        size += ahead
    state[pair, NEXT + side] = (state[pair, NEXT + side] + size) & _MASK
    return reasons.NONE


@inlined
def _acks_beyond(state: Numbers, pair: int, segment: Numbers) -> bool:
    """Whether it acknowledges bytes that the capture lacks, or a direction without a SYN."""
    other = 1 - segment[SIDE]
    state[pair, ACKED + other] = segment[ACK_SEQ]
    following = state[pair, NEXT + other]
    if following == UNKNOWN:
        is_beyond: bool = state[pair, END + other] == UNKNOWN
        return is_beyond
    return _distance(segment[ACK_SEQ], following) > 0


@inlined
def _start(state: Numbers, pair: int, segment: Numbers, size: int) -> int:
    side, flags = segment[SIDE], segment[FLAGS]
    seq = (segment[SEQ] + 1) & _MASK
    is_first = state[pair, PACKETS] == 1
    if size or flags & (FIN | RST):
        return reasons.NO_START if is_first else reasons.SECOND_START
    if is_first:
        if flags & ACK:
            return reasons.NO_START
        state[pair, FIRST_SIDE] = side
    elif state[pair, START + side] != UNKNOWN:
        if state[pair, START + side] != seq:
            return reasons.SECOND_START
    elif not flags & ACK or state[pair, END + 1 - side] != UNKNOWN:
        return reasons.SECOND_START
    if flags & ACK and _acks_beyond(state, pair, segment):
        return reasons.ACKED_BEYOND
    if state[pair, START + side] == UNKNOWN:
        state[pair, START + side] = seq
        state[pair, NEXT + side] = seq
    return reasons.NONE


@inlined
def close(
    state: Numbers, pair: int, side: int, cause: int, sender: int, number: int, time_ns: int
) -> int:
    """Ends a direction by a segment of `sender`; why the pair is irregular then, or 0."""
    next_seq, acked = state[pair, NEXT + side], state[pair, ACKED + side]
    if next_seq == UNKNOWN:
        return reasons.NONE
    if cause != BY_FIN and acked != UNKNOWN and _distance(acked, next_seq) > 0:
        return reasons.ACKED_BEYOND
    state[pair, END + side] = next_seq
    state[pair, NEXT + side] = UNKNOWN
    if not state[pair, ENDED_NS]:
        state[pair, ENDED_NS] = time_ns
        state[pair, ENDED_PACKET] = number
        state[pair, ENDED_CAUSE] = cause
        state[pair, ENDED_SIDE] = sender
    if state[pair, NEXT + 1 - side] == UNKNOWN:
        state[pair, CLOSED_PACKET] = number
        state[pair, CLOSED_NS] = time_ns
        state[pair, CAUSE] = cause
    return reasons.NONE
