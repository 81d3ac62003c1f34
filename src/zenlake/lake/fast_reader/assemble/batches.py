"""Batches: cut out of the bytes of a direction, each after a prefix with its length.

The prefix has two bytes (§6.1), or four after a handshake that agreed on low latency (§9).

An unfinished batch is a list of extents: the positions of its parts in the window of the file. Most
parts are copied once, when the batch is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zenlake.columnar import forms
from zenlake.columnar.jit import inlined
from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.assemble.low_latency import agrees_on_low_latency
from zenlake.lake.fast_reader.assemble.pairs import (
    FIRST_SIDE,
    FRAMING,
    HAVE,
    HEAD,
    LOW_LATENCY,
    SIZE,
    TAIL,
    WHOLE,
)
from zenlake.lake.fast_reader.scan.numbers import Bytes, Numbers, byte, copy
from zenlake.limits import BATCH_BYTES_MAX, PACKET_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXTENTS_MAX: Final = 1 << 21
"""Parts of unfinished batches, over all connections of a file."""

BYTES_PER_PACKET: Final = BATCH_BYTES_MAX + PACKET_BYTES_MAX
"""What one packet can complete: a batch that earlier packets began, and its own batches."""
UNITS_PER_PACKET: Final = PACKET_BYTES_MAX // 2 + 1

LAST_CLOSE: Final = forms.NETWORK + 1
"""A form of unit that is not decoded: the CLOSE at the end of a low-latency connection. Its prefix
has two bytes instead of four, and it is not counted as a message (§9)."""

# How a direction is cut: prefixes of two bytes, of four bytes, or nothing more to come.
SHORT: Final = 0
LONG: Final = 1
OVER: Final = 2
"""Its last CLOSE was received."""

# The counters that kernels share.
PAIRS: Final = 0
UNITS: Final = 1
UNIT_BYTES: Final = 2
FREE: Final = 3
"""The first free extent, 0 if there is none; extents are numbered from 1."""
FORWARDED: Final = 4
INITS_SEEN: Final = 5
OTHERS: Final = 6
HELD: Final = 7
"""Bytes of all extents in use."""
COUNTERS: Final = 8


class Extents(NamedTuple):
    """Row 0 stands for no extent. The size of a free extent is 0."""

    start: NDArray[np.int64]
    size: NDArray[np.int64]
    next: NDArray[np.int64]


class Batches(NamedTuple):
    """Complete batches, back to back: batch `i` ends at `stop[i]` of `data`."""

    data: NDArray[np.uint8]
    stop: NDArray[np.int64]
    form: NDArray[np.uint8]
    """One of `columnar.forms`, or LAST_CLOSE."""
    pair: NDArray[np.int32]
    side: NDArray[np.uint8]
    packet: NDArray[np.int64]
    time_ns: NDArray[np.int64]


def empty_batches(units: int, bytes: int) -> Batches:
    units += UNITS_PER_PACKET
    return Batches(
        np.empty(bytes + BYTES_PER_PACKET, np.uint8),
        np.empty(units, np.int64),
        np.empty(units, np.uint8),
        np.empty(units, np.int32),
        np.empty(units, np.uint8),
        np.empty(units, np.int64),
        np.empty(units, np.int64),
    )


def decodable(form: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Forms for the decoder. A last CLOSE is decoded as a network message, which gives no row."""
    found: NDArray[np.uint8] = np.where(form == LAST_CLOSE, np.uint8(forms.NETWORK), form)
    return found


def more_extents(old: Extents | None, counters: NDArray[np.int64]) -> Extents:
    """Twice as many extents; the new ones come first in the list of free ones."""
    begin = 1 if old is None else len(old.start)
    room = 1_024 if old is None else 2 * begin
    new = Extents(*(np.zeros(room, np.int64) for _ in Extents._fields))
    if old is not None:
        for column, cells in zip(new, old, strict=True):
            column[:begin] = cells
    new.next[begin:-1] = np.arange(begin + 1, room)
    new.next[-1] = counters[FREE]
    counters[FREE] = begin
    return new


@inlined
def cut_batches(
    data: Bytes,
    begin: int,
    stop: int,
    state: Numbers,
    pair: int,
    side: int,
    number: int,
    time_ns: int,
    extents: Extents,
    counters: Numbers,
    out: Batches,
) -> int:
    """Cuts the next bytes of a direction; a reason of irregularity, or 0.

    The caller made sure that an extent is free and that there is room for all output.
    """
    have, size = state[pair, HAVE + side], state[pair, SIZE + side]
    framing = state[pair, FRAMING + side]
    if framing == OVER:
        return reasons.AFTER_END
    head = 4 if framing == LONG else 2
    at = begin
    while at < stop:
        if have < head:
            size |= byte(data, at) << 8 * have
            have += 1
            at += 1
            if have == head and not size:
                return reasons.EMPTY_BATCH
            if size > BATCH_BYTES_MAX and have == head:
                if at < stop or not _is_last_close(state, pair, size):
                    return reasons.TOO_LONG
                _copy_last_close(size, out.data, counters)
                _finish(pair, side, number, time_ns, LAST_CLOSE, counters, out)
                state[pair, FRAMING + side] = OVER
                have, size = 0, 0
            continue
        count = min(size - (have - head), stop - at)
        if have == head and count == size:
            _copy(data, at, count, out.data, counters)
        else:
            _extend(state, pair, side, at, count, extents, counters)
            if have + count == head + size:
                _join_extents(data, state, pair, side, extents, counters, out.data)
        have += count
        at += count
        if have == head + size:
            form = forms.LOW_LATENCY if head == 4 else forms.BATCH
            _finish(pair, side, number, time_ns, form, counters, out)
            if state[pair, WHOLE + side] < 2:
                _count_whole(state, pair, side, size, counters, out.data)
                head = 4 if state[pair, FRAMING + side] == LONG else 2
            have, size = 0, 0
    state[pair, HAVE + side] = have
    state[pair, SIZE + side] = size
    return reasons.NONE


@inlined
def _finish(
    pair: int, side: int, number: int, time_ns: int, form: int, counters: Numbers, out: Batches
) -> None:
    unit = counters[UNITS]
    out.stop[unit] = counters[UNIT_BYTES]
    out.form[unit] = form
    out.pair[unit] = pair
    out.side[unit] = side
    out.packet[unit] = number
    out.time_ns[unit] = time_ns
    counters[UNITS] = unit + 1


@inlined
def _count_whole(
    state: Numbers, pair: int, side: int, size: int, counters: Numbers, content: Bytes
) -> None:
    """INIT_ACK agrees on low latency, which begins in each direction after its OPEN."""
    state[pair, WHOLE + side] += 1
    if state[pair, WHOLE + side] == 2:
        state[pair, FRAMING + side] = LONG if state[pair, LOW_LATENCY] else SHORT
    elif side != state[pair, FIRST_SIDE]:
        end = counters[UNIT_BYTES]
        if agrees_on_low_latency(content, end - size, end):
            state[pair, LOW_LATENCY] = 1


@inlined
def _is_last_close(state: Numbers, pair: int, size: int) -> bool:
    """Whether a prefix of four bytes is one of two and a CLOSE, after the handshake."""
    is_open = state[pair, WHOLE + 1 - state[pair, FIRST_SIDE]] == 2
    return is_open and size & 0xFFFF == 2 and size >> 16 & 0xDF == 0x03


@inlined
def _copy_last_close(size: int, out: Bytes, counters: Numbers) -> None:
    to = counters[UNIT_BYTES]
    out[to] = size >> 16 & 0xFF
    out[to + 1] = size >> 24 & 0xFF
    counters[UNIT_BYTES] = to + 2


@inlined
def _copy(data: Bytes, at: int, count: int, out: Bytes, counters: Numbers) -> None:
    to = counters[UNIT_BYTES]
    copy(data, at, count, out, to)
    counters[UNIT_BYTES] = to + count


@inlined
def _extend(
    state: Numbers, pair: int, side: int, at: int, count: int, extents: Extents, counters: Numbers
) -> None:
    extent = counters[FREE]
    counters[FREE] = extents.next[extent]
    extents.start[extent] = at
    extents.size[extent] = count
    extents.next[extent] = 0
    counters[HELD] += count
    if state[pair, HEAD + side]:
        extents.next[state[pair, TAIL + side]] = extent
    else:
        state[pair, HEAD + side] = extent
    state[pair, TAIL + side] = extent


@inlined
def _join_extents(
    data: Bytes,
    state: Numbers,
    pair: int,
    side: int,
    extents: Extents,
    counters: Numbers,
    out: Bytes,
) -> None:
    """Copies the parts of a complete batch and frees their extents."""
    extent = state[pair, HEAD + side]
    while extent:
        _copy(data, extents.start[extent], extents.size[extent], out, counters)
        extent = _free(extent, extents, counters)
    state[pair, HEAD + side] = 0


@inlined
def forget_batch(state: Numbers, pair: int, side: int, extents: Extents, counters: Numbers) -> None:
    extent = state[pair, HEAD + side]
    while extent:
        extent = _free(extent, extents, counters)
    state[pair, HEAD + side] = 0
    state[pair, HAVE + side] = 0


@inlined
def _free(extent: int, extents: Extents, counters: Numbers) -> int:
    """Frees an extent; returns the next one of its batch."""
    following: int = extents.next[extent]
    counters[HELD] -= extents.size[extent]
    extents.size[extent] = 0
    extents.next[extent] = counters[FREE]
    counters[FREE] = extent
    return following
