"""ViolationRecorder: broken rules as rows of `violations`; idle if that table is not wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.trace.events import TraceEvent
from zenlake.trace.links.connection import LinkItem
from zenlake.trace.rows._generated.records import ViolationsRow
from zenlake.trace.rows.rows import Rows
from zenlake.trace.trace import Trace

if TYPE_CHECKING:
    from zenlake.rules import Checker, Finding

TABLE = ViolationsRow.TABLE


class ViolationRecorder:
    """Takes the same steps of a trace as the row maker."""

    def __init__(self, rows: Rows, trace: Trace) -> None:
        self._rows = rows
        self._checker: Checker | None = None
        if TABLE in rows.tables:
            # There are many rules: they are imported only if they are needed.
            from zenlake.rules import Checker

            self._checker = Checker(is_redacted=trace.is_redacted)

    def feed(self, item: LinkItem, events: list[TraceEvent]) -> None:
        checker = self._checker
        if checker is None:
            return
        checker.feed(item, events)
        if checker.findings:
            add_findings(self._rows, checker.pop_findings())

    def finish(self) -> None:
        """Adds the rows of violations that show at the end of the capture."""
        if self._checker is not None:
            self._checker.finish()
            add_findings(self._rows, self._checker.pop_findings())


def add_findings(rows: Rows, findings: list[Finding]) -> None:
    """Adds a row for each finding. Session and sender get their names when rows are written."""
    violations = rows.tables[TABLE]
    for finding in findings:
        place, rule = finding.place, finding.rule
        violations.append(
            ViolationsRow(
                session=place.session,
                link=place.link.name,
                packet=place.packet,
                time_ns=place.time_ns,
                rule=rule.id,
                severity=rule.severity,
                sender_zid=place.node,
                message=finding.message,
                page=rule.page,
                times=finding.times,
            )
        )
