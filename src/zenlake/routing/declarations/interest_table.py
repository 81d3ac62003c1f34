"""`InterestTable`: interests in future declarations, by kind and key."""

from __future__ import annotations

from zenlake.keyexpr.search import Search
from zenlake.keyexpr.tree import KeyTree
from zenlake.routing.declarations.entity import KINDS
from zenlake.routing.declarations.interest import DownInterest


class InterestTable:
    __slots__ = ("_restricted", "_unrestricted", "last_number")

    def __init__(self) -> None:
        self._restricted: list[KeyTree[dict[DownInterest, None]]] = [KeyTree() for _ in KINDS]
        self._unrestricted: list[dict[DownInterest, None]] = [{} for _ in KINDS]
        self.last_number = 0
        """The number of interests that were ever added."""

    def __len__(self) -> int:
        return sum(map(len, self._restricted)) + sum(map(len, self._unrestricted))

    def add(self, interest: DownInterest) -> None:
        self.last_number += 1
        interest.number = self.last_number
        for kind in interest.kinds():
            if not interest.key:
                self._unrestricted[kind][interest] = None
                continue
            twins = self._restricted[kind].get(interest.key)
            if twins is None:
                twins = {}
                self._restricted[kind].insert(interest.key, twins)
            twins[interest] = None

    def remove(self, interest: DownInterest) -> None:
        for kind in interest.kinds():
            if not interest.key:
                self._unrestricted[kind].pop(interest, None)
                continue
            twins = self._restricted[kind].get(interest.key)
            if twins is not None:
                twins.pop(interest, None)
                if not twins:
                    self._restricted[kind].remove(interest.key)

    def close(self) -> None:
        """Remove everything: nothing is announced any more."""
        for kind in KINDS:
            self._restricted[kind] = KeyTree()
            self._unrestricted[kind].clear()

    def unrestricted(self, kind: int) -> list[DownInterest]:
        """The interests in all keys."""
        return list(self._unrestricted[kind])

    def get(self, kind: int, key: str) -> dict[DownInterest, None] | None:
        """The interests in `kind` with exactly this key."""
        return self._restricted[kind].get(key)

    def search(self, kind: int, key: str) -> Search[dict[DownInterest, None]] | None:
        """A search for the other interests in `kind` that `key` concerns, None if there are none.

        It finds them in groups with the same key.
        """
        tree = self._restricted[kind]
        return tree.search(key) if len(tree) else None
