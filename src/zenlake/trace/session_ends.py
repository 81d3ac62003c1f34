"""Session ends: why a session was refused or ended, for the tables and for `zenlake why`.

`cause_of` is the one place that decides the cause; both readers of the lake and `why` use it. The
causes are listed in `semantics/causes.py`, as `SESSION_CAUSES`. It knows one session only:
`capture_incomplete` is a `session_lost` whose CLOSE may be in missing bytes. The meaning of a CLOSE
reason depends on the handshake step at which it is sent (wire reference §5.2): the reference
implementation closes with `generic` if authentication fails, and with `invalid` after OPEN_SYN if
it has too many sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from zenlake.semantics.causes import SessionCause
from zenlake.trace.session import Node, Session
from zenlake.wire.defaults import PROTOCOL_VERSION

Who = Callable[[str], str]
"""The name of a side (`opener` or `acceptor`) in sentences."""

OPENER: Final = "opener"
ACCEPTOR: Final = "acceptor"
_LEASE_SHARE: Final = 0.95
"""Clocks and timers differ: a silence of this share of the lease counts as the whole lease."""
_CLOSE_CAUSES: Final[dict[str, SessionCause]] = {
    "expired": "lease_exceeded",
    "unresponsive": "unresponsive",
}
_SENDERS: Final = {
    "INIT_SYN": OPENER,
    "INIT_ACK": ACCEPTOR,
    "OPEN_SYN": OPENER,
    "OPEN_ACK": ACCEPTOR,
}


class SessionEnd(NamedTuple):
    """The facts about the end of a session, named as the columns of `sessions`."""

    outcome: str
    step: str | None
    version: int | None
    auth: str
    """Handshake messages that carry authentication, separated by spaces."""
    ended_by: str | None
    ender: str | None
    end_packet: int | None
    close_reason: str | None
    opener_lease_ms: float | None
    acceptor_lease_ms: float | None
    opener_silent_ms: float | None
    acceptor_silent_ms: float | None
    is_lossy: bool
    """Whether the capture lacks bytes of it."""

    @property
    def silent(self) -> str | None:
        """The side that was silent for longer than its lease and did not end the session itself."""
        if self.ended_by == "close" and self.close_reason == "expired" and self.ender is not None:
            return ACCEPTOR if self.ender == OPENER else OPENER
        for side, lease, silence in (
            (OPENER, self.opener_lease_ms, self.opener_silent_ms),
            (ACCEPTOR, self.acceptor_lease_ms, self.acceptor_silent_ms),
        ):
            is_silent = lease and silence is not None and silence >= _LEASE_SHARE * lease
            if is_silent and side != self.ender:
                return side
        return None


def end_of(session: Session) -> SessionEnd:
    opener, acceptor = session.nodes
    ender = None
    if session.ender is not None and not session.is_multicast:
        ender = OPENER if session.ender is opener else ACCEPTOR
    return SessionEnd(
        session.outcome,
        session.step,
        session.version,
        " ".join(step for step, has_auth in session.auth.items() if has_auth),
        session.ended_by,
        ender,
        session.end_packet,
        session.close_reason,
        _lease(opener),
        _lease(acceptor),
        *session.silent_ms,
        opener.is_lossy or acceptor.is_lossy,
    )


def _lease(node: Node) -> float | None:
    return None if node.lease_ms is None else float(node.lease_ms)


def cause_of(end: SessionEnd) -> SessionCause | None:
    """The cause of the end; None while it is open, and after an ordinary CLOSE."""
    if end.outcome == "refused":
        return _refused(end)
    if end.ended_by is None:
        return None
    if end.ended_by == "close":
        return _CLOSE_CAUSES.get(end.close_reason or "")
    if end.silent is not None or end.ended_by == "lease":
        return "lease_exceeded"
    return "capture_incomplete" if end.is_lossy else "session_lost"


def leaver_of(end: SessionEnd) -> str | None:
    """The side that ended the session although the other side was not silent."""
    return end.ender if cause_of(end) in (None, "session_lost") else None


def _refused(end: SessionEnd) -> SessionCause:
    if end.step == "INIT_SYN" and end.version not in (None, PROTOCOL_VERSION):
        return "refused_version"
    if end.close_reason in ("max_sessions", "max_links"):
        return "refused_limit"
    if end.close_reason == "generic" and _is_authentication(end):
        return "refused_authentication"
    if end.close_reason == "invalid" and end.step == "OPEN_SYN" and end.ender == ACCEPTOR:
        return "refused_limit"
    return "refused"


def _is_authentication(end: SessionEnd) -> bool:
    carried = end.auth.split()
    if end.step == "INIT_SYN":
        return end.ender == ACCEPTOR and "INIT_SYN" not in carried
    if end.step == "INIT_ACK":
        return end.ender == OPENER and "INIT_SYN" in carried and "INIT_ACK" not in carried
    return end.step == "OPEN_SYN" and end.ender == ACCEPTOR and bool(carried)


def reason_of(end: SessionEnd, who: Who) -> str | None:
    """The end as a sentence; None while the session is open."""
    cause = cause_of(end)
    if end.outcome == "refused":
        return _refused_text(end, cause or "", who)
    if end.ended_by is None:
        return None
    how = _how(end, who)
    if cause == "lease_exceeded" and end.silent is not None and end.ended_by != "close":
        silence, lease = (
            (end.opener_silent_ms, end.opener_lease_ms)
            if end.silent == OPENER
            else (end.acceptor_silent_ms, end.acceptor_lease_ms)
        )
        return (
            f"{who(end.silent)} sent nothing for {silence:,.0f} ms, and its lease is "
            f"{lease:,.0f} ms: {how}"
        )
    if cause == "lease_exceeded" and end.ended_by == "close":
        return f"{how}: the reason means that the lease of the other side expired"
    if cause == "capture_incomplete":
        return f"{how}; the capture lacks bytes of it, a CLOSE may have been in them"
    return how


def _how(end: SessionEnd, who: Who) -> str:
    place = "" if end.end_packet is None else f" (packet {end.end_packet})"
    ender = "a node" if end.ender is None else who(end.ender)
    if end.ended_by == "close":
        return f"{ender} sent CLOSE, reason {end.close_reason}{place}"
    if end.ended_by == "fin":
        return f"{ender} ended the connection without CLOSE{place}"
    if end.ended_by == "rst":
        return f"{ender} reset the connection{place}"
    if end.ended_by == "again":
        return f"the same nodes connected again{place}, and the capture shows no end before"
    return "the capture shows no end of the connection"


def _refused_text(end: SessionEnd, cause: str, who: Who) -> str:
    step = end.step or "the handshake"
    if end.ended_by is None:
        return f"nothing came after {step}"
    place = "" if end.end_packet is None else f" (packet {end.end_packet})"
    ender = "a node" if end.ender is None else who(end.ender)
    if end.ended_by != "close":
        how = "reset the connection" if end.ended_by == "rst" else "ended the connection"
        if end.ender is not None and _SENDERS.get(step) == end.ender:
            return f"no answer to {step}: {ender} {how}{place}"
        return f"{ender} did not answer {step} and {how}{place}"
    if end.ender is not None and _SENDERS.get(step) == end.ender:
        return f"{ender} sent {step}, and then CLOSE, reason {end.close_reason}{place}"
    text = f"{ender} refused {step} with CLOSE, reason {end.close_reason}{place}"
    if end.close_reason == "max_links":
        return f"{text}: a node with the same id is connected already"
    return text + _MEANING.get(cause, "").format(
        version=end.version, expected=PROTOCOL_VERSION, sent=_credentials(end)
    )


def _credentials(end: SessionEnd) -> str:
    if end.step == "OPEN_SYN" and "OPEN_SYN" in end.auth.split():
        return "its credentials are wrong, or its user is not known"
    if end.step == "INIT_ACK":
        return "credentials were offered, and the answer does not ask for them"
    return "it has no credentials, and the acceptor probably requires them"


_MEANING: Final = {
    "refused_version": ": it asks for version {version} of the protocol, not {expected}",
    "refused_limit": ": the acceptor has probably reached its limit of sessions or links",
    "refused_authentication": ": {sent}",
}
