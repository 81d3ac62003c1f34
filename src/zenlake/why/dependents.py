"""Dependents: declarations and queries that ended with one session, or all sessions of a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from zenlake.why.formatting import counted, key_text, listed
from zenlake.why.network import Network
from zenlake.why.records import BY_SEQ, Declaration, QueryHop
from zenlake.why.story import Story

_KEYS_NAMED: Final = 3
_STEPS_SHOWN: Final = 5
_AFTERMATH_NS: Final = 10_000_000_000
"""Within this time, other nodes undeclare matching entities as a consequence."""


@dataclass(slots=True)
class Dependents:
    """Declarations that ended with the sessions, and queries in flight."""

    declarations: list[Declaration] = field(default_factory=list)
    queries: list[QueryHop] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.declarations or self.queries)

    def text(self) -> str:
        """A text such as `1 token (t/a), 1 queryable (q/a) and 1 query in flight (q/a)`."""
        parts = []
        for entity in ("token", "queryable", "subscriber"):
            keys = [key_text(one.key) for one in self.declarations if one.entity == entity]
            if keys:
                parts.append(f"{counted(len(set(keys)), entity)} ({_named(keys)})")
        if self.queries:
            keys = [key_text(one.key) for one in self.queries]
            # Hops of the same query count once.
            whole = {one.seq if one.trace_id is None else one.trace_id for one in self.queries}
            many = counted(len(whole), "query in flight", "queries in flight")
            parts.append(f"{many} ({_named(keys)})")
        return listed(parts)

    def add_to(self, story: Story, network: Network, end_ns: int) -> None:
        """Adds the queries in flight, and entities that other nodes undeclared as a consequence."""
        labels = network.labels
        for query in self.queries[:_STEPS_SHOWN]:
            story.involve(query.requester)
            story.add_evidence(
                query.at,
                f"{labels.who(query.requester)} asks {labels.who(query.responder)}: "
                f"{key_text(query.selector)} (#{query.request_id}), still in flight",
            )
        gone = {(one.entity, one.key) for one in self.declarations}
        ended = {one.session for one in self.declarations}
        shown = 0
        elsewhere = (declaration for place in gone for declaration in network.declared_as(*place))
        for declaration in sorted(elsewhere, key=BY_SEQ):
            end = None if declaration.session in ended else declaration.ended
            if end is None or declaration.ended_by != "undeclare":
                continue
            if end_ns <= end.time_ns <= end_ns + _AFTERMATH_NS and shown < _STEPS_SHOWN:
                shown += 1
                story.add_evidence(
                    end,
                    f"{labels.who(declaration.sender)} undeclares {declaration.entity} "
                    f"{key_text(declaration.key)} to {labels.who(declaration.receiver)}",
                )


def _named(keys: list[str]) -> str:
    different = list(dict.fromkeys(keys))
    more = len(different) - _KEYS_NAMED
    return ", ".join(different[:_KEYS_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def dependents_of(network: Network, sessions: set[str]) -> Dependents:
    found = Dependents()
    for session in sorted(sessions):
        for declaration in network.declared_in(session):
            if declaration.ended_by == "session" and not declaration.is_answer:
                found.declarations.append(declaration)
        for query in network.asked_in(session):
            if query.final is None and not query.reused:
                found.queries.append(query)
    found.declarations.sort(key=BY_SEQ)
    found.queries.sort(key=BY_SEQ)
    return found
