# Parts: d88f53e7d37ddfbb
"""Interned keys: each distinct (scope, whose numbering, suffix) gets a number.

A column of keys then is a column of small numbers and a short list of distinct keys. Only these
have to be resolved, matched or written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zenlake.columnar.jit import entry, inlined
from zenlake.columnar.memory import handle_of, load, load_eight
from zenlake.columnar.sip_hash import begin_hash, feed_hash, random_key, slot_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zenlake.columnar.columns import Columns
    from zenlake.columnar.memory import Buffer, Numbers
    from zenlake.columnar.sip_hash import HashKey

_HASH_KEY: Final = random_key()
ABSENT: Final = -1


class Keys(NamedTuple):
    """A number for each row (`ABSENT` if it has no key), and the first row of each number."""

    ids: NDArray[np.int32]
    rows: NDArray[np.int64]


def intern_keys(columns: Columns) -> Keys:
    """Numbers in the order in which the keys appear."""
    names = ("key_scope", "key_sender", "key_suffix_offset", "key_suffix_length")
    parts = [columns[name] for name in names]
    return _intern(columns.data, columns.present("key"), *parts)


def intern_stretches(
    data: NDArray[np.uint8],
    offsets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    numbers: NDArray[np.uint32] | None = None,
    present: NDArray[np.bool_] | None = None,
) -> Keys:
    """Intern byte ranges, each with an optional number; a range at offset 0 is absent."""
    count = len(offsets)
    chosen = offsets != 0 if present is None else present
    scopes = np.zeros(count, np.uint32) if numbers is None else numbers
    return _intern(data, chosen, scopes, np.zeros(count, np.uint8), offsets, lengths)


def _intern(
    data: NDArray[np.uint8],
    present: NDArray[np.bool_],
    scopes: NDArray[np.uint32],
    senders: NDArray[np.uint8],
    offsets: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
) -> Keys:
    count = len(present)
    ids = np.full(count, ABSENT, np.int32)
    rows = np.zeros(count, np.int64)
    slots = np.zeros(1 << (2 * count).bit_length(), np.int32)
    buf = handle_of(data)
    found = intern_kernel(
        buf, present, scopes, senders, offsets, lengths, slots, _HASH_KEY, ids, rows
    )
    return Keys(ids, rows[:found].copy())


@inlined
def hash_of(buf: Buffer, key: HashKey, alias: int, offset: int, length: int) -> int:
    """The hash of the alias (33 bits) and the bytes, in words of eight; the last may overlap."""
    state = feed_hash(begin_hash(key), alias << 31 ^ length)
    pos, end = offset, offset + length
    if length < 8:
        word = 0
        while pos < end:
            word = word << 8 | load(buf, pos)
            pos += 1
        return slot_hash(feed_hash(state, word))
    while pos < end:
        state = feed_hash(state, load_eight(buf, min(pos, end - 8)))
        pos += 8
    return slot_hash(state)


@inlined
def _are_equal(buf: Buffer, first: int, second: int, length: int) -> bool:
    index = 0
    while index < length:
        if length < 8:
            if load(buf, first + index) != load(buf, second + index):
                return False
            index += 1
        else:
            begin = min(index, length - 8)
            if load_eight(buf, first + begin) != load_eight(buf, second + begin):
                return False
            index += 8
    return True


@entry
def intern_kernel(
    buf: Buffer,
    present: Numbers,
    scopes: Numbers,
    senders: Numbers,
    offsets: Numbers,
    lengths: Numbers,
    slots: Numbers,
    key: HashKey,
    ids: Numbers,
    rows: Numbers,
) -> int:
    """Open addressing: a slot is 0 or the number of a key plus 1; at least half are free."""
    count = 0
    for n in range(len(present)):
        if not present[n]:
            continue
        offset, length = int(offsets[n]), int(lengths[n])
        alias = int(scopes[n]) << 1 | int(senders[n])
        slot = hash_of(buf, key, alias, offset, length) & len(slots) - 1
        while slots[slot] != 0:
            other = int(rows[int(slots[slot]) - 1])
            if (
                alias == int(scopes[other]) << 1 | int(senders[other])
                and length == int(lengths[other])
                and _are_equal(buf, offset, int(offsets[other]), length)
            ):
                break
            slot = slot + 1 & len(slots) - 1
        if slots[slot] == 0:
            rows[count] = n
            count += 1
            slots[slot] = count
        ids[n] = slots[slot] - 1
    return count
