"""`Reports`: what each neighbour says that a router of the network has.

Declarations between routers have no version. When a tree changes, its root may be described by two
neighbours at once: by one that no longer hears what changes there, and by one that does not know
that it is to tell. So this node notes who says what. It believes the neighbour through which the
root's tree reaches it, its *parent*: links keep the order of messages, so the last word of the
parent is what the parent has, and by the same rule so on up to the root. All routers have the same
trees soon after a change, hence in the end they all know what the root has.

A new parent needs time to tell all. Until then what the old one said stays.
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.declarations.entity import KINDS
from zenlake.routing.face import Face
from zenlake.routing.memory import alias_bytes
from zenlake.wire.values.queryable_info import QueryableInfo

PATIENCE_S: Final = 1.0
"""A new parent that has said nothing for this long has told all."""

PATIENCE_MAX_S: Final = 10.0
"""However much it says."""


class Report:
    """What one neighbour says."""

    __slots__ = ("_bytes", "_sender", "infos", "was_believed")

    def __init__(self, sender: Face) -> None:
        self._sender = sender
        self._bytes = 0
        self.infos: list[dict[str, QueryableInfo]] = [{} for _ in KINDS]
        """By kind and key."""

        self.was_believed = False
        """Whether the neighbour was the parent: it may not have told what changed since."""

    def add(self, kind: int, key: str, info: QueryableInfo) -> bool:
        """False if the neighbour makes this node keep too much."""
        infos = self.infos[kind]
        if key not in infos:
            size = alias_bytes(key)
            if not self._sender.account.charge(size):
                return False
            self._bytes += size
        infos[key] = info
        return True

    def discard(self, kind: int, key: str) -> None:
        if self.infos[kind].pop(key, None) is not None:
            size = alias_bytes(key)
            self._bytes -= size
            self._sender.account.release(size)

    def clear(self) -> None:
        self._sender.account.release(self._bytes)
        self._bytes = 0
        self.infos = [{} for _ in KINDS]


class Reports:
    """All that is said of one router."""

    __slots__ = ("_by", "believed", "changed_at", "heard_at", "is_settled")

    def __init__(self) -> None:
        self._by: dict[Face, Report] = {}
        self.believed: Report | None = None
        """That of the parent; None if there is none, or if it cannot be relied on."""

        self.changed_at = 0.0
        """When the parent became another one, or began anew to tell."""

        self.heard_at = 0.0
        """When the parent declared something last."""

        self.is_settled = True
        """Whether nothing is known any more but what the parent says."""

    def of(self, sender: Face) -> Report:
        report = self._by.get(sender)
        if report is None:
            report = self._by[sender] = Report(sender)
        return report

    def believe(self, sender: Face | None, now: float) -> bool:
        """Another neighbour is the parent; whether it must be asked to tell all once more."""
        report = None if sender is None else self.of(sender)
        if report is self.believed:
            return False
        self.believed = report
        if report is None:
            return False
        self.changed_at = now
        self.is_settled = False
        was_believed = report.was_believed
        report.was_believed = True
        return was_believed

    def void(self, sender: Face, now: float) -> None:
        """A neighbour begins anew to tell what there is."""
        report = self._by.get(sender)
        if report is None:
            return
        report.clear()
        if report is self.believed:
            self.changed_at = now
            self.is_settled = False
        else:
            report.was_believed = False

    def remove(self, sender: Face) -> None:
        """A neighbour is gone."""
        report = self._by.pop(sender, None)
        if report is not None:
            report.clear()
            if report is self.believed:
                self.believed = None

    def clear(self) -> None:
        for report in self._by.values():
            report.clear()
        self._by.clear()
        self.believed = None

    def settles_at(self) -> float:
        """From when on the parent has told all."""
        quiet_at = max(self.changed_at, self.heard_at) + PATIENCE_S
        return min(quiet_at, self.changed_at + PATIENCE_MAX_S)
