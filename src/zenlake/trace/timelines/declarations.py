"""Declarations: the lifetime of each alias, subscriber, queryable and token.

A lifetime belongs to one side of a session: it begins with D_x and ends with U_x or the session.
Clients and peers use ids. Routers use none among themselves: there the key and the node of origin
identify an entity (behaviour reference §3.6, §9).

The table `declarations` applies the same rules in SQL (`lake/derive/steps/declarations`); a test
compares both on all bundled captures (`tests/lake/derive/steps/test_equality`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from zenlake.limits import DECLARATIONS_MAX, DECLARATIONS_PER_SESSION_MAX
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent, ends_session
from zenlake.trace.session import Node, Session
from zenlake.trace.timelines.open_items import OpenItems
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    UndeclareKeyExpr,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)

UNDECLARATIONS: Final = (
    UndeclareKeyExpr,
    UndeclareSubscriber,
    UndeclareQueryable,
    UndeclareToken,
)


class DeclarationLifetime:
    """One entity that a side declared; `declared` is None if only the undeclaration was captured.

    `entity` is `keyexpr`, `subscriber`, `queryable` or `token`. `ended_by` is `undeclare`,
    `session`, or None if the capture does not show the end. The answer to an interest of mode
    CURRENT, such as a liveliness get, has `is_answer` and no end.
    """

    __slots__ = (
        "complete",
        "declared",
        "distance",
        "ended_by",
        "ended_ns",
        "entity",
        "id",
        "identity",
        "interest_id",
        "is_answer",
        "key",
        "node_id",
        "receiver",
        "sender",
        "session",
        "times_declared",
        "undeclared",
    )

    def __init__(self, session: Session, declare: Declare, first: MessageSeen) -> None:
        self.session = session
        self.entity = declare.body.NAME[2:].lower()
        self.id = first.entity_id or 0
        self.key = first.key or None
        self.identity = _identity(first, declare, self.id)
        """Identifies it among the open declarations of the session."""
        self.interest_id = declare.interest_id
        self.node_id = declare.node_id
        self.is_answer = first.is_answer
        self.sender: Node | None = first.sender_node
        self.receiver: Node | None = first.receiver_node
        self.declared: MessageSeen | None = None
        self.undeclared: MessageSeen | None = None
        self.times_declared = 0
        """How many times it was declared: for further interests, or to change a queryable."""
        self.complete: bool | None = None
        """Whether a queryable is complete, by its last declaration; also its distance."""
        self.distance: int | None = None
        self.ended_by: str | None = None
        self.ended_ns: int | None = None

    def declare(self, event: MessageSeen, declare: Declare) -> None:
        """Applies a declaration, the first or a repeated one."""
        self.times_declared += 1
        if self.declared is None:
            self.declared = event
        body = declare.body
        if isinstance(body, DeclareQueryable):
            self.complete = body.info is not None and body.info.complete
            self.distance = 0 if body.info is None else body.info.distance

    @property
    def sender_zid(self) -> str | None:
        return None if self.sender is None else self.sender.zid

    @property
    def receiver_zid(self) -> str | None:
        return None if self.receiver is None else self.receiver.zid

    def __repr__(self) -> str:
        return f"DeclarationLifetime({self.entity}, {self.id}, {self.key!r}, {self.ended_by})"


class Declarations:
    """Feed it events in order; it returns each lifetime at its end, and an answer at once."""

    __slots__ = ("_open",)

    def __init__(
        self,
        per_session_max: int = DECLARATIONS_PER_SESSION_MAX,
        count_max: int = DECLARATIONS_MAX,
    ) -> None:
        self._open: OpenItems[DeclarationLifetime] = OpenItems(per_session_max, count_max)

    def feed(self, event: TraceEvent) -> list[DeclarationLifetime]:
        ended: list[DeclarationLifetime] = []
        if isinstance(event, MessageSeen):
            declare = event.message
            if isinstance(declare, Declare) and event.ignored is None:
                self._feed_declare(event, declare, ended)
        elif isinstance(event, SessionChanged):
            member = event.link.name if event.change == "left" else None
            if member is not None or ends_session(event):
                for lifetime in self._open.in_session(event.session):
                    if member is None or lifetime.identity[0] == member:
                        self._end(lifetime, "session", event.time_ns, ended)
        return ended

    def finish(self) -> list[DeclarationLifetime]:
        """Returns the lifetimes that are open at the end of the capture or after their session."""
        ended: list[DeclarationLifetime] = []
        for lifetime in self._open.all():
            closed_ns = lifetime.session.closed_ns
            self._end(lifetime, None if closed_ns is None else "session", closed_ns, ended)
        return ended

    def _feed_declare(
        self, event: MessageSeen, declare: Declare, ended: list[DeclarationLifetime]
    ) -> None:
        session = event.session
        body = declare.body
        if session is None or isinstance(body, DeclareFinal):
            return
        lifetime = DeclarationLifetime(session, declare, event)
        if isinstance(body, UNDECLARATIONS):
            known = self._open.get(session, lifetime.identity)
            if known is None and lifetime.key is not None:
                known = self._open.get(session, _identity(event, declare, 0))
            lifetime = known or lifetime
            lifetime.key = lifetime.key or event.key or None
            lifetime.undeclared = event
            self._end(lifetime, "undeclare", event.time_ns, ended)
        elif lifetime.is_answer:
            lifetime.declare(event, declare)
            ended.append(lifetime)
        else:
            self._find_or_begin(lifetime, ended).declare(event, declare)

    def _find_or_begin(
        self, lifetime: DeclarationLifetime, ended: list[DeclarationLifetime]
    ) -> DeclarationLifetime:
        """The open lifetime of the entity, or a new one if its id now stands for another key."""
        known = self._open.get(lifetime.session, lifetime.identity)
        if known is None:
            return self._begin(lifetime, ended)
        if known.key is None or lifetime.key is None or known.key == lifetime.key:
            return known
        self._end(known, None, None, ended)
        return self._begin(lifetime, ended)

    def _begin(
        self, lifetime: DeclarationLifetime, ended: list[DeclarationLifetime]
    ) -> DeclarationLifetime:
        oldest = self._open.add(lifetime.session, lifetime.identity, lifetime)
        if oldest is not None:
            self._end(oldest, None, None, ended)
        return lifetime

    def _end(
        self,
        lifetime: DeclarationLifetime,
        ended_by: str | None,
        time_ns: int | None,
        ended: list[DeclarationLifetime],
    ) -> None:
        self._open.remove(lifetime.session, lifetime.identity)
        lifetime.ended_by = ended_by
        lifetime.ended_ns = time_ns
        if time_ns is not None and lifetime.declared is not None:
            # A declaration that crosses the CLOSE of the other side ends when it begins.
            lifetime.ended_ns = max(time_ns, lifetime.declared.time_ns)
        ended.append(lifetime)


def declarations(events: Iterable[TraceEvent]) -> Iterator[DeclarationLifetime]:
    """Every lifetime of a capture, in the order of their ends."""
    open_declarations = Declarations()
    for event in events:
        yield from open_declarations.feed(event)
    yield from open_declarations.finish()


def _identity(event: MessageSeen, declare: Declare, id: int) -> tuple[object, ...]:
    """Side, kind of entity and id; without an id, the node of origin and the key."""
    session = event.session
    is_multicast = session is not None and session.is_multicast
    owner: object = event.link.name if is_multicast else event.link.sides[event.direction]
    entity = declare.body.NAME[2:]
    if id:
        return owner, entity, id
    return owner, entity, declare.node_id or 0, event.key or _written_key(declare)


def _written_key(declare: Declare) -> str:
    """The key as sent, for declarations whose alias is not known."""
    body = declare.body
    if isinstance(body, (DeclareSubscriber, DeclareQueryable, DeclareToken)):
        return str(body.key)
    if isinstance(body, (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)):
        return "" if body.key is None else str(body.key.key)
    return ""
