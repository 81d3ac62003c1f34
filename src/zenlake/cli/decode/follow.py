"""Followers: select the events that concern one request, node or key.

A follower is fed every event and returns the lines to print, in order. `follower` creates it from
an argument: the number of a request, the first digits of a zid, or a key expression.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from zenlake.cli.decode.follow_key import KeyFollower
from zenlake.cli.decode.follow_request import RequestFollower
from zenlake.cli.decode.follower import Follower, FollowerLine
from zenlake.errors import LocalError
from zenlake.trace.events import MessageSeen, Missing, SessionChanged, TraceEvent, Undecoded
from zenlake.trace.session import Session

_ZID: Final = re.compile(r"[0-9a-fA-F]{4,32}")
_REQUEST: Final = re.compile(r"(?:(?P<link>.+)@)?(?P<id>\d{1,20})")
_HELD_MAX: Final = 16


class _Named(NamedTuple):
    form: str
    text: str


def follower(followed: str) -> Follower:
    """The follower for an argument, which `request:`, `zid:` and `key:` make unambiguous."""
    named = _named(followed)
    if named.form == "request":
        match = _REQUEST.fullmatch(named.text)
        if match is None:
            raise LocalError(f"{named.text!r} is no request: expected its number, or LINK@NUMBER")
        return RequestFollower(int(match["id"]), match["link"] or "")
    if named.form == "zid":
        if _ZID.fullmatch(named.text) is None:
            raise LocalError(f"{named.text!r} is no zid: expected 4 to 32 hexadecimal digits")
        return NodeFollower(named.text.lower())
    return KeyFollower(named.text)


def _named(followed: str) -> _Named:
    form, colon, text = followed.partition(":")
    if colon and form in ("request", "zid", "key"):
        return _Named(form, text)
    match = _REQUEST.fullmatch(followed)
    # Names of links contain a colon and a hash, which keys do not.
    if match is not None and (match["link"] is None or "#" in match["link"]):
        return _Named("request", followed)
    return _Named("zid" if _ZID.fullmatch(followed) else "key", followed)


class NodeFollower(Follower):
    """Selects all messages that one node sends and receives, and changes of its sessions."""

    def __init__(self, digits: str) -> None:
        self._digits = digits
        # The responder is unknown before INIT_ACK: earlier events are held back until then.
        self._held: dict[str, list[TraceEvent]] = {}

    def feed(self, event: TraceEvent) -> list[FollowerLine]:
        session = _session_of(event)
        if isinstance(event, MessageSeen) and self._is_followed(event.sender_zid):
            return self._release(session, event)
        if session is None:
            return []
        if self._has_followed_node(session):
            if session.is_multicast and isinstance(event, MessageSeen):
                return []
            return self._release(session, event)
        if session.nodes[1].zid is None and session.seen_start and not session.is_multicast:
            held = self._held.setdefault(session.id, [])
            if len(held) < _HELD_MAX:
                held.append(event)
        else:
            self._held.pop(session.id, None)
        return []

    def _release(self, session: Session | None, event: TraceEvent) -> list[FollowerLine]:
        earlier = [] if session is None else self._held.pop(session.id, [])
        return [FollowerLine(one) for one in (*earlier, event)]

    def _has_followed_node(self, session: Session) -> bool:
        nodes = session.members.values() if session.is_multicast else session.nodes
        return any(self._is_followed(node.zid) for node in nodes)

    def _is_followed(self, zid: str | None) -> bool:
        return zid is not None and zid.startswith(self._digits)


def _session_of(event: TraceEvent) -> Session | None:
    if isinstance(event, (MessageSeen, SessionChanged)):
        return event.session
    assert isinstance(event, (Missing, Undecoded))
    return event.link.session
