"""The summary of a pipeline run, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from zenlake.cli.cells import time_text
from zenlake.cli.output import count_text, safe
from zenlake.lake.summary import Summary

_KEY_CHARACTERS_MAX: Final = 48
_BAR_CHARACTERS: Final = 16
_UNITS: Final = ("B", "KB", "MB", "GB", "TB")


def summary_lines(summary: Summary, paint: Any) -> Iterator[str]:
    """`paint(text, style)` returns the text, coloured on a terminal."""
    yield from _read(summary)
    for title, lines in (
        ("sessions", _sessions(summary)),
        ("most samples", _keys(summary)),
        ("queries", _queries(summary, paint)),
        ("losses", _losses(summary)),
        ("rules broken", _violations(summary, paint)),
        ("not understood", _problems(summary)),
    ):
        found = list(lines)
        if found:
            yield ""
            yield paint(title, "bold")
            yield from (f"  {line}" for line in found)


def _read(summary: Summary) -> Iterator[str]:
    facts = summary.one("captures")
    messages = summary.one("messages")["messages"]
    files = count_text(facts["files"], "capture")
    packets = count_text(facts["packets"] or 0, "packet")
    yield f"{files}, {size_text(facts['bytes'] or 0)}, {packets}"
    if facts["first_ns"] is not None:
        first = time_text(facts["first_ns"])
        seconds = summary.recorded_seconds
        yield f"{count_text(messages, 'message')}, {seconds:,.1f} s recorded from {first}"
    roles = [_nodes_text(row["nodes"], row["role"]) for row in summary.answers["nodes"]]
    if roles:
        yield f"seen: {', '.join(roles)}"


def _sessions(summary: Summary) -> Iterator[str]:
    outcomes = [f"{row['sessions']:,} {row['outcome']}" for row in summary.answers["sessions"]]
    if outcomes:
        yield ", ".join(outcomes)
    for row in summary.answers["bad_sessions"]:
        reason = f" ({row['close_reason']})" if row["close_reason"] else ""
        if row["outcome"] == "refused" and row["step"]:
            reason = f" at {row['step']}{reason}"
        after = "" if row["seconds"] is None else f" after {row['seconds']:.3g} s"
        nodes = f"{_zid(row['opener_zid'])} to {_zid(row['acceptor_zid'])}"
        place = f"{safe(row['session'])} of {safe(row['capture'])}"
        yield f"{row['outcome']}{reason}{after}: {nodes}, {place}"
        if row["reason"]:
            yield f"  {safe(row['reason'])}"


def _keys(summary: Summary) -> Iterator[str]:
    rows = summary.answers["keys"]
    most = max((row["samples"] for row in rows), default=1)
    for row in rows:
        bar = "█" * max(1, round(row["samples"] / most * _BAR_CHARACTERS))
        rate = "" if row["rate"] is None else f"{row['rate']:>9,.1f}/s"
        size = size_text(row["bytes"] or 0)
        key = _shortened(row["key"])
        yield f"{key:<{_KEY_CHARACTERS_MAX}} {row['samples']:>9,} {size:>9}{rate:>12}  {bar}"


def _queries(summary: Summary, paint: Any) -> Iterator[str]:
    verdicts = [f"{row['queries']:,} {row['verdict']}" for row in summary.answers["verdicts"]]
    if verdicts:
        yield ", ".join(verdicts)
    for row in summary.answers["failed"]:
        yield f"{paint(row['verdict'], 'error')}  {_selector(row)}  (packet {row['packet']})"
        yield f"    {safe(row['reason'] or '')}"
    for number, row in enumerate(summary.answers["slow"][:3]):
        word = "slowest" if number == 0 else "       "
        final = "no final" if row["final_ms"] is None else f"final {row['final_ms']:.2f} ms"
        yield f"{word}  {_selector(row)}  first {row['first_reply_ms']:.2f} ms, {final}"


def _selector(row: dict[str, Any]) -> str:
    key = "(unknown key)" if row["key"] is None else row["key"]
    return _shortened(f"{key}?{row['parameters']}" if row["parameters"] else key)


def _losses(summary: Summary) -> Iterator[str]:
    for row in summary.answers["losses"]:
        amounts = []
        if row["missing"]:
            amounts.append(f"{row['missing']:,} missing")
        if row["bytes"]:
            amounts.append(size_text(row["bytes"]))
        place = f"first at packet {row['packet']} of {safe(row['capture'])}"
        yield f"{row['kind']:<10} {row['times']:>5,} x  {', '.join(amounts)}  {place}"


def _violations(summary: Summary, paint: Any) -> Iterator[str]:
    counts = [count_text(row["broken"], row["severity"]) for row in summary.answers["severities"]]
    if counts:
        yield ", ".join(counts)
    for row in summary.answers["violations"]:
        severity = paint(row["severity"], "error" if row["severity"] == "error" else "notice")
        place = f"{safe(row['capture'])}, packet {row['packet']}"
        yield f"{severity}  {row['rule']}  {row['broken']:,} x, first in {place}"


def _problems(summary: Summary) -> Iterator[str]:
    for row in summary.answers["problems"]:
        causes = [row[name] for name in ("error", "undecoded") if row[name]]
        yield f"{safe(row['capture'])}: {safe('; '.join(causes))}"


def size_text(size: float) -> str:
    unit = 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size /= 1000
        unit += 1
    return (
        f"{size:,.0f} {_UNITS[unit]}" if size >= 100 or not unit else f"{size:,.1f} {_UNITS[unit]}"
    )


def _nodes_text(number: int, role: str) -> str:
    return f"{number:,} unknown" if role == "unknown" else count_text(number, role)


def _zid(zid: str | None) -> str:
    return "?" if zid is None else zid[:8]


def _shortened(text: str) -> str:
    text = safe(text)
    if len(text) <= _KEY_CHARACTERS_MAX:
        return text
    return text[: _KEY_CHARACTERS_MAX - 1] + "…"
