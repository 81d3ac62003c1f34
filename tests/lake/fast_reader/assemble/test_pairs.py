"""The hash table of pairs finds each pair, and chosen addresses cannot make all of them collide."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from zenlake.lake.fast_reader.assemble.pairs import Pairs, fill_slots
from zenlake.lake.fast_reader.assemble.segment import HIGHER, KEY_WORDS, LOWER, PORTS

_PAIRS = 4_096


def _keys(word: int, step: int) -> NDArray[np.int64]:
    """Pairs that differ in one word."""
    keys = np.zeros((_PAIRS, KEY_WORDS), np.int64)
    keys[:, word] = np.arange(_PAIRS) * step
    return keys


def _probes(keys: NDArray[np.int64]) -> int:
    """Slots that are probed before the right one, for all pairs together."""
    pairs = Pairs.from_keys(keys)
    room = len(pairs.slots)
    total = 0
    for slot in np.nonzero(pairs.slots)[0]:
        alone = np.zeros(room, np.int64)
        fill_slots(keys[int(pairs.slots[slot]) - 1][None], alone, pairs.seed, 1)
        total += (int(slot) - int(np.nonzero(alone)[0][0])) % room
    return total


@pytest.mark.parametrize(
    ("word", "step"),
    [(PORTS, 1), (PORTS, 1 << 16), (LOWER, 1 << 20), (LOWER + 3, 1), (HIGHER, 1 << 16)],
)
def test_pairs_that_differ_little_are_spread(word: int, step: int) -> None:
    """In a half-full table, half a probe is expected for each pair."""
    assert _probes(_keys(word, step)) < _PAIRS


def test_each_table_has_its_own_hash() -> None:
    """So collisions found in one run do not help in the next."""
    keys = _keys(LOWER, 1)
    assert not np.array_equal(Pairs.from_keys(keys).slots, Pairs.from_keys(keys).slots)


def test_all_pairs_are_in_the_table_after_growing() -> None:
    pairs = Pairs(16)
    pairs.keys[:] = _keys(LOWER + 1, 3)[:16]
    pairs.count = 16
    pairs.grow(_PAIRS)
    assert pairs.room == 32
    assert sorted(pairs.slots[pairs.slots > 0] - 1) == list(range(16))
