"""`Account`: the bytes that one neighbour makes this node keep, within a budget for all of them.

Entries are charged by what they cost in this process, not by their number: a declaration of a
4,096-byte key costs more than one of a ten-byte key. The figures are upper bounds for CPython,
which a test holds to the memory measured.
"""

from __future__ import annotations

from typing import Final

from zenlake.limits import FACE_BYTES_MAX, ROUTING_BYTES_MAX

DECLARATION_BYTES: Final = 1_100
"""An entity, its holder and its place in the tree, without its key, which is counted twice."""

ALIAS_BYTES: Final = 200
INTEREST_BYTES: Final = 450
INTEREST_KIND_BYTES: Final = 450
"""The place of an interest in one tree, without its key, which is counted twice."""

ANNOUNCED_BYTES: Final = 400
"""A declaration that was sent to a neighbour."""

REQUEST_BYTES: Final = 400
BRANCH_BYTES: Final = 500


class MemoryBudget:
    """How many bytes all neighbours of a node may make it keep."""

    __slots__ = ("held_bytes", "limit_bytes")

    def __init__(self, limit_bytes: int = ROUTING_BYTES_MAX) -> None:
        self.limit_bytes = limit_bytes
        self.held_bytes = 0


class Account:
    """The bytes kept for one neighbour; an application of this process has no limit."""

    __slots__ = ("_budget", "_is_closed", "_limit_bytes", "held_bytes", "refused")

    def __init__(self, budget: MemoryBudget | None = None, limit_bytes: int = FACE_BYTES_MAX):
        self._budget = budget
        self._limit_bytes = limit_bytes
        self._is_closed = False
        self.held_bytes = 0
        self.refused = ""
        """The last refusals and the limit of each, until they are logged."""

    def charge(self, size: int) -> bool:
        """Whether both limits allow `size` more bytes; if so they are charged."""
        budget = self._budget
        if budget is not None:
            if self.held_bytes + size > self._limit_bytes:
                self.refuse("limits/routing/session_bytes", self._limit_bytes)
                return False
            if budget.held_bytes + size > budget.limit_bytes:
                self.refuse("limits/routing/process_bytes", budget.limit_bytes)
                return False
            budget.held_bytes += size
        self.held_bytes += size
        return True

    def refuse(self, limit_key: str, limit: int) -> None:
        """Note that a limit was reached, for a warning."""
        self.refused = f"{limit_key} is {limit}"

    def add(self, size: int) -> None:
        """Charge bytes that cannot be refused: declarations sent for the neighbour's interests."""
        self.held_bytes += size
        if self._budget is not None:
            self._budget.held_bytes += size

    def release(self, size: int) -> None:
        if self._is_closed:
            return
        self.held_bytes -= size
        if self._budget is not None:
            self._budget.held_bytes -= size

    def close(self) -> None:
        """Release everything: the neighbour is gone."""
        self.release(self.held_bytes)
        self._is_closed = True


def declaration_bytes(key: str) -> int:
    return DECLARATION_BYTES + 2 * _text_bytes(key)


def alias_bytes(key: str) -> int:
    return ALIAS_BYTES + _text_bytes(key)


def interest_bytes(key: str, kinds: int) -> int:
    """The memory of an interest in so many kinds of declarations."""
    return INTEREST_BYTES + kinds * (INTEREST_KIND_BYTES + 2 * _text_bytes(key))


def _text_bytes(text: str) -> int:
    """One character outside ASCII may make all of them take four bytes."""
    return len(text) if text.isascii() else 4 * len(text)
