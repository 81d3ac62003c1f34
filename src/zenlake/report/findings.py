"""Findings: sentences about problems, the worst first, at the top of the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from zenlake.lake.measures import FIRST_HOP, OUTCOME
from zenlake.report.database import Database
from zenlake.report.text import size
from zenlake.report.topology import BAD
from zenlake.semantics.verdicts import OUTCOMES
from zenlake.why.formatting import counted

Data = dict[str, Any]

SESSION_WORDS: Final = {
    "refused_authentication": ": credentials are missing or wrong",
    "refused_version": ": another version of the protocol",
    "refused_limit": ": probably a limit of sessions or links is reached",
    "lease_exceeded": "ended because a side was silent for longer than its lease",
}
_LOSS_WORDS: Final = {
    "sn_gap": "sequence numbers are missing: messages were dropped or not captured",
    "tcp_gap": "packets of TCP are missing in the capture",
    "fragment": "messages in fragments stayed incomplete",
    "truncated": "packets were cut by the capture's snap length",
    "resync": "framing was lost and found again",
}


class Finding(NamedTuple):
    """`severity` is bad, odd or note; `section` is where the page shows more.

    `item` is the first one concerned, by kind and place in its list: `query-3`.
    """

    severity: str
    text: str
    section: str
    item: str | None = None


def findings(database: Database, data: Data) -> list[Finding]:
    found = [
        *_violations(data),
        *_queries(database, data),
        *_losses(data, database),
        *_sessions(data, database),
        *_declarations(data),
        *(() if database.selection.is_by_message else _captures(data)),
    ]
    order = ("bad", "odd", "note")
    return sorted(found, key=lambda one: order.index(one.severity))


def _item(kind: str, are_meant: Iterable[bool]) -> str | None:
    """The id of the first item whose flag is set; None if there is none."""
    return next((f"{kind}-{place}" for place, is_meant in enumerate(are_meant) if is_meant), None)


def _violations(data: Data) -> Iterator[Finding]:
    severities = {"error": "bad", "warning": "odd", "note": "note"}
    for word, severity in severities.items():
        rules = [rule for rule in data["violations"]["rules"] if rule[1] == word]
        if rules:
            times = sum(rule[3] for rule in rules)
            most = max(rules, key=lambda rule: rule[3])
            text = f"{counted(len(rules), 'rule')} of the protocol broken {counted(times, 'time')}"
            if word == "note":
                text = f"{counted(times, 'known deviation')} from the pages"
            often = f", most often {most[0]}" if len(rules) > 1 else f": {most[0]}"
            item = _item("rule", [rule is most for rule in data["violations"]["rules"]])
            yield Finding(severity, f"{text} ({word}){often}.", "violations", item)


def _queries(database: Database, data: Data) -> Iterator[Finding]:
    asked = data["overview"]["queries"]
    rows = database.rows(f"""
        SELECT {OUTCOME}, count(*), arg_max(key, seq), count(DISTINCT key)
        FROM chosen_queries q WHERE {FIRST_HOP} GROUP BY 1 ORDER BY 2 DESC""")
    for name, number, key, keys in rows:
        outcome = OUTCOMES.get(name)
        if outcome is not None and outcome.finding is not None:
            where = f" on {key}" if keys == 1 and key is not None else ""
            text = f"{number:,} of {counted(asked, 'query', 'queries')} {outcome.finding}{where}."
            listed = data["waterfall"]["queries"]
            item = _item("query", [one["verdict"] == name for one in listed])
            yield Finding(outcome.severity, text, "queries", item)
    if data["queries"]["dropped"]:
        dropped = counted(data["queries"]["dropped"], "reply", "replies")
        text = f"{dropped} did not reach the querier: its consolidation mode dropped them."
        yield Finding("note", text, "queries")


def _losses(data: Data, database: Database) -> Iterator[Finding]:
    rows = database.rows("""
        SELECT kind, count(*), sum("count")::BIGINT, sum(bytes)::BIGINT, count(DISTINCT link)
        FROM chosen_losses GROUP BY 1 ORDER BY 2 DESC, 1""")
    for kind, times, missing, lost, links in rows:
        amount = (
            f"{missing:,} missing" if missing else size(lost) if lost else counted(times, "time")
        )
        words = _LOSS_WORDS.get(kind, kind)
        severity = "odd" if kind == "truncated" else "bad"
        text = f"{words[0].upper()}{words[1:]} ({amount}, on {counted(links, 'link')})."
        item = _item("loss", [one["kind"] == kind for one in data["losses"]["groups"]])
        yield Finding(severity, text, "losses", item)


def _sessions(data: Data, database: Database) -> Iterator[Finding]:
    words = {"lost": "ended without a CLOSE", "refused": "refused"}
    rows = database.rows(f"""
        SELECT outcome, coalesce(cause, outcome), count(*), min(step), count(DISTINCT step),
            min(close_reason), count(DISTINCT close_reason)
        FROM chosen_sessions WHERE {BAD} GROUP BY 1, 2 ORDER BY 1, 2""")
    for outcome, cause, number, step, steps, reason, reasons in rows:
        why = f" ({reason})" if reasons == 1 else ""
        text = f"{counted(number, 'session')} {SESSION_WORDS.get(cause, words[outcome])}{why}."
        if outcome == "refused":
            at = f" at {step}" if steps == 1 else ""
            verb = "was" if number == 1 else "were"
            detail = SESSION_WORDS.get(cause, "")
            text = f"{counted(number, 'session')} {verb} refused{at}{detail}{why}."
        item = _item("session", [one["cause"] == cause for one in data["topology"]["bad"]])
        yield Finding("bad" if outcome == "refused" else "odd", text, "topology", item)


def _declarations(data: Data) -> Iterator[Finding]:
    found = data["declarations"]
    lives = found["lives"]
    if found["ghosts"]:
        number = counted(found["ghosts"], "liveliness token")
        text = f"{number} still announced after the source was gone."
        item = _item("life", [one["ghost"] for one in lives])
        yield Finding("bad", text, "declarations", item)
    if found["doubles"]:
        text = f"{counted(found['doubles'], 'liveliness token')} declared while already alive."
        item = _item("life", [one["double"] and one["entity"] == "token" for one in lives])
        yield Finding("odd", text, "declarations", item)
    if found["endedWithSession"]:
        number = counted(found["endedWithSession"], "liveliness token")
        text = f"{number} never undeclared: gone with the session."
        gone = [one["endedBy"] == "session" and one["entity"] == "token" for one in lives]
        item = _item("life", gone)
        yield Finding("note", text, "declarations", item)


def _captures(data: Data) -> Iterator[Finding]:
    seen = data["overview"]
    if seen["damaged"]:
        files = counted(seen["damaged"], "capture")
        yield Finding("bad", f"{files} could not be read in full.", "captures")
    for state, lost, captures in seen["undecoded"]:
        where = f"in {counted(captures, 'capture')}"
        words = {
            "encrypted": "are encrypted and cannot be read",
            "not_zenoh": "are not Zenoh",
            "malformed": "are no valid message",
        }.get(state, "gave no message because parts are missing")
        severity = "bad" if state == "malformed" else "note"
        yield Finding(severity, f"{size(lost)} {where} {words} ({state}).", "captures")
