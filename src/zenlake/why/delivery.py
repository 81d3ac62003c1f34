"""Delivery: which replies a querier is handed, and why not the others.

As its node does it (behaviour reference §2.7): late ones and those for other keys are dropped,
then consolidation looks at replies of exactly the same key, never at errors.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from zenlake.why.records import Query, Reply
from zenlake.why.wanted import meet

_HAS_TIME: Final = re.compile(r"(^|;)_time(=|;|$)")
_ANY_KEY: Final = re.compile(r"(^|;)_anyke(=|;|$)")


class Dropped(NamedTuple):
    """A reply that is not handed on; `why` is late, timeout, key, latest or monotonic."""

    reply: Reply
    why: str
    instead: Reply | None = None


def consolidation_mode(query: Query) -> str:
    """`auto` is what the querier's node makes of it (behaviour reference §2.5)."""
    if query.consolidation != "auto":
        return query.consolidation
    return "none" if _HAS_TIME.search(query.parameters) else "latest"


def dropped(query: Query) -> list[Dropped]:
    """In the order in which they came."""
    found: dict[int, Dropped] = {}
    candidates: dict[str | None, list[tuple[int, Reply]]] = {}
    any_key = _ANY_KEY.search(query.parameters) is not None
    for number, reply in enumerate(query.replies):
        if reply.after_final:
            found[number] = Dropped(reply, "late")
        elif reply.at.time_ns > query.deadline_ns:
            found[number] = Dropped(reply, "timeout")
        elif reply.kind != "ERR":
            candidates.setdefault(reply.key, []).append((number, reply))
            if not any_key and query.key and reply.key and not meet(query.key, reply.key):
                found[number] = Dropped(reply, "key")
    mode = consolidation_mode(query)
    for same in candidates.values():
        inside = [(number, reply) for number, reply in same if number not in found]
        if mode == "latest":
            _keep_newest(inside, found)
        elif mode == "monotonic":
            _keep_rising(inside, found)
    return [found[number] for number in sorted(found)]


def _keep_newest(same: list[tuple[int, Reply]], found: dict[int, Dropped]) -> None:
    if not same:
        return
    newest = max(same, key=lambda one: (one[1].stamp, one[0]))
    for number, reply in same:
        if number != newest[0]:
            found[number] = Dropped(reply, "latest", newest[1])


def _keep_rising(same: list[tuple[int, Reply]], found: dict[int, Dropped]) -> None:
    newest: Reply | None = None
    for number, reply in same:
        if newest is not None and reply.stamp < newest.stamp:
            found[number] = Dropped(reply, "monotonic", newest)
        else:
            newest = reply
