"""Interning numbers keys like a dictionary, and chosen keys take no longer than others."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.columnar.colliding_keys import colliding_keys, former_hash, stretches
from zenlake.columnar.intern import ABSENT, intern_kernel, intern_stretches
from zenlake.columnar.memory import handle_of
from zenlake.columnar.sip_hash import random_key

_KEYS = 4_096


def probes(keys: list[bytes]) -> int:
    """Slots tried before the right one, for all keys together, in a half-full table."""
    data, offsets, lengths = stretches(keys)
    buf, hash_key = handle_of(data), random_key()
    room = 1 << (2 * len(keys)).bit_length()

    def slots_of(first: int, stop: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        count = stop - first
        zeros = np.zeros(count, np.uint8)
        slots = np.zeros(room, np.int32)
        ids, rows = np.zeros(count, np.int32), np.zeros(count, np.int64)
        present = np.ones(count, np.bool_)
        chosen = offsets[first:stop], lengths[first:stop]
        intern_kernel(
            buf, present, zeros.astype(np.uint32), zeros, *chosen, slots, hash_key, ids, rows
        )
        return slots

    together = slots_of(0, len(keys))
    total = 0
    for slot in np.nonzero(together)[0]:
        number = int(together[slot]) - 1
        alone = int(np.nonzero(slots_of(number, number + 1))[0][0])
        total += (int(slot) - alone) % room
    return total


def test_numbers_are_those_of_a_dictionary() -> None:
    drawn = random.Random(1)
    texts = [b"k" * length + bytes([letter]) for length in range(20) for letter in range(5)]
    keys = [drawn.choice(texts) for _ in range(2_000)]
    beside = [drawn.randrange(3) for _ in keys]
    expected: dict[tuple[bytes, int], int] = {}
    for pair in zip(keys, beside, strict=True):
        expected.setdefault(pair, len(expected))
    found = intern_stretches(*stretches(keys), np.array(beside, np.uint32))
    wanted = [expected[pair] for pair in zip(keys, beside, strict=True)]
    assert found.ids.tolist() == wanted
    assert [wanted.index(number) for number in range(len(expected))] == found.rows.tolist()


def test_absent_rows_have_no_number() -> None:
    data, offsets, lengths = stretches([b"one", b"two"])
    present = np.array([False, True])
    found = intern_stretches(data, offsets, lengths, present=present)
    assert found.ids.tolist() == [ABSENT, 0]


@pytest.mark.parametrize("start", [0, 1, 0x1234_5678_9ABC_DEF0, (1 << 62) - 1])
def test_chosen_keys_are_those_that_collided(start: int) -> None:
    """For any initial value of the former hash: otherwise the next test would prove nothing."""
    keys = colliding_keys(6)
    assert len(set(keys)) == 64
    assert len({former_hash(key, start) for key in keys}) == 1


def test_chosen_keys_cost_as_much_as_others() -> None:
    """Half a probe a key is expected at this load; all in one slot would be 2,047 a key."""
    ordinary = [b"fleet/%d/robot/%d/pose" % (number % 97, number) for number in range(_KEYS)]
    for keys in (colliding_keys(12), ordinary):
        assert len(keys) == _KEYS
        assert probes(keys) < _KEYS
