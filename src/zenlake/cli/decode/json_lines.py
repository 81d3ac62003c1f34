"""An event as one JSON object: names as in the field table, bytes in hexadecimal."""

from __future__ import annotations

import json
from typing import Any, Final

from zenlake.trace.events import MessageSeen, Missing, SessionChanged, TraceEvent, Undecoded
from zenlake.trace.fields import FIELDS
from zenlake.trace.json_values import to_json

# All fields except those that repeat others.
_ASKED: Final = [
    (one.name, one.value_of) for one in FIELDS.values() if one.name not in ("zid", "port")
]
_PLAIN: Final = frozenset((str, int, bool))


def json_line(event: TraceEvent, file: str, note: str, whole: bool) -> str:
    """The event as JSON; `whole` adds all fields of the message as it was sent."""
    found: dict[str, Any] = {"file": file, **_facts(event)}
    if whole and isinstance(event, MessageSeen):
        found["message"] = to_json(event.message)
    if note:
        found["note"] = note
    return json.dumps(found, ensure_ascii=True)


def _facts(event: TraceEvent) -> dict[str, Any]:
    if isinstance(event, MessageSeen):
        found: dict[str, Any] = {"event": "message"}
        for name, answer in _ASKED:
            value = answer(event)
            if value is not None:
                found[name] = value if type(value) in _PLAIN else to_json(value)
        return found
    place = {"packet": event.packet, "time_ns": event.time_ns}
    if isinstance(event, SessionChanged):
        return {"event": "session", **place, "link": event.link.name, **_session_facts(event)}
    assert isinstance(event, (Missing, Undecoded))
    found = {
        "event": "missing" if isinstance(event, Missing) else "undecoded",
        **place,
        "link": event.link.name,
        "sender": event.link.sender(event.direction),
        "receiver": event.link.receiver(event.direction),
        "cause": event.cause,
        "bytes": event.bytes,
    }
    if isinstance(event, Missing):
        found |= {"kind": event.kind, "count": event.count}
        if event.priority is not None:
            found |= {"priority": event.priority, "reliable": event.reliable}
    else:
        found["state"] = event.state
    return found


def _session_facts(event: SessionChanged) -> dict[str, Any]:
    session = event.session
    opener, acceptor = session.nodes
    found: dict[str, Any] = {"change": event.change, "session": session.id}
    if not session.is_multicast:
        found |= {"opener_zid": opener.zid, "opener_role": opener.role}
        found |= {"acceptor_zid": acceptor.zid, "acceptor_role": acceptor.role}
    return found | {"outcome": session.outcome, "close_reason": session.close_reason}
