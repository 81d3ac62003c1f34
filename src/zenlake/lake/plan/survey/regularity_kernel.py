# Parts: 1f0745f56f1cfdb8
"""Conversation: whether what a pair says needs no word of the exact reader.

Handshake, sequence numbers and fragments are followed as `trace.sessions` and `trace.channel`
do; the first thing that they would remark on makes the pair irregular.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from zenlake.columnar import forms
from zenlake.columnar.fields import presence_bits
from zenlake.columnar.jit import inlined
from zenlake.columnar.kinds import kinds, kinds_of
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.batches import Batches
from zenlake.lake.fast_reader.assemble.pairs import FIRST_SIDE, LOW_LATENCY
from zenlake.lake.fast_reader.scan.numbers import Bytes, Numbers, byte, signed, uncounted_entry
from zenlake.wire.defaults import DEFAULT_PRIORITY, DEFAULT_SN_MASK
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.sequence import SN_MASKS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What is known of a conversation. Where there are two, the second is of direction 1.
STAGE: Final = 0
MASK: Final = 1
PATCH: Final = 2
CLOSED: Final = 3
INITIAL_SN: Final = 5
NEWEST_SN: Final = 7
CHAINS_OPEN: Final = 9
CHANNELS: Final = 10
"""For each direction, priority and reliability; 0 before it is used."""
CHAINS: Final = 42
"""For each of them, the number of the chain of fragments that is in progress."""
ZIDS: Final = 74
"""Of the node that opened and the one that answered, two words each, the lower first."""
CONVERSATION_WORDS: Final = 78

OPEN: Final = 4
"""The stage after INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK (§14)."""

# A channel: the last number, and above it what is known besides.
_SN: Final = 0xFFFF_FFFF
_USED: Final = 1 << 32
_AFTER_MESSAGE: Final = 1 << 33
_IN_CHAIN: Final = 1 << 34

_NO_SN: Final = -2
"""Sentinel: no sequence number is its successor."""

PIECE_WORDS: Final = 5
"""Of a fragment: its chain, pair, where its payload is and how long, whether more follow."""


class Codes(NamedTuple):
    """Numbers that the columns have, which compiled code must not keep beyond its time."""

    init_syn: int
    init_ack: int
    open_syn: int
    open_ack: int
    close: int
    keep_alive: int
    frame: int
    fragment: int
    first_network: int
    has_priority: int
    has_resolution: int


class Rows(NamedTuple):
    """The columns that tell."""

    kind: NDArray[np.uint8]
    unit: NDArray[np.uint32]
    present: NDArray[np.uint64]
    sn: NDArray[np.uint32]
    reliable: NDArray[np.uint8]
    priority: NDArray[np.uint8]
    fragment_more: NDArray[np.uint8]
    fragment_first: NDArray[np.uint8]
    fragment_drop: NDArray[np.uint8]
    payload_offset: NDArray[np.uint32]
    payload_length: NDArray[np.uint32]
    resolution: NDArray[np.uint8]
    compression: NDArray[np.uint8]
    lowlatency: NDArray[np.uint8]
    multilink_offset: NDArray[np.uint32]
    patch: NDArray[np.uint8]
    initial_sn: NDArray[np.uint32]
    zid_offset: NDArray[np.uint32]
    zid_length: NDArray[np.uint32]


@cache
def codes() -> Codes:
    words, bits = kinds(), presence_bits()
    of = words.index
    network = [kind for one in LAYOUTS.values() if one.layer == "network" for kind in kinds_of(one)]
    return Codes(
        of("INIT_SYN"),
        of("INIT_ACK"),
        of("OPEN_SYN"),
        of("OPEN_ACK"),
        of("CLOSE"),
        of("KEEP_ALIVE"),
        of("FRAME"),
        of("FRAGMENT"),
        min(of(kind) for kind in network),
        bits["priority"],
        bits["resolution"],
    )


@uncounted_entry
def check_regularity(
    rows: Rows,
    batches: Batches,
    codes: Codes,
    state: Numbers,
    talks: Numbers,
    verdicts: Numbers,
    pieces: Numbers,
    chain: int,
) -> tuple[int, int]:
    """Follow all rows; `pieces` gets the fragments taken. How many, and the last chain's number.

    `verdicts` has for each pair why it is irregular, or 0. Of `state` only what no later packet
    changes is looked at: these may be read at the same time.
    """
    count, last = 0, len(rows.kind) - 1
    for row in range(last + 1):
        unit = signed(rows.unit[row])
        pair = signed(batches.pair[unit])
        if verdicts[pair]:
            continue
        kind = signed(rows.kind[row])
        is_network = kind >= codes.first_network
        # A FRAME speaks for what it carries.
        if is_network and batches.form[unit] != forms.LOW_LATENCY:
            continue
        direction = signed(batches.side[unit]) ^ state[pair, FIRST_SIDE]
        is_alone = (row == 0 or rows.unit[row - 1] != unit) and (
            row == last or rows.unit[row + 1] != unit
        )
        reason = reasons.NONE
        if talks[pair, STAGE] < OPEN:
            reason = _greet(
                rows, row, kind, direction, is_alone, codes, batches.data, state, talks, pair
            )
        elif talks[pair, CLOSED + direction]:
            reason = reasons.MESSAGE_OUT_OF_PLACE
        elif is_network:
            continue
        elif kind == codes.frame:
            reason = _number(rows, row, direction, False, codes, talks, pair)
        elif kind == codes.fragment:
            reason = _number(rows, row, direction, True, codes, talks, pair)
            if not reason:
                index = _channel(rows, row, direction, codes)
                if talks[pair, CHAINS + index] == 0:
                    chain += 1
                    talks[pair, CHAINS + index] = chain
                pieces[count, 0] = talks[pair, CHAINS + index]
                pieces[count, 1] = pair
                pieces[count, 2] = rows.payload_offset[row]
                pieces[count, 3] = rows.payload_length[row]
                pieces[count, 4] = rows.fragment_more[row]
                count += 1
                if not rows.fragment_more[row]:
                    talks[pair, CHAINS + index] = 0
        elif kind == codes.close:
            talks[pair, CLOSED + direction] = 1
            if not is_alone:
                reason = reasons.MESSAGE_OUT_OF_PLACE
        elif kind != codes.keep_alive:
            reason = reasons.MESSAGE_OUT_OF_PLACE
        if reason:
            verdicts[pair] = reason
    return count, chain


@inlined
def _greet(
    rows: Rows,
    row: int,
    kind: int,
    direction: int,
    is_alone: bool,
    codes: Codes,
    data: Bytes,
    state: Numbers,
    talks: Numbers,
    pair: int,
) -> int:
    """One step of the handshake: each in a unit of its own, from alternating sides."""
    stage = talks[pair, STAGE]
    expected = codes.init_syn
    if stage == 1:
        expected = codes.init_ack
    elif stage == 2:
        expected = codes.open_syn
    elif stage == 3:
        expected = codes.open_ack
    if kind != expected or direction != stage & 1 or not is_alone:
        return reasons.HANDSHAKE
    talks[pair, STAGE] = stage + 1
    if stage < 2:
        offset = signed(rows.zid_offset[row])
        for index in range(signed(rows.zid_length[row])):
            talks[pair, ZIDS + 2 * stage + (index >> 3)] |= byte(data, offset + index) << (
                8 * (index & 7)
            )
    if stage == 1:
        if rows.compression[row] or rows.multilink_offset[row]:
            return reasons.TERMS
        if (rows.lowlatency[row] != 0) != (state[pair, LOW_LATENCY] != 0):
            return reasons.TERMS
        mask = DEFAULT_SN_MASK
        if signed(rows.present[row]) & codes.has_resolution:
            mask = SN_MASKS[signed(rows.resolution[row]) & 3]
        talks[pair, MASK] = mask
        talks[pair, PATCH] = rows.patch[row]
    elif stage >= 2:
        talks[pair, INITIAL_SN + direction] = rows.initial_sn[row]
        talks[pair, NEWEST_SN + direction] = _NO_SN
    return reasons.NONE


@inlined
def _channel(rows: Rows, row: int, direction: int, codes: Codes) -> int:
    priority = DEFAULT_PRIORITY
    if signed(rows.present[row]) & codes.has_priority:
        priority = signed(rows.priority[row]) & 7
    return direction << 4 | priority << 1 | (1 if rows.reliable[row] else 0)


@inlined
def _number(
    rows: Rows, row: int, direction: int, is_fragment: bool, codes: Codes, talks: Numbers, pair: int
) -> int:
    """The sequence number of a FRAME or FRAGMENT (§6.5), and whether it may come here (§7)."""
    mask, sn = talks[pair, MASK], signed(rows.sn[row])
    at = CHANNELS + _channel(rows, row, direction, codes)
    channel = talks[pair, at]
    last = channel & _SN
    if not channel & _USED:
        last = talks[pair, INITIAL_SN + direction] - 1 & mask
    newest = talks[pair, NEWEST_SN + direction]
    talks[pair, NEWEST_SN + direction] = sn
    gap = sn_distance(last, sn, mask)
    if sn & ~mask or not is_ahead(gap, mask):
        return reasons.SEQUENCE
    # Deployed nodes leave a number out after fragments; some count all channels in one.
    if gap != 1 and not (gap == 2 and channel & _AFTER_MESSAGE) and sn != newest + 1:
        return reasons.SEQUENCE
    in_chain = channel & _IN_CHAIN
    if not is_fragment:
        talks[pair, at] = sn | _USED
        return reasons.FRAGMENTS if in_chain else reasons.NONE
    if rows.fragment_drop[row] or (in_chain and (rows.fragment_first[row] or gap != 1)):
        return reasons.FRAGMENTS
    if not in_chain and not rows.fragment_first[row] and talks[pair, PATCH]:
        return reasons.FRAGMENTS
    more = signed(rows.fragment_more[row])
    talks[pair, CHAINS_OPEN] += more - (1 if in_chain else 0)
    talks[pair, at] = sn | _USED | (_IN_CHAIN if more else _AFTER_MESSAGE)
    return reasons.NONE


# Copies of the functions in `wire.sequence`: Numba cannot call what mypyc has compiled.


@inlined
def sn_distance(last: int, sn: int, mask: int) -> int:
    return sn - last & mask


@inlined
def is_ahead(distance: int, mask: int) -> bool:
    return 0 < distance <= mask >> 1
