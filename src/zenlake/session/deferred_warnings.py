"""Warnings for the user, logged after the lock is released."""

from __future__ import annotations

from collections.abc import Callable

from zenlake.session.sink import Sink


class DeferredWarnings(Sink):
    """Texts that are logged after the lock is released, because logging may run user code."""

    __slots__ = ("_report", "_waiting")

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._waiting: list[str] = []

    def push(self, item: object) -> None:
        self._waiting.append(str(item))

    def after_unlock(self) -> None:
        waiting, self._waiting = self._waiting, []
        for text in waiting:
            self._report(text)
