"""zenlake check: finds violations of the protocol, with packet numbers and pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, Final

import zenlake.trace
from zenlake import rules
from zenlake.cli.capture_options import (
    add_port_option,
    check_ports,
    collect_garbage_less_often,
    refuse_stored,
)
from zenlake.cli.output import count_text, painter, print_json, print_lines, safe
from zenlake.cli.progress import watched_steps
from zenlake.errors import LocalError
from zenlake.rules import ERROR, RULES, SEVERITIES, Finding, Rule
from zenlake.rules.registry import BY_TOPIC
from zenlake.semantics.citations import cited, cited_text
from zenlake.trace import Trace
from zenlake.trace.events import MessageSeen
from zenlake.trace.trace import Steps

EXAMPLES = """examples:
  zenlake check capture.pcapng
  zenlake check --severity error *.pcapng             only errors
  zenlake check --rule response-final-missing capture.pcapng
  zenlake check --json capture.pcapng.gz
  zenlake check --list                                all rules, with their pages
  tcpdump -i any -U -w - port 7447 | zenlake check -

Sessions that began before the capture, or with missing packets, are not checked where the
missing part matters. docs/reference/rules.md has all rules, docs/check.md explains findings.
exit codes: 0 no errors; 1 an error was found, or the file was damaged; 2 it cannot be read
"""
_SHOWN_MAX: Final = 10
_STYLES: Final = {"error": "error", "warning": "notice", "note": "dim"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="pcap or pcapng, also .gz and .zst; - for stdin")
    add("--rule", action="append", default=[], metavar="ID", help="only this rule; may be repeated")
    add("--severity", choices=SEVERITIES, default="note", help="this severity and worse ones")
    add("--limit", type=int, default=_SHOWN_MAX, metavar="N", help="findings shown per rule")
    add("--list", action="store_true", help="print the rules")
    add("--json", action="store_true", help="one JSON object per line")
    add_port_option(parser)


def run(args: argparse.Namespace) -> int:
    chosen = _chosen(args)
    if args.list:
        _print_rules(chosen, args.json)
        return 0
    if not args.files:
        raise LocalError("a capture is needed, or --list")
    if args.limit < 1:
        raise LocalError(f"--limit must be at least 1, not {args.limit}")
    check_ports(args.port)
    refuse_stored("check", args.files)
    collect_garbage_less_often()
    is_bad = False
    for file in args.files:
        with zenlake.trace.open(file, ports=args.port) as trace:
            report = _Report(file, args.limit)
            steps = watched_steps(trace, [file], is_shown=not args.json)
            checker = rules.Checker([rule.id for rule in chosen], trace.is_redacted)
            _check(steps, report, checker, args.json)
            if args.json:
                print_json(report.totals(trace))
            else:
                print_lines(report.lines(trace, painter(sys.stdout), len(args.files) > 1))
            is_bad |= trace.is_damaged or report.has_errors
    return 1 if is_bad else 0


def _chosen(args: argparse.Namespace) -> list[Rule]:
    for id in args.rule:
        if id not in RULES:
            raise LocalError(f"there is no rule {id!r}: see zenlake check --list")
    worst = SEVERITIES.index(args.severity)
    found = [RULES[id] for id in args.rule] if args.rule else list(RULES.values())
    return [rule for rule in found if SEVERITIES.index(rule.severity) <= worst]


def _check(steps: Steps, report: _Report, checker: rules.Checker, as_json: bool) -> None:
    def collect() -> None:
        for finding in checker.pop_findings():
            report.add(finding)
            if as_json:
                print_json(_as_json(report.file, finding))

    for item, events in steps:
        report.messages += sum(
            [isinstance(event, MessageSeen) and not event.is_state for event in events]
        )
        checker.feed(item, events)
        if checker.findings:
            collect()
    checker.finish()
    collect()
    report.counts = checker.counts


class _Report:
    """The findings in one file: the first ones of each rule, and their number."""

    def __init__(self, file: str, shown_max: int) -> None:
        self.file = file
        self.messages = 0
        self.counts: dict[str, int] = {}
        self._shown: dict[str, list[Finding]] = {}
        self._shown_max = shown_max

    def add(self, finding: Finding) -> None:
        shown = self._shown.setdefault(finding.rule.id, [])
        if len(shown) < self._shown_max:
            shown.append(finding)

    @property
    def has_errors(self) -> bool:
        return any(RULES[id].severity == ERROR for id in self.counts)

    def by_severity(self) -> dict[str, int]:
        found = dict.fromkeys(SEVERITIES, 0)
        for id, count in self.counts.items():
            found[RULES[id].severity] += count
        return found

    def lines(self, trace: Trace, paint: Any, with_header: bool) -> Iterator[str]:
        if with_header:
            yield f"== {safe(self.file)}"
        for rule in sorted(RULES.values(), key=lambda rule: SEVERITIES.index(rule.severity)):
            shown = self._shown.get(rule.id)
            if shown:
                yield from self._rule_lines(rule, shown, paint)
        yield from self._summary(trace)

    def _rule_lines(self, rule: Rule, shown: list[Finding], paint: Any) -> Iterator[str]:
        severity = paint(rule.severity, _STYLES[rule.severity])
        yield f"{severity}  {paint(rule.id, 'bold')}  {rule.text}  [{rule.page}]"
        if sections := cited_text(rule.page):
            yield paint(f"  see {sections}", "dim")
        for one in shown:
            link, zid = safe(one.place.link.name), (one.sender_zid or "?")[:4]
            yield f"  packet {one.packet:<7} {link}  {zid}: {safe(one.message)}"
        more = self.counts[rule.id] - sum(one.times for one in shown)
        if more > 0:
            yield f"  ... {count_text(more, 'more time')}"

    def _summary(self, trace: Trace) -> Iterator[str]:
        found = ", ".join(
            count_text(count, severity) for severity, count in self.by_severity().items()
        )
        partial = sum(not one.is_multicast and not one.seen_start for one in trace.sessions)
        unseen = f" ({partial:,} not from the start)" if partial else ""
        said = (
            f"{count_text(self.messages, 'message')}, {count_text(trace.session_count, 'session')}"
        )
        yield f"{safe(self.file)}: {found} in {said}{unseen}"
        if trace.is_damaged:
            yield "  the file is damaged: it was read as far as possible"

    def totals(self, trace: Trace) -> dict[str, Any]:
        return {
            "file": self.file,
            "event": "summary",
            "messages": self.messages,
            "findings": self.by_severity(),
            "rules": self.counts,
            "damaged": trace.is_damaged,
        }


def _as_json(file: str, finding: Finding) -> dict[str, Any]:
    place, rule = finding.place, finding.rule
    return {
        "file": file,
        "event": "finding",
        "rule": rule.id,
        "severity": rule.severity,
        "packet": place.packet,
        "time_ns": place.time_ns,
        "link": place.link.name,
        "session": finding.session,
        "sender_zid": finding.sender_zid,
        "seq": place.seq or None,
        "message": finding.message,
        "page": rule.page,
        "sections": [section.link for section in cited(rule.page)],
        "times": finding.times,
    }


def _print_rules(chosen: list[Rule], as_json: bool) -> None:
    if as_json:
        for rule in chosen:
            print_json(
                {
                    "rule": rule.id,
                    "severity": rule.severity,
                    "text": rule.text,
                    "page": rule.page,
                    "sections": [section.link for section in cited(rule.page)],
                }
            )
        return
    print_lines(_listed_rules(chosen, painter(sys.stdout)))


def _listed_rules(chosen: list[Rule], paint: Any) -> Iterator[str]:
    for topic, found in BY_TOPIC.items():
        listed = [rule for rule in found if rule in chosen]
        if listed:
            yield paint(topic, "bold")
        for rule in listed:
            yield f"  {rule.severity:<8} {rule.id:<30} {rule.text}  [{rule.page}]"
