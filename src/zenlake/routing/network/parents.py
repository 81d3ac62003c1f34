"""`Parents`: which neighbour is believed about which router (neighbour_reports.py says why)."""

from __future__ import annotations

from zenlake.routing.face import Face
from zenlake.routing.network.neighbour_reports import Report, Reports
from zenlake.routing.network.network import Network
from zenlake.wire.values.queryable_info import QueryableInfo


class Parents:
    __slots__ = ("_network", "_reports", "settles_at")

    def __init__(self, network: Network) -> None:
        self._network = network
        self._reports: dict[Face, Reports] = {}
        """By source."""

        self.settles_at: float | None = None
        """When `take_settled` is to be called."""

    def is_believed(self, source: Face, sender: Face) -> bool:
        """Whether a neighbour is the parent; where no parent can be relied on, all are believed."""
        return not self._network.is_uniform or sender is self._network.parent(source.zid)

    def _parent_of(self, source: Face) -> Face | None:
        return self._network.parent(source.zid) if self._network.is_uniform else None

    def note_declared(
        self, source: Face, sender: Face, kind: int, key: str, info: QueryableInfo, now: float
    ) -> bool:
        """False if a neighbour makes this node keep too much."""
        reports = self._reports_of(source, now)
        report = reports.of(sender)
        if report is reports.believed:
            reports.heard_at = now
        return report.add(kind, key, info)

    def note_undeclared(self, source: Face, sender: Face, kind: int, key: str, now: float) -> None:
        self._reports_of(source, now).of(sender).discard(kind, key)

    def _reports_of(self, source: Face, now: float) -> Reports:
        reports = self._reports.get(source)
        if reports is None:
            reports = self._reports[source] = Reports()
            reports.believe(self._parent_of(source), now)
            reports.is_settled = True  # nothing was said before
        return reports

    def report_of(self, source: Face) -> Report | None:
        """What is believed of a source, None if nobody is in particular."""
        reports = self._reports.get(source)
        return None if reports is None or source.is_gone else reports.believed

    def take_changed(self, now: float) -> list[Face]:
        """Sources whose parent is another one, by trees that were just computed.

        What the new parent has said already is true. If it was the parent once before, it may be
        out of date: then the neighbour is asked to say it again.
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
                self._network.ask_again(parent, source.zid)
            else:
                changed.append(source)
        return changed

    def take_settled(self, now: float) -> list[Face]:
        """Sources whose new parent has told all: what it did not say is gone."""
        if self.settles_at is None or now < self.settles_at:
            return []
        self.settles_at = None
        settled: list[Face] = []
        for source, reports in self._reports.items():
            if reports.is_settled or reports.believed is None:
                continue
            if reports.settles_at() <= now:
                reports.is_settled = True
                settled.append(source)
            else:
                self._plan(reports)
        return settled

    def void(self, source: Face, sender: Face, now: float) -> None:
        """A neighbour begins anew to tell what a source has."""
        reports = self._reports.get(source)
        if reports is not None:
            reports.void(sender, now)
            if not reports.is_settled:
                self._plan(reports)

    def remove_source(self, source: Face) -> None:
        reports = self._reports.pop(source, None)
        if reports is not None:
            reports.clear()

    def remove_neighbour(self, face: Face) -> None:
        for reports in self._reports.values():
            reports.remove(face)

    def _plan(self, reports: Reports) -> None:
        at = reports.settles_at()
        if self.settles_at is None or at < self.settles_at:
            self.settles_at = at
