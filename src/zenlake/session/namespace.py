"""The prefix that a session hides from its user (behaviour reference §6.7)."""

from __future__ import annotations

from typing import Final

from zenlake.keyexpr.prefix import strip_nonwild_prefix

_REMEMBERED_MAX: Final = 4_096


class Namespace:
    """Adds the prefix to sent keys, and removes it from received ones."""

    __slots__ = ("_known", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._known: dict[str, str | None] = {}

    def full(self, key: str) -> str:
        """The key as the network knows it."""
        return f"{self._prefix}/{key}" if self._prefix else key

    def own(self, key: str) -> str | None:
        """The key as the user knows it; None if it is outside the namespace."""
        if not self._prefix:
            return key
        if key in self._known:
            return self._known[key]
        if len(self._known) >= _REMEMBERED_MAX:
            self._known.clear()
        own = strip_nonwild_prefix(key, self._prefix)
        self._known[key] = own
        return own
