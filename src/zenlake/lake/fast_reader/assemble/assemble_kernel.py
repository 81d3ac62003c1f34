# Parts: 063e337c003ebce8
"""Kernel: packets to pairs, to streams, to batches, in one loop over a stretch of packets."""

from __future__ import annotations

from typing import Final

from zenlake.capture.tcp_hole import UNKNOWN
from zenlake.capture.transport import FIN
from zenlake.columnar.jit import inlined
from zenlake.columnar.sip_hash import HashKey
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.batches import (
    BYTES_PER_PACKET,
    FORWARDED,
    FREE,
    INITS_SEEN,
    OTHERS,
    PAIRS,
    UNIT_BYTES,
    UNITS,
    UNITS_PER_PACKET,
    Batches,
    Extents,
    cut_batches,
    forget_batch,
)
from zenlake.lake.fast_reader.assemble.connection import BY_FIN, close, follow
from zenlake.lake.fast_reader.assemble.pairs import (
    ASSEMBLE,
    BYTES,
    CAUSE,
    FIRST_NS,
    FIRST_PACKET,
    FIRST_SIDE,
    FORWARD,
    HAS_DATA,
    HAS_INIT,
    HAVE,
    HEAD,
    LAST_NS,
    LAST_PACKET,
    PACKETS,
    REASON,
    ROLE,
    SKIP,
    START,
    slot_of,
)
from zenlake.lake.fast_reader.assemble.segment import (
    BEGIN,
    FLAGS,
    HIGHER,
    IN_FRAGMENTS,
    KEY_WORDS,
    LOWER,
    MISSING,
    PORTS,
    SIDE,
    STOP,
    TCP,
    UDP,
    dissect,
)
from zenlake.lake.fast_reader.scan.numbers import (
    Bytes,
    Numbers,
    byte,
    signed,
    u16_little,
    uncounted_entry,
)
from zenlake.lake.fast_reader.scan.packets import Packets
from zenlake.lake.fast_reader.scan.statuses import END, FRAGMENTED, FULL, NEW_PAIR
from zenlake.wire.headers import IS_ANSWER

INIT_BYTES_MIN: Final = 4
INIT_BYTES_MAX: Final = 4_096
"""The limit of `trace.links.recognition`."""

NO_PAIR: Final = -1
"""In place of the number of a pair: the packet is not TCP."""
OTHER_TASK: Final = -2
"""In place of the number of a pair: another task reads the packet."""

UNSURE: Final = 4
"""In `pairs.HAS_DATA`: there may be an INIT that was not recognized."""

INIT_SEEN_WORDS: Final = 4
"""Columns of an INIT: pair (-1: UDP), role, and the zid in two words, the lower first."""

_ZID_AT: Final = 3


@uncounted_entry
def assemble_packets(
    data: Bytes,
    packets: Packets,
    row: int,
    count: int,
    number: int,
    keys: Numbers,
    slots: Numbers,
    seed: HashKey,
    state: Numbers,
    counters: Numbers,
    extents: Extents,
    out: Batches,
    forwarded: Numbers,
    inits_seen: Numbers,
    segment: Numbers,
    pair_of: Numbers,
    is_skipped: Bytes,
    first_role: int,
    is_survey: bool,
    with_other: bool,
) -> tuple[int, int]:
    """Reads packets from `row` on; why it stopped, and the next row.

    Row 0 is packet `number`. A survey adds pairs, with `first_role`, and notes the pair of each
    packet and all INITs. A later pass knows the pair of each packet, and reads only wanted pairs.
    """
    while row < count:
        if not is_survey:
            known = signed(pair_of[row])
            if known == OTHER_TASK or (known == NO_PAIR and not with_other):
                row += 1
                continue
            if known >= 0 and is_skipped[known]:
                row += 1
                continue
        if counters[UNIT_BYTES] + BYTES_PER_PACKET > len(out.data) or not counters[FREE]:
            return FULL, row
        if counters[UNITS] + UNITS_PER_PACKET > len(out.stop) or counters[FORWARDED] == len(
            forwarded
        ):
            return FULL, row
        if counters[PAIRS] == len(keys) or counters[INITS_SEEN] == len(inits_seen):
            return FULL, row
        time_ns, captured = packets.time_ns[row], packets.captured[row]
        found = dissect(
            data,
            packets.start[row],
            captured,
            packets.original[row],
            packets.link_type[row],
            segment,
        )
        if found == IN_FRAGMENTS:
            return FRAGMENTED, row
        if found != TCP:
            counters[OTHERS] += 1
            if is_survey:
                pair_of[row] = NO_PAIR
            if with_other:
                _forward(row, counters, forwarded)
            if is_survey and found == UDP and _is_init(data, segment[BEGIN], segment[STOP]):
                _note_init(data, NO_PAIR, segment[BEGIN], segment[STOP], counters, inits_seen)
            row += 1
            continue
        slot = slot_of(keys, slots, seed, segment)
        pair = slots[slot] - 1
        if pair < 0:
            if not is_survey:
                return NEW_PAIR, row
            pair = _new_pair(keys, state, segment, number + row, time_ns, first_role, counters)
            slots[slot] = pair + 1
        state[pair, PACKETS] += 1
        state[pair, BYTES] += captured
        state[pair, LAST_PACKET] = number + row
        state[pair, LAST_NS] = time_ns
        role = state[pair, ROLE]
        if role == FORWARD:
            _forward(row, counters, forwarded)
        elif role == ASSEMBLE:
            reason = _assemble(
                data, state, pair, segment, number + row, time_ns, extents, counters, out
            )
            if not reason and state[pair, CAUSE] and _holds_batch(state, pair):
                reason = reasons.UNFINISHED
            if reason:
                state[pair, REASON] = reason
                state[pair, ROLE] = SKIP
                forget_batch(state, pair, 0, extents, counters)
                forget_batch(state, pair, 1, extents, counters)
        if is_survey:
            pair_of[row] = pair
            if role == SKIP and segment[BEGIN] < segment[STOP]:
                _note_first_data(data, state, pair, segment)
            _look_for_init(data, pair, segment, counters, inits_seen)
        row += 1
    return END, row


@inlined
def _holds_batch(state: Numbers, pair: int) -> bool:
    """Whether a batch is unfinished. After the end of the connection nothing completes it."""
    found: bool = state[pair, HEAD] != 0 or state[pair, HEAD + 1] != 0
    return found


@inlined
def _forward(row: int, counters: Numbers, forwarded: Numbers) -> None:
    forwarded[counters[FORWARDED]] = row
    counters[FORWARDED] += 1


@inlined
def _new_pair(
    keys: Numbers,
    state: Numbers,
    segment: Numbers,
    number: int,
    time_ns: int,
    role: int,
    counters: Numbers,
) -> int:
    pair: int = counters[PAIRS]
    counters[PAIRS] = pair + 1
    is_own_port = segment[PORTS] >> 16 & 0xFFFF == segment[PORTS] & 0xFFFF
    for word in range(KEY_WORDS):
        keys[pair, word] = segment[word]
    for word in range(4):
        is_own_port = is_own_port and segment[LOWER + word] == segment[HIGHER + word]
    for field in range(START, HAVE):
        state[pair, field] = UNKNOWN
    state[pair, FIRST_PACKET] = number
    state[pair, FIRST_NS] = time_ns
    state[pair, ROLE] = SKIP if is_own_port else role
    state[pair, REASON] = reasons.OWN_PORT if is_own_port else reasons.NONE
    return pair


@inlined
def _assemble(
    data: Bytes,
    state: Numbers,
    pair: int,
    segment: Numbers,
    number: int,
    time_ns: int,
    extents: Extents,
    counters: Numbers,
    out: Batches,
) -> int:
    """The reason why the pair is irregular from this segment on, or 0."""
    reason = follow(state, pair, segment, number, time_ns)
    if reason:
        return reason
    begin, stop, side = segment[BEGIN], segment[STOP], segment[SIDE]
    if begin < stop:
        if not state[pair, HAS_INIT]:
            # The exact reader recognizes Zenoh by a whole INIT; here it must come first.
            if side != state[pair, FIRST_SIDE] or not _starts_with_init(data, begin, stop):
                return reasons.NOT_ZENOH
            state[pair, HAS_INIT] = 1
        reason = cut_batches(
            data, begin, stop, state, pair, side, number, time_ns, extents, counters, out
        )
        if reason:
            return reason
    if segment[FLAGS] & FIN:
        return close(state, pair, side, BY_FIN, side, number, time_ns)
    return reasons.NONE


@inlined
def _is_init(data: Bytes, begin: int, stop: int) -> bool:
    """Whether these bytes may be an INIT of a version that the exact reader supports."""
    if not INIT_BYTES_MIN <= stop - begin <= INIT_BYTES_MAX or byte(data, begin) & 0x1F != 1:
        return False
    version = byte(data, begin + 1)
    return version == 8 or version == 9


@inlined
def _starts_with_init(data: Bytes, begin: int, stop: int) -> bool:
    if begin + 2 > stop:
        return False
    end = begin + 2 + u16_little(data, begin)
    return end <= stop and _is_init(data, begin + 2, end)


@inlined
def _note_first_data(data: Bytes, state: Numbers, pair: int, segment: Numbers) -> None:
    """Notes whether a side may begin with an INIT that two segments divide."""
    bit = 1 << segment[SIDE]
    if state[pair, HAS_DATA] & bit:
        return
    state[pair, HAS_DATA] |= bit
    begin, stop = segment[BEGIN], segment[STOP]
    may_be_init = begin + 3 > stop or byte(data, begin + 2) & 0x1F == 1
    if begin + 4 <= stop:
        may_be_init = may_be_init and 8 <= byte(data, begin + 3) <= 9
    # A truncated packet makes its pair irregular anyway.
    is_whole = not segment[MISSING]
    if may_be_init and is_whole and not _starts_with_init(data, begin, stop):
        state[pair, HAS_DATA] |= UNSURE


@inlined
def _look_for_init(
    data: Bytes, pair: int, segment: Numbers, counters: Numbers, inits_seen: Numbers
) -> None:
    begin = segment[BEGIN]
    if begin + 6 <= segment[STOP] and _starts_with_init(data, begin, segment[STOP]):
        end = begin + 2 + u16_little(data, begin)
        _note_init(data, pair, begin + 2, end, counters, inits_seen)


@inlined
def _note_init(
    data: Bytes, pair: int, begin: int, stop: int, counters: Numbers, inits_seen: Numbers
) -> None:
    """An INIT begins with header, version, length of the identity, and the identity (§14)."""
    at = counters[INITS_SEEN]
    inits_seen[at, 0] = pair
    inits_seen[at, 1] = 1 if byte(data, begin) & IS_ANSWER else 0
    inits_seen[at, 2] = 0
    inits_seen[at, 3] = 0
    first = begin + _ZID_AT
    for index in range(min((byte(data, begin + 2) >> 4) + 1, stop - first)):
        inits_seen[at, 2 + (index >> 3)] |= byte(data, first + index) << (8 * (index & 7))
    counters[INITS_SEEN] = at + 1
