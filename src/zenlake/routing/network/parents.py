"""`Parents`: which neighbour is believed about which router (reason: neighbour_reports.py)."""

from __future__ import annotations

from zenlake.routing.face import Face
from zenlake.routing.network.neighbour_reports import NeighbourReport, NeighbourReports
from zenlake.routing.network.network import Network
from zenlake.wire.values.queryable_info import QueryableInfo


class Parents:
    __slots__ = ("_network", "_reports", "complete_at")

    def __init__(self, network: Network) -> None:
        self._network = network
        self._reports: dict[Face, NeighbourReports] = {}
        """The reports about each source."""

        self.complete_at: float | None = None
        """When `pop_complete` must be called."""

    def is_believed(self, source: Face, sender: Face) -> bool:
        """Whether a neighbour is the parent; where no parent can be relied on, all are believed."""
        return not self._network.is_uniform or sender is self._network.parent(source.zid)

    def _parent_of(self, source: Face) -> Face | None:
        return self._network.parent(source.zid) if self._network.is_uniform else None

    def note_declared(
        self, source: Face, sender: Face, kind: int, key: str, info: QueryableInfo, now: float
    ) -> bool:
        """Note that a neighbour reports an entity; False if its account is full."""
        reports = self._reports_of(source, now)
        report = reports.report_from(sender)
        if report is reports.believed:
            reports.received_at = now
        return report.add(kind, key, info)

    def note_undeclared(self, source: Face, sender: Face, kind: int, key: str, now: float) -> None:
        self._reports_of(source, now).report_from(sender).discard(kind, key)

    def _reports_of(self, source: Face, now: float) -> NeighbourReports:
        reports = self._reports.get(source)
        if reports is None:
            reports = self._reports[source] = NeighbourReports()
            reports.believe(self._parent_of(source), now)
            reports.is_complete = True  # there was no parent before
        return reports

    def report_of(self, source: Face) -> NeighbourReport | None:
        """The report of the parent of a source, None if there is no parent."""
        reports = self._reports.get(source)
        return None if reports is None or source.is_gone else reports.believed

    def pop_changed(self, now: float) -> list[Face]:
        """Sources whose parent has changed, by trees that were just computed.

        The report of a new parent is current. If it was the parent once before, its report may
        be out of date: then the neighbour is asked to declare everything again.
        """
        self._network.note_lives()
        changed: list[Face] = []
        for source, reports in self._reports.items():
            before = reports.believed
            parent = self._parent_of(source)
            must_ask = reports.believe(parent, now)
            if reports.believed is before or parent is None:
                continue
            self._plan(reports)
            if must_ask:
                self._network.flooding.request_declarations(parent, source.zid)
            else:
                changed.append(source)
        return changed

    def pop_complete(self, now: float) -> list[Face]:
        """Sources whose new parent has reported everything: other entities are gone."""
        if self.complete_at is None or now < self.complete_at:
            return []
        self.complete_at = None
        completed: list[Face] = []
        for source, reports in self._reports.items():
            if reports.is_complete or reports.believed is None:
                continue
            if reports.complete_at() <= now:
                reports.is_complete = True
                completed.append(source)
            else:
                self._plan(reports)
        return completed

    def void(self, source: Face, sender: Face, now: float) -> None:
        """Clear the report of a neighbour, which reports again what a source has."""
        reports = self._reports.get(source)
        if reports is not None:
            reports.void(sender, now)
            if not reports.is_complete:
                self._plan(reports)

    def remove_source(self, source: Face) -> None:
        reports = self._reports.pop(source, None)
        if reports is not None:
            reports.clear()

    def remove_neighbour(self, face: Face) -> None:
        for reports in self._reports.values():
            reports.remove(face)

    def _plan(self, reports: NeighbourReports) -> None:
        at = reports.complete_at()
        if self.complete_at is None or at < self.complete_at:
            self.complete_at = at
