"""`violations`: the findings of `zenlake check` in the same captures."""

from __future__ import annotations

import pytest

from tests.lake.contents.tables import Tables
from tests.trace.sidecar import PATHS
from zenlake import rules, trace


@pytest.mark.parametrize("name", PATHS)
def test_rows_are_the_findings_of_check(tables: Tables, name: str) -> None:
    wanted = [
        (
            finding.session,
            finding.place.link.name,
            finding.packet,
            finding.place.time_ns,
            finding.rule.id,
            finding.rule.severity,
            finding.sender_zid,
            finding.message,
            finding.rule.page,
        )
        for finding in rules.check(trace.open(str(PATHS[name])))
    ]
    names = ("session", "link", "packet", "time_ns", "rule", "severity", "sender_zid")
    rows = [
        tuple(row[column] for column in (*names, "message", "page"))
        for row in tables.of(name, "violations")
    ]
    assert sorted(rows, key=str) == sorted(wanted, key=str)


def test_each_severity_has_violations(tables: Tables) -> None:
    found = {row["severity"] for name in PATHS for row in tables.of(name, "violations")}
    assert found == set(rules.SEVERITIES)
