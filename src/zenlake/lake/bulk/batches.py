"""Batches: cut out of the bytes of a direction, each behind the two bytes of its length (§6.1).

A batch that is not whole yet is remembered by its extents, the places of its parts in the file;
its bytes are copied once, when it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zenlake.columnar.jit import inlined
from zenlake.lake.bulk import reasons
from zenlake.lake.bulk.numbers import Bytes, Numbers, byte, copy
from zenlake.lake.bulk.pairs import HAVE, HEAD, SIZE, TAIL
from zenlake.limits import BATCH_BYTES_MAX, PACKET_BYTES_MAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXTENTS_MAX: Final = 1 << 21
"""Parts of unfinished batches, in all connections of a file."""

BYTES_PER_PACKET: Final = BATCH_BYTES_MAX + PACKET_BYTES_MAX
"""What one packet can complete: a batch that others began, and those it has itself."""
UNITS_PER_PACKET: Final = PACKET_BYTES_MAX // 2 + 1

# The counters that kernels share.
PAIRS: Final = 0
UNITS: Final = 1
UNIT_BYTES: Final = 2
FREE: Final = 3
"""The first extent that is free, 0 if none is; extents are numbered from 1."""
HANDED: Final = 4
SIGHTED: Final = 5
OTHERS: Final = 6
COUNTERS: Final = 8


class Extents(NamedTuple):
    """Row 0 is none."""

    start: NDArray[np.int64]
    size: NDArray[np.int64]
    next: NDArray[np.int64]


class Batches(NamedTuple):
    """Whole ones, back to back: batch `i` ends at `stop[i]` of `data`."""

    data: NDArray[np.uint8]
    stop: NDArray[np.int64]
    pair: NDArray[np.int32]
    side: NDArray[np.uint8]
    packet: NDArray[np.int64]
    time_ns: NDArray[np.int64]


def empty_batches(units: int, bytes: int) -> Batches:
    units += UNITS_PER_PACKET
    return Batches(
        np.empty(bytes + BYTES_PER_PACKET, np.uint8),
        np.empty(units, np.int64),
        np.empty(units, np.int32),
        np.empty(units, np.uint8),
        np.empty(units, np.int64),
        np.empty(units, np.int64),
    )


def more_extents(old: Extents | None, counters: NDArray[np.int64]) -> Extents:
    """Twice as many; the new ones are put before those that are free."""
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
    """The next bytes of a direction. An extent must be free, and there must be room for all."""
    have, size = state[pair, HAVE + side], state[pair, SIZE + side]
    at = begin
    while at < stop:
        if have < 2:
            size |= byte(data, at) << 8 * have
            have += 1
            at += 1
            if have == 2 and not size:
                return reasons.EMPTY_BATCH
            continue
        count = min(size - (have - 2), stop - at)
        if have == 2 and count == size:
            _copy(data, at, count, out.data, counters)
        else:
            _extend(state, pair, side, at, count, extents, counters)
            if have + count == 2 + size:
                _gather(data, state, pair, side, extents, counters, out.data)
        have += count
        at += count
        if have == 2 + size:
            unit = counters[UNITS]
            out.stop[unit] = counters[UNIT_BYTES]
            out.pair[unit] = pair
            out.side[unit] = side
            out.packet[unit] = number
            out.time_ns[unit] = time_ns
            counters[UNITS] = unit + 1
            have, size = 0, 0
    state[pair, HAVE + side] = have
    state[pair, SIZE + side] = size
    return reasons.NONE


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
    if state[pair, HEAD + side]:
        extents.next[state[pair, TAIL + side]] = extent
    else:
        state[pair, HEAD + side] = extent
    state[pair, TAIL + side] = extent


@inlined
def _gather(
    data: Bytes,
    state: Numbers,
    pair: int,
    side: int,
    extents: Extents,
    counters: Numbers,
    out: Bytes,
) -> None:
    """The parts of a batch that is whole now, which are free then."""
    extent = state[pair, HEAD + side]
    while extent:
        _copy(data, extents.start[extent], extents.size[extent], out, counters)
        following = extents.next[extent]
        extents.next[extent] = counters[FREE]
        counters[FREE] = extent
        extent = following
    state[pair, HEAD + side] = 0


@inlined
def forget_batch(state: Numbers, pair: int, side: int, extents: Extents, counters: Numbers) -> None:
    extent = state[pair, HEAD + side]
    while extent:
        following = extents.next[extent]
        extents.next[extent] = counters[FREE]
        counters[FREE] = extent
        extent = following
    state[pair, HEAD + side] = 0
    state[pair, HAVE + side] = 0
