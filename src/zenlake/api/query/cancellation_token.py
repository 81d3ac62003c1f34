"""`CancellationToken`: ends open queries."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import final

from zenlake.api.final_classes import no_subclasses
from zenlake.api.unannotated import Unannotated


@final
@no_subclasses
class CancellationToken:
    """A token for any number of queries; `cancel` ends them, and later ones at their start."""

    __slots__ = ("_hooks", "_is_cancelled", "_lock", "_registered")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hooks: dict[int, Callable[[], object]] = {}
        self._is_cancelled = False
        self._registered = 0

    def cancel(self) -> Unannotated:
        """End all queries with this token, and wait for running callbacks.

        Afterwards no callback of these queries is called but `drop`. A callback may cancel its
        own query: it does not wait for itself. Every call waits, not only the first.
        """
        with self._lock:
            self._is_cancelled = True
            hooks = list(self._hooks.values())
        # The lock is released first: a hook may wait for a callback, which may use this token.
        for hook in hooks:
            hook()

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def register(self, hook: Callable[[], object]) -> int | None:
        """Register `hook`, which every `cancel` calls until `unregister` gets the returned number.

        None, without a call, if the token is cancelled already: the query must not start.
        """
        with self._lock:
            if self._is_cancelled:
                return None
            self._registered += 1
            self._hooks[self._registered] = hook
            return self._registered

    def unregister(self, number: int) -> None:
        """Remove the hook of a query that has ended; it may be running, or be removed already."""
        with self._lock:
            self._hooks.pop(number, None)

    def __repr__(self) -> str:
        return f"CancellationToken(is_cancelled={self._is_cancelled})"
