"""The hash of some words, where its parts cannot be called from outside."""

from __future__ import annotations

import numpy as np

from zenlake.columnar.jit import NUMBA
from zenlake.columnar.sip_hash import HashKey, begin_hash, feed_hash, slot_hash
from zenlake.lake.fast_reader.scan.numbers import Numbers


def _hash_words(key: HashKey, words: Numbers) -> int:
    state = begin_hash(key)
    for word in words:
        state = feed_hash(state, word)
    return slot_hash(state)


_kernel = _hash_words if NUMBA is None else NUMBA.njit(_hash_words)


def hash_of_words(key: HashKey, words: tuple[int, ...]) -> int:
    return int(_kernel(key, np.array(words, np.int64)))
