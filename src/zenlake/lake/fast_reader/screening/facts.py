"""Facts: the arrays that conditions read besides the columns of messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zenlake.lake.fast_reader.columns.decoded import Decoded
from zenlake.lake.fast_reader.columns.keys import KeyColumn
from zenlake.lake.fast_reader.screening.agreed_terms import AgreedTerms
from zenlake.lake.fast_reader.screening.condition_functions import BAD, EMPTY, WIDE
from zenlake.lake.fast_reader.screening.rule_selection import wanted_bits
from zenlake.rules.keys import cause_of

_KEYS_MAX: Final = 4_096


class Facts(NamedTuple):
    """Arrays by unit, by row, by key, by pair and by direction."""

    bounds: NDArray[np.int64]
    form: NDArray[np.uint8]
    pair: NDArray[np.int32]
    direction: NDArray[np.uint8]
    time_ns: NDArray[np.int64]

    priority: NDArray[np.int64]
    has_priority: NDArray[np.bool_]
    reliable: NDArray[np.int64]
    has_reliable: NDArray[np.bool_]

    key_codes: NDArray[np.int32]
    key_flags: NDArray[np.uint8]
    """By code of the key: BAD, EMPTY, WIDE."""
    wanted: NDArray[np.int64]
    """By code of the kind: bits of the rules about it."""

    qos: NDArray[np.bool_]
    patch: NDArray[np.int64]
    batch_size: NDArray[np.int64]
    request_id_bits: NDArray[np.int64]

    lease_ns: NDArray[np.int64]
    last_ns: NDArray[np.int64]
    has_sent: NDArray[np.bool_]


def facts_of(rows: Decoded, keys: KeyColumn, terms: AgreedTerms) -> Facts:
    units = rows.units
    return Facts(
        units.bounds,
        units.form,
        units.pair,
        units.direction,
        units.time_ns,
        *rows.channel("priority"),
        *rows.channel("reliable"),
        keys.codes,
        np.array([_flags(text) for text in keys.texts], np.uint8),
        wanted_bits(),
        terms.qos,
        terms.patch,
        terms.batch_size,
        terms.request_id_bits,
        terms.lease_ns,
        terms.last_ns,
        terms.has_sent,
    )


@lru_cache(_KEYS_MAX)
def _flags(key: str) -> int:
    """Properties that rules about keys check."""
    if not key:
        return EMPTY
    return (BAD if cause_of(key) is not None else 0) | (WIDE if "*" in key else 0)
