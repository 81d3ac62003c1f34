"""Declarations: the life of each key number, subscriber, queryable and token.

A life is what one side told the other: it begins with D_x and ends with U_x or the session.
Clients and peers give each a number. Routers number nothing among themselves: there the key
and the node it comes from say which one is meant (behaviour reference §3.6, §9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from zenlake.limits import DECLARATIONS_MAX, DECLARATIONS_PER_SESSION_MAX
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.session import Node, Session
from zenlake.trace.timelines.open_items import OpenItems, ends_session
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

_UNDECLARATIONS: Final = (
    UndeclareKeyExpr,
    UndeclareSubscriber,
    UndeclareQueryable,
    UndeclareToken,
)


class DeclarationLifetime:
    """One entity as one side told the other; without `declared` where only its end is known.

    `entity` is `keyexpr`, `subscriber`, `queryable` or `token`. `ended_by` is `undeclare`,
    `session`, or None where the capture does not say. What answers an interest in what is there
    now, as a token told for a liveliness get, promises nothing: it has `is_answer`, and no end.
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
        """What finds it among all that is alive in the session."""
        self.interest_id = declare.interest_id
        self.node_id = declare.node_id
        self.is_answer = first.is_answer
        self.sender: Node | None = first.sender_node
        self.receiver: Node | None = first.receiver_node
        self.declared: MessageSeen | None = None
        self.undeclared: MessageSeen | None = None
        self.times_declared = 0
        """How often it was declared: again for another interest, or to change a queryable."""
        self.complete: bool | None = None
        """Of a queryable, as told last; so is the distance."""
        self.distance: int | None = None
        self.ended_by: str | None = None
        self.ended_ns: int | None = None

    def declare(self, event: MessageSeen, declare: Declare) -> None:
        """It is declared, or declared again."""
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
    """Feed it events in order; it gives each life when it has ended, an answer at once."""

    __slots__ = ("_open",)

    def __init__(
        self,
        per_session_max: int = DECLARATIONS_PER_SESSION_MAX,
        count_max: int = DECLARATIONS_MAX,
    ) -> None:
        self._open: OpenItems[DeclarationLifetime] = OpenItems(per_session_max, count_max)

    def feed(self, event: TraceEvent) -> list[DeclarationLifetime]:
        over: list[DeclarationLifetime] = []
        if isinstance(event, MessageSeen):
            declare = event.message
            if isinstance(declare, Declare) and event.ignored is None:
                self._feed_declare(event, declare, over)
        elif isinstance(event, SessionChanged):
            member = event.link.name if event.change == "left" else None
            if member is not None or ends_session(event):
                for life in self._open.in_session(event.session):
                    if member is None or life.identity[0] == member:
                        self._end(life, "session", event.time_ns, over)
        return over

    def finish(self) -> list[DeclarationLifetime]:
        """What is still alive when the capture ends, or was told after its session ended."""
        over: list[DeclarationLifetime] = []
        for life in self._open.all():
            closed_ns = life.session.closed_ns
            self._end(life, None if closed_ns is None else "session", closed_ns, over)
        return over

    def _feed_declare(
        self, event: MessageSeen, declare: Declare, over: list[DeclarationLifetime]
    ) -> None:
        session = event.session
        body = declare.body
        if session is None or isinstance(body, DeclareFinal):
            return
        life = DeclarationLifetime(session, declare, event)
        if isinstance(
            body, (UndeclareKeyExpr, UndeclareSubscriber, UndeclareQueryable, UndeclareToken)
        ):
            known = self._open.get(session, life.identity)
            if known is None and life.key is not None:
                known = self._open.get(session, _identity(event, declare, 0))
            life = known or life
            life.key = life.key or event.key or None
            life.undeclared = event
            self._end(life, "undeclare", event.time_ns, over)
        elif life.is_answer:
            life.declare(event, declare)
            over.append(life)
        else:
            self._same(life, over).declare(event, declare)

    def _same(
        self, life: DeclarationLifetime, over: list[DeclarationLifetime]
    ) -> DeclarationLifetime:
        """The one that is alive already, unless its number now stands for something else."""
        known = self._open.get(life.session, life.identity)
        if known is None:
            return self._begin(life, over)
        if known.key is None or life.key is None or known.key == life.key:
            return known
        self._end(known, None, None, over)
        return self._begin(life, over)

    def _begin(
        self, life: DeclarationLifetime, over: list[DeclarationLifetime]
    ) -> DeclarationLifetime:
        oldest = self._open.add(life.session, life.identity, life)
        if oldest is not None:
            self._end(oldest, None, None, over)
        return life

    def _end(
        self,
        life: DeclarationLifetime,
        ended_by: str | None,
        time_ns: int | None,
        over: list[DeclarationLifetime],
    ) -> None:
        self._open.remove(life.session, life.identity)
        life.ended_by = ended_by
        life.ended_ns = time_ns
        if time_ns is not None and life.declared is not None:
            # What crossed the other side's CLOSE ends as it begins.
            life.ended_ns = max(time_ns, life.declared.time_ns)
        over.append(life)


def declarations(events: Iterable[TraceEvent]) -> Iterator[DeclarationLifetime]:
    """Every life of a capture, in the order in which they ended."""
    alive = Declarations()
    for event in events:
        yield from alive.feed(event)
    yield from alive.finish()


def _identity(event: MessageSeen, declare: Declare, id: int) -> tuple[object, ...]:
    """Who declares, what, and its number; without a number the node it is from and its key."""
    session = event.session
    is_multicast = session is not None and session.is_multicast
    owner: object = event.link.name if is_multicast else event.link.sides[event.direction]
    entity = declare.body.NAME[2:]
    if id:
        return owner, entity, id
    return owner, entity, declare.node_id or 0, event.key or _written_key(declare)


def _written_key(declare: Declare) -> str:
    """The key as it was sent: all that is known where its alias is not."""
    body = declare.body
    if isinstance(body, (DeclareSubscriber, DeclareQueryable, DeclareToken)):
        return str(body.key)
    if isinstance(body, (UndeclareSubscriber, UndeclareQueryable, UndeclareToken)):
        return "" if body.key is None else str(body.key.key)
    return ""
