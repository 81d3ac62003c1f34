"""Conformance rules: requirements of the pages and references that a capture can show.

    rule            Rule, and the decorator that registers one
    registry        all of them, by topic: handshake, channels, keys, queries, ...
    facts           the state that rules read
    fact_updates    how messages change that state
    noncanonical    bytes that differ from the canonical encoding of their messages
    batch_deviations  the same for one batch, in the form that its session agreed on
    checker         Checker: events in, findings out

from zenlake import rules, trace

for finding in rules.check(trace.open("robot.pcapng")):
    print(finding.packet, finding.rule.id, finding.message)

Rules depend only on the events of a trace, not on files, tables or terminals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from zenlake.rules.checker import Checker
from zenlake.rules.finding import Finding
from zenlake.rules.registry import RULES
from zenlake.rules.rule import ERROR, NOTE, SEVERITIES, WARNING, Rule
from zenlake.trace.trace import Trace

__all__ = [
    "ERROR",
    "NOTE",
    "RULES",
    "SEVERITIES",
    "WARNING",
    "Checker",
    "Finding",
    "Rule",
    "check",
]


def check(trace: Trace, only: Collection[str] | None = None) -> Iterator[Finding]:
    """Yields the violations of all or some rules in a capture as they are found."""
    checker = Checker(only, trace.is_redacted)
    for item, events in trace.steps():
        checker.feed(item, events)
        if checker.findings:
            yield from checker.pop_findings()
