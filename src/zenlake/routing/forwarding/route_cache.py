"""`RouteCache`: the routes found so far, of all origins, until a change makes them void.

A route depends on the declarations whose keys intersect its own, so a tree of all keys with a
route shows which of them a declaration concerns. Where that takes too long, all routes are
forgotten: that is always right, and they are found again when they are needed.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from zenlake.keyexpr.tree import KeyTree
from zenlake.limits import CACHED_ROUTES_MAX
from zenlake.routing.forwarding.route import CachedRoute
from zenlake.routing.work import Job, Work

R = TypeVar("R", bound=CachedRoute)

FORGET_STEPS: Final = 1_024
"""Steps to find the routes that a change concerns: half a slice."""

FORGET_LOOKUPS_MAX: Final = 16_384
"""Each key may have a route for every origin, and each router is an origin."""

FREED_AT_ONCE_MAX: Final = 1_024

ONCE_USED_MAX: Final = 4_096
"""Below this number of keys a route is added at the first use of its key, else at the second."""

_MARKS_BITS: Final = 16
_MARK_MASK: Final = 0x7F

_LONG_KEY_BITS: Final = 8
"""A key counts once more for each 2 to this power characters: long ones take more memory."""


class RouteCache(Generic[R]):
    __slots__ = ("_keys", "_marks", "_origins", "_size", "_work", "changes")

    def __init__(self, work: Work) -> None:
        self._work = work
        self._origins: list[dict[str, R]] = []
        self._keys: KeyTree[str] = KeyTree()
        self._marks = bytearray()
        """The mark of each offered key, a part of its hash, at an index that is another part."""

        self._size = 0
        self.changes = 0
        """Incremented by each change: a route found before it may be incomplete."""

    def __len__(self) -> int:
        """How many keys have a route, of any origin."""
        return len(self._keys)

    def add_origin(self, routes: dict[str, R]) -> None:
        self._origins.append(routes)

    def remove_origin(self, routes: dict[str, R]) -> None:
        """Forget the routes of an origin; their keys may stay in the tree until they change."""
        self._origins = [known for known in self._origins if known is not routes]
        for key, route in routes.items():
            route.is_current = False
            self._size -= 1 + (len(key) >> _LONG_KEY_BITS)
        routes.clear()

    def offer(self, routes: dict[str, R], key: str, route: R) -> None:
        """Add a route, if its key may be used again.

        Some programs publish on a new key each time. Their routes are never used again, adding one
        costs more than finding it, and the garbage collector would visit all of them. So when many
        keys are cached, a route is added only at the second use of its key. The first use is
        recognized by a mark, a part of the key's hash: rarely, two keys have the same mark and the
        second one is added at its first use, which only costs memory.
        """
        if len(self._keys) < ONCE_USED_MAX or self._is_offered_again(key):
            self.add(routes, key, route)

    def _is_offered_again(self, key: str) -> bool:
        if not self._marks:
            self._marks = bytearray(1 << _MARKS_BITS)
        hashed = hash(key)
        place = hashed & ((1 << _MARKS_BITS) - 1)
        mark = (hashed >> _MARKS_BITS & _MARK_MASK) + 1
        if self._marks[place] == mark:
            return True
        self._marks[place] = mark
        return False

    def add(self, routes: dict[str, R], key: str, route: R) -> None:
        """Add a route of an origin that was found since the last change."""
        if self._size >= CACHED_ROUTES_MAX:
            self.forget_all()
        known = routes.get(key)
        if known is not None:
            known.is_current = False
        else:
            self._size += 1 + (len(key) >> _LONG_KEY_BITS)
            self._keys.insert(key, key)
        routes[key] = route

    def forget(self, key: str) -> None:
        """Forget the routes of all keys that intersect `key`, "" for all."""
        if not key:
            self.forget_all()
            return
        self.changes += 1
        if not len(self._keys):
            return
        search = self._keys.search(key)
        is_finished = search.run(FORGET_STEPS)
        self._work.steps -= search.steps
        if not is_finished or len(search.found) * len(self._origins) > FORGET_LOOKUPS_MAX:
            self.forget_all()
            return
        for concerned in search.found:
            self._keys.remove(concerned)
            for routes in self._origins:
                route = routes.pop(concerned, None)
                if route is not None:
                    route.is_current = False
                    self._size -= 1 + (len(concerned) >> _LONG_KEY_BITS)

    def forget_all(self) -> None:
        self.changes += 1
        if not len(self._keys):
            return
        keys = self._keys
        self._keys = KeyTree()
        former: list[dict[str, R]] = []
        for routes in self._origins:
            for route in routes.values():
                route.is_current = False
            if self._size > FREED_AT_ONCE_MAX:
                former.append(routes.copy())
            routes.clear()
        if former:
            self._work.jobs.append(self._free(keys, former))
        self._size = 0

    def _free(self, keys: KeyTree[str], former: list[dict[str, R]]) -> Job:
        """Free memory in slices: for 65,536 routes that takes tens of milliseconds."""
        for _ in keys.clear_in_steps():
            self._work.steps -= 1
            if self._work.steps <= 0:
                yield
        for routes in former:
            while routes:
                routes.popitem()
                self._work.steps -= 1
                if self._work.steps <= 0:
                    yield
