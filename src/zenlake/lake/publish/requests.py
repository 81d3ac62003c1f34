"""Requests to a store, several at the same time: each mostly waits for the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")
_AT_ONCE: Final = 8


def results_by_key(keys: Iterable[K], work: Callable[[K], V]) -> dict[K, V]:
    """Calls `work` for each key, from several threads."""
    listed = list(keys)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(listed, pool.map(work, listed), strict=True))
