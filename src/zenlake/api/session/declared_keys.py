"""`DeclaredKeyCounts`: counts how often a session declared each key expression."""

from __future__ import annotations

from collections import Counter

from zenlake.errors import ZError


class DeclaredKeyCounts:
    """Declared keys are not sent; the counts make undeclaring an unknown key an error."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, key: str) -> None:
        self._counts[key] += 1

    def remove(self, key: str) -> None:
        if not self._counts[key]:
            raise ZError(
                f"Failed to undeclare {key}, make sure you use the result of "
                "`Session::declare_keyexpr` to call `Session::undeclare`, and that "
                "key_expression was not undeclared previously"
            )
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]
