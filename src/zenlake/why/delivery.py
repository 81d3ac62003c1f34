"""Delivery: which replies reach the application of a querier, and why the others do not.

The querier's node drops late replies and replies for other keys; then consolidation compares
replies of exactly the same key. Errors are not consolidated (behaviour reference §2.7).
"""

from __future__ import annotations

from typing import NamedTuple

from zenlake.semantics.consolidation import auto_mode, superseded
from zenlake.semantics.query_parameters import accepts_any_key
from zenlake.why.records import QueryHop, ReplyRecord
from zenlake.why.scope import intersects


class Dropped(NamedTuple):
    """A reply that is not delivered; `why` is late, timeout, key, latest or monotonic."""

    reply: ReplyRecord
    why: str
    instead: ReplyRecord | None = None


def consolidation_mode(query: QueryHop) -> str:
    """Resolves `auto` as the querier's node does (behaviour reference §2.5)."""
    if query.consolidation != "auto":
        # A lake that another program wrote may lack the column.
        return query.consolidation or "none"
    return str(auto_mode(query.parameters))


def dropped(query: QueryHop) -> list[Dropped]:
    """The replies that are not delivered, in their order."""
    found: dict[int, Dropped] = {}
    candidates: dict[str | None, list[tuple[int, ReplyRecord]]] = {}
    any_key = accepts_any_key(query.parameters)
    for number, reply in enumerate(query.replies):
        if reply.after_final:
            found[number] = Dropped(reply, "late")
        elif reply.at.time_ns > query.deadline_ns:
            found[number] = Dropped(reply, "timeout")
        elif reply.kind != "ERR":
            candidates.setdefault(reply.key, []).append((number, reply))
            if not any_key and query.key and reply.key and not intersects(query.key, reply.key):
                found[number] = Dropped(reply, "key")
    mode = consolidation_mode(query)
    for same in candidates.values():
        numbers = [number for number, _ in same if number not in found]
        replies = query.replies
        for dropped_at, kept_at in superseded(mode, [replies[n].stamp for n in numbers]).items():
            number = numbers[dropped_at]
            found[number] = Dropped(replies[number], mode, replies[numbers[kept_at]])
    return [found[number] for number in sorted(found)]
