"""Retry: how long a node waits before it connects or listens again."""

from __future__ import annotations

import threading
from math import isfinite
from typing import Final

from zenlake.errors import LocalError
from zenlake.wire import EndPoint

NEVER_S: Final = threading.TIMEOUT_MAX
_SHORTEST_WAIT_S: Final = 0.01


class Retry:
    """How long to wait before trying again: first, at most, and how it grows.

    A first wait below 0 means no retry, a longest wait of 0 or less no limit. No setting makes the
    wait 0, so a node never retries in a busy loop.
    """

    __slots__ = ("factor", "first_s", "max_s")

    def __init__(self, first_s: float = 1.0, max_s: float = 4.0, factor: float = 2.0) -> None:
        self.first_s = first_s
        self.max_s = max_s
        self.factor = factor

    @property
    def initial_s(self) -> float:
        return NEVER_S if self.first_s < 0 else max(self.first_s, _SHORTEST_WAIT_S)

    def after(self, wait_s: float) -> float:
        longest_s = self.max_s if self.max_s > 0 else NEVER_S
        return max(_SHORTEST_WAIT_S, min(wait_s * self.factor, longest_s, NEVER_S))

    def for_endpoint(self, endpoint: EndPoint) -> Retry:
        """`tcp/host:port#retry_period_init_ms=...` comes before the configuration."""
        config = endpoint.config
        first = config.get("retry_period_init_ms")
        longest = config.get("retry_period_max_ms")
        factor = config.get("retry_period_increase_factor")
        try:
            return Retry(
                self.first_s if first is None else _finite(first) / 1000,
                self.max_s if longest is None else _finite(longest) / 1000,
                self.factor if factor is None else _finite(factor),
            )
        except ValueError:
            raise LocalError(f"{endpoint}: retry_period_* options must be numbers") from None


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number
