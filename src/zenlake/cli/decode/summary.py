"""The summary of a decoded capture: counts, and what was not decoded and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from zenlake.cli.output import count_text, safe
from zenlake.trace import Trace
from zenlake.trace.fields import KINDS
from zenlake.trace.session import Session

STATES: Final = {
    "truncated": "cut off, by a snap length or the end of the capture",
    "gap": "around packets that are missing",
    "encrypted": "encrypted by TLS or QUIC",
    "not_zenoh": "of other protocols",
    "malformed": "that are no Zenoh messages where they should be",
}
_SESSIONS_SHOWN_MAX: Final = 10
_NS_PER_S: Final = 1_000_000_000


def summary_lines(name: str, trace: Trace, messages: int, chosen: int | None) -> Iterator[str]:
    """`chosen` is the number of selected messages, None without a filter."""
    shown = "" if chosen is None else f" ({chosen:,} chosen)"
    parts = (
        f"{count_text(trace.packets, 'packet')}{_duration(trace)}",
        f"{count_text(messages, 'message')}{shown}",
        f"{count_text(trace.session_count, 'session')}{_outcomes(trace.sessions)}",
    )
    yield f"{safe(name)}: {', '.join(parts)}"
    for session in trace.sessions[:_SESSIONS_SHOWN_MAX]:
        yield f"  {_session_text(session)}"
    if len(trace.sessions) > _SESSIONS_SHOWN_MAX:
        yield f"  ... {len(trace.sessions) - _SESSIONS_SHOWN_MAX:,} more"
    if trace.forgotten_sessions:
        yield f"  ... and {trace.forgotten_sessions:,} that had to make room"
    for state, size in trace.undecoded.items():
        if size:
            yield f"  not decoded ({state}): {size:,} bytes {STATES.get(state, '')}".rstrip()
    for reason, count in trace.skipped.counts.items():
        size = trace.skipped.bytes.get(reason, 0)
        yield f"  skipped: {safe(reason)}, {count_text(count, 'time')}, {size:,} bytes"
    if trace.is_damaged:
        yield "  the file is damaged: it was read as far as possible"


def _duration(trace: Trace) -> str:
    first, last = trace.first_ns, trace.last_ns
    if first is None or last is None:
        return ""
    return f" in {(last - first) / _NS_PER_S:.3f} s"


def _outcomes(sessions: list[Session]) -> str:
    counts = Counter(session.outcome for session in sessions)
    words = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
    return f" ({words})" if words else ""


def _session_text(session: Session) -> str:
    if session.is_multicast:
        who = f"multicast group {session.id}, {count_text(len(session.members), 'member')}"
    else:
        who = " > ".join(
            node.address if node.zid is None else f"{node.role} {node.zid}"
            for node in session.nodes
        )
    reason = "" if session.close_reason is None else f" ({session.close_reason})"
    links = "" if len(session.links) == 1 else f", {len(session.links)} links"
    return f"{who}  {session.outcome}{reason}{links}"


def count_lines(counts: dict[str, int]) -> Iterator[str]:
    """A table of counts in the order of the protocol's layers."""
    width = max((len(f"{count:,}") for count in counts.values()), default=0)
    for kind in KINDS:
        if kind in counts:
            yield f"{kind:<22} {counts[kind]:>{width},}"
