# Parts: 36961efae1a44128
"""Kernel: whether the exact reader would find nothing to report in the messages of a pair.

It follows handshake, sequence numbers and fragments as `trace.sessions` and `trace.channel` do. The
first message on which they would report something makes the pair irregular.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from zenlake.columnar import forms
from zenlake.columnar.fields import presence_bits
from zenlake.columnar.jit import inlined
from zenlake.columnar.kinds import kinds, network_kinds
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.batches import Batches
from zenlake.lake.fast_reader.assemble.pairs import FIRST_SIDE, LOW_LATENCY
from zenlake.lake.fast_reader.scan.numbers import Bytes, Numbers, byte, signed, uncounted_entry
from zenlake.wire.defaults import DEFAULT_PRIORITY, DEFAULT_SN_MASK
from zenlake.wire.sequence import SN_MASKS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Fields of a session. Where there are two, the second is for direction 1.
STAGE: Final = 0
MASK: Final = 1
PATCH: Final = 2
CLOSED: Final = 3
INITIAL_SN: Final = 5
NEWEST_SN: Final = 7
CHAINS_OPEN: Final = 9
CHANNELS: Final = 10
"""One for each direction, priority and reliability; 0 before its first message."""
CHAINS: Final = 42
"""For each channel the number of its chain of fragments in progress, or 0."""
ZIDS: Final = 74
"""Identities of opener and acceptor, two words each, the lower word first."""
SESSION_WORDS: Final = 78

OPEN: Final = 4
"""The stage after INIT_SYN, INIT_ACK, OPEN_SYN, OPEN_ACK (§14)."""

# A channel: the last sequence number, and flags in the bits above it.
_SN: Final = 0xFFFF_FFFF
_USED: Final = 1 << 32
_AFTER_MESSAGE: Final = 1 << 33
_IN_CHAIN: Final = 1 << 34

_NO_SN: Final = -2
"""Sentinel: no sequence number is its successor."""

PIECE_WORDS: Final = 5
"""Columns of `pieces`: chain, pair, offset and length of the payload, whether more follow."""


class Codes(NamedTuple):
    """Codes of kinds and fields. They are arguments, because a kernel on disk may be older."""

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
    """The columns that the check reads."""

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
    return Codes(
        of("INIT_SYN"),
        of("INIT_ACK"),
        of("OPEN_SYN"),
        of("OPEN_ACK"),
        of("CLOSE"),
        of("KEEP_ALIVE"),
        of("FRAME"),
        of("FRAGMENT"),
        len(words) - len(network_kinds()),
        bits["priority"],
        bits["resolution"],
    )


@uncounted_entry
def check_regularity(
    rows: Rows,
    batches: Batches,
    codes: Codes,
    state: Numbers,
    sessions: Numbers,
    verdicts: Numbers,
    pieces: Numbers,
    chain: int,
) -> tuple[int, int]:
    """Checks all rows and writes fragments to `pieces`; their count, and the last chain's number.

    `verdicts` has for each pair the reason why it is irregular, or 0. Another thread reads further
    packets at the same time, so only fields of `state` are read that these do not change.
    """
    count, last = 0, len(rows.kind) - 1
    for row in range(last + 1):
        unit = signed(rows.unit[row])
        pair = signed(batches.pair[unit])
        if verdicts[pair]:
            continue
        kind = signed(rows.kind[row])
        is_network = kind >= codes.first_network
        # The check of a FRAME covers the messages in it.
        if is_network and batches.form[unit] != forms.LOW_LATENCY:
            continue
        direction = signed(batches.side[unit]) ^ state[pair, FIRST_SIDE]
        is_alone = (row == 0 or rows.unit[row - 1] != unit) and (
            row == last or rows.unit[row + 1] != unit
        )
        reason = reasons.NONE
        if sessions[pair, STAGE] < OPEN:
            reason = _check_handshake(
                rows, row, kind, direction, is_alone, codes, batches.data, state, sessions, pair
            )
        elif sessions[pair, CLOSED + direction]:
            reason = reasons.MESSAGE_OUT_OF_PLACE
        elif is_network:
            continue
        elif kind == codes.frame:
            is_state = batches.packet[unit] <= 0
            reason = _check_sequence_number(
                rows, row, direction, False, is_state, codes, sessions, pair
            )
        elif kind == codes.fragment:
            is_state = batches.packet[unit] <= 0
            reason = _check_sequence_number(
                rows, row, direction, True, is_state, codes, sessions, pair
            )
            if not reason:
                index = _channel(rows, row, direction, codes)
                if sessions[pair, CHAINS + index] == 0:
                    chain += 1
                    sessions[pair, CHAINS + index] = chain
                pieces[count, 0] = sessions[pair, CHAINS + index]
                pieces[count, 1] = pair
                pieces[count, 2] = rows.payload_offset[row]
                pieces[count, 3] = rows.payload_length[row]
                pieces[count, 4] = rows.fragment_more[row]
                count += 1
                if not rows.fragment_more[row]:
                    sessions[pair, CHAINS + index] = 0
        elif kind == codes.close:
            sessions[pair, CLOSED + direction] = 1
            if not is_alone:
                reason = reasons.MESSAGE_OUT_OF_PLACE
        elif kind != codes.keep_alive:
            reason = reasons.MESSAGE_OUT_OF_PLACE
        if reason:
            verdicts[pair] = reason
    return count, chain


@inlined
def _check_handshake(
    rows: Rows,
    row: int,
    kind: int,
    direction: int,
    is_alone: bool,
    codes: Codes,
    data: Bytes,
    state: Numbers,
    sessions: Numbers,
    pair: int,
) -> int:
    """One step of the handshake: each message in a unit of its own, from alternating sides."""
    stage = sessions[pair, STAGE]
    expected = codes.init_syn
    if stage == 1:
        expected = codes.init_ack
    elif stage == 2:
        expected = codes.open_syn
    elif stage == 3:
        expected = codes.open_ack
    if kind != expected or direction != stage & 1 or not is_alone:
        return reasons.HANDSHAKE
    sessions[pair, STAGE] = stage + 1
    if stage < 2:
        offset = signed(rows.zid_offset[row])
        for index in range(signed(rows.zid_length[row])):
            sessions[pair, ZIDS + 2 * stage + (index >> 3)] |= byte(data, offset + index) << (
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
        sessions[pair, MASK] = mask
        sessions[pair, PATCH] = rows.patch[row]
    elif stage >= 2:
        sessions[pair, INITIAL_SN + direction] = rows.initial_sn[row]
        sessions[pair, NEWEST_SN + direction] = _NO_SN
    return reasons.NONE


@inlined
def _channel(rows: Rows, row: int, direction: int, codes: Codes) -> int:
    priority = DEFAULT_PRIORITY
    if signed(rows.present[row]) & codes.has_priority:
        priority = signed(rows.priority[row]) & 7
    return direction << 4 | priority << 1 | (1 if rows.reliable[row] else 0)


@inlined
def _check_sequence_number(
    rows: Rows,
    row: int,
    direction: int,
    is_fragment: bool,
    is_state: bool,
    codes: Codes,
    sessions: Numbers,
    pair: int,
) -> int:
    """Whether a FRAME or FRAGMENT has an expected number (§6.5) and may come here (§7).

    The number of one in the state of a recording is the last one of its channel, as it is.
    """
    mask, sn = sessions[pair, MASK], signed(rows.sn[row])
    at = CHANNELS + _channel(rows, row, direction, codes)
    channel = sessions[pair, at]
    last = channel & _SN
    if not channel & _USED:
        last = sessions[pair, INITIAL_SN + direction] - 1 & mask
    newest = sessions[pair, NEWEST_SN + direction]
    gap = sn_distance(last, sn, mask)
    if is_state:
        if sn & ~mask:
            return reasons.SEQUENCE
        if newest == _NO_SN or is_ahead(sn_distance(newest, sn, mask), mask):
            sessions[pair, NEWEST_SN + direction] = sn
    else:
        sessions[pair, NEWEST_SN + direction] = sn
        if sn & ~mask or not is_ahead(gap, mask):
            return reasons.SEQUENCE
        # Deployed nodes skip a number after fragments; some use one counter for all channels.
        if gap != 1 and not (gap == 2 and channel & _AFTER_MESSAGE) and sn != newest + 1:
            return reasons.SEQUENCE
    in_chain = channel & _IN_CHAIN
    if not is_fragment:
        sessions[pair, at] = sn | _USED | (_AFTER_MESSAGE if is_state else 0)
        return reasons.FRAGMENTS if in_chain else reasons.NONE
    if rows.fragment_drop[row] or (in_chain and (rows.fragment_first[row] or gap != 1)):
        return reasons.FRAGMENTS
    if not in_chain and not rows.fragment_first[row] and sessions[pair, PATCH]:
        return reasons.FRAGMENTS
    more = signed(rows.fragment_more[row])
    sessions[pair, CHAINS_OPEN] += more - (1 if in_chain else 0)
    sessions[pair, at] = sn | _USED | (_IN_CHAIN if more else _AFTER_MESSAGE)
    return reasons.NONE


# Copies of the functions in `wire.sequence`: Numba cannot call what mypyc has compiled.


@inlined
def sn_distance(last: int, sn: int, mask: int) -> int:
    return sn - last & mask


@inlined
def is_ahead(distance: int, mask: int) -> bool:
    return 0 < distance <= mask >> 1
