"""`NeighbourReports`: what each neighbour reports that a router of the network has declared.

Declarations between routers have no version. When a tree changes, two neighbours may report what
its root has: one that no longer receives the changes, and one that does not know yet that it has to
forward them. So this node keeps a report of each neighbour. It believes the neighbour through which
the root's tree reaches it, its *parent*: links keep the order of messages, so the last message of
the parent is what the parent has, and by the same rule so on up to the root. All routers have the
same trees soon after a change, so in the end they all know what the root has.

A new parent needs time to report everything. Until then the report of the old one stays.
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.declarations.entity import KINDS
from zenlake.routing.face import Face
from zenlake.routing.memory import alias_bytes
from zenlake.wire.values.queryable_info import QueryableInfo

PATIENCE_S: Final = 1.0
"""The time without a declaration after which the report of a new parent is complete."""

PATIENCE_MAX_S: Final = 10.0
"""The time after which the report is complete even if declarations still arrive."""


class NeighbourReport:
    """The report of one neighbour."""

    __slots__ = ("_bytes", "_sender", "infos", "was_believed")

    def __init__(self, sender: Face) -> None:
        self._sender = sender
        self._bytes = 0
        self.infos: list[dict[str, QueryableInfo]] = [{} for _ in KINDS]
        """The reported entities by kind and key."""

        self.was_believed = False
        """Whether the neighbour was the parent before: its report may be out of date."""

    def add(self, kind: int, key: str, info: QueryableInfo) -> bool:
        """Add an entity; False if the account of the neighbour is full."""
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


class NeighbourReports:
    """The reports of all neighbours about one router."""

    __slots__ = ("_by", "believed", "changed_at", "is_complete", "received_at")

    def __init__(self) -> None:
        self._by: dict[Face, NeighbourReport] = {}
        self.believed: NeighbourReport | None = None
        """The report of the parent; None if there is no parent, or if it cannot be relied on."""

        self.changed_at = 0.0
        """When the parent changed, or started its report again."""

        self.received_at = 0.0
        """When the parent declared something last."""

        self.is_complete = True
        """Whether only the report of the parent counts."""

    def report_from(self, sender: Face) -> NeighbourReport:
        report = self._by.get(sender)
        if report is None:
            report = self._by[sender] = NeighbourReport(sender)
        return report

    def believe(self, sender: Face | None, now: float) -> bool:
        """Make another neighbour the parent; whether it must be asked to declare all again."""
        report = None if sender is None else self.report_from(sender)
        if report is self.believed:
            return False
        self.believed = report
        if report is None:
            return False
        self.changed_at = now
        self.is_complete = False
        was_believed = report.was_believed
        report.was_believed = True
        return was_believed

    def void(self, sender: Face, now: float) -> None:
        """Clear the report of a neighbour, which starts it again."""
        report = self._by.get(sender)
        if report is None:
            return
        report.clear()
        if report is self.believed:
            self.changed_at = now
            self.is_complete = False
        else:
            report.was_believed = False

    def remove(self, sender: Face) -> None:
        """Remove the report of a neighbour that is gone."""
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

    def complete_at(self) -> float:
        """When the report of the parent is complete."""
        quiet_at = max(self.changed_at, self.received_at) + PATIENCE_S
        return min(quiet_at, self.changed_at + PATIENCE_MAX_S)
