"""Interests: the lifetime of each INTEREST, and the declarations that answered it.

INTEREST opens one with an id; declarations of the other side that answer it carry the id, and
D_FINAL marks the end of the existing ones (behaviour reference §3, §9).

The table `interests` applies the same rules in SQL (`lake/derive/steps/interests`); a test
compares both on all bundled captures (`tests/lake/derive/steps/test_equality`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zenlake.limits import ANSWERS_PER_INTEREST_MAX, INTERESTS_MAX, INTERESTS_PER_SESSION_MAX
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent, ends_session
from zenlake.trace.session import Node, Session
from zenlake.trace.timelines.open_items import OpenItems, asking_side
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareKeyExpr,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    Interest,
)
from zenlake.wire.values.choices import InterestMode


class InterestLifetime:
    """One interest; `opened` is None if the capture has only its answers or its end.

    `ended_by` is `closed` (INTEREST of mode final), `final` (D_FINAL, for mode current),
    `session`, or None if the capture does not show the end. Between peers, D_FINAL with id 0 ends
    the initial declarations, which no INTEREST requests.
    """

    __slots__ = (
        "answered",
        "closed",
        "declared",
        "ended_by",
        "final",
        "id",
        "opened",
        "receiver",
        "sender",
        "session",
        "side",
    )

    def __init__(self, session: Session, side: int, id: int, first: MessageSeen) -> None:
        asks = isinstance(first.message, Interest)
        self.session = session
        self.side = side
        """The side of the session that sent the INTEREST; 0 in a multicast group."""
        self.id = id
        self.sender: Node | None = first.sender_node if asks else first.receiver_node
        """The node that sent the INTEREST."""
        self.receiver: Node | None = first.receiver_node if asks else first.sender_node
        self.opened: MessageSeen | None = None
        self.declared: list[MessageSeen] = []
        """Declarations that carry the id, up to a limit."""
        self.answered = 0
        """How many declarations carry the id."""
        self.final: MessageSeen | None = None
        self.closed: MessageSeen | None = None
        self.ended_by: str | None = None

    @property
    def sender_zid(self) -> str | None:
        return None if self.sender is None else self.sender.zid

    @property
    def receiver_zid(self) -> str | None:
        return None if self.receiver is None else self.receiver.zid

    @property
    def mode(self) -> InterestMode | None:
        interest = self._interest()
        return None if interest is None else interest.mode

    @property
    def options(self) -> str | None:
        """Letters of the specification, such as `KSR`, without N and M (encoding of the key)."""
        interest = self._interest()
        return None if interest is None else option_letters(interest)

    @property
    def key(self) -> str | None:
        return None if self.opened is None else self.opened.key

    @property
    def is_initial(self) -> bool:
        """Whether it represents the initial declarations of a peer."""
        return self.id == 0 and self.opened is None

    def answer(self, event: MessageSeen) -> None:
        self.answered += 1
        if len(self.declared) < ANSWERS_PER_INTEREST_MAX:
            self.declared.append(event)

    def _interest(self) -> Interest | None:
        if self.opened is None:
            return None
        message = self.opened.message
        return message if isinstance(message, Interest) else None

    def __repr__(self) -> str:
        return f"InterestLifetime({self.id}, {self.options}, {self.key!r}, {self.ended_by})"


class Interests:
    """Feed it events in order; it returns each interest at its end."""

    __slots__ = ("_open",)

    def __init__(
        self, per_session_max: int = INTERESTS_PER_SESSION_MAX, count_max: int = INTERESTS_MAX
    ) -> None:
        self._open: OpenItems[InterestLifetime] = OpenItems(per_session_max, count_max)

    def feed(self, event: TraceEvent) -> list[InterestLifetime]:
        ended: list[InterestLifetime] = []
        if isinstance(event, MessageSeen):
            message = event.message
            if event.ignored is not None:
                pass
            elif isinstance(message, Interest):
                self._feed_interest(event, message, ended)
            elif isinstance(message, Declare) and message.interest_id is not None:
                self._feed_declare(event, message, ended)
        elif isinstance(event, SessionChanged) and ends_session(event):
            for lifetime in self._open.in_session(event.session):
                self._close(lifetime, "session", ended)
        return ended

    def finish(self) -> list[InterestLifetime]:
        """Returns the interests that are open at the end of the capture or after their session."""
        ended: list[InterestLifetime] = []
        for lifetime in self._open.all():
            self._close(lifetime, None if lifetime.session.closed_ns is None else "session", ended)
        return ended

    def _feed_interest(
        self, event: MessageSeen, interest: Interest, ended: list[InterestLifetime]
    ) -> None:
        is_end = interest.mode == InterestMode.FINAL
        lifetime = self._find(event, interest.id, True, is_end, ended)
        if lifetime is None:
            return
        if is_end:
            lifetime.closed = event
            self._close(lifetime, "closed", ended)
        else:
            lifetime.opened = event

    def _feed_declare(
        self, event: MessageSeen, declare: Declare, ended: list[InterestLifetime]
    ) -> None:
        body = declare.body
        lifetime = self._find(event, declare.interest_id or 0, False, True, ended)
        if lifetime is None:
            return
        if isinstance(body, (DeclareKeyExpr, DeclareSubscriber, DeclareQueryable, DeclareToken)):
            lifetime.answer(event)
        elif isinstance(body, DeclareFinal):
            if lifetime.final is None:
                lifetime.final = event
            if lifetime.mode == InterestMode.CURRENT or lifetime.is_initial:
                self._close(lifetime, "final", ended)

    def _find(
        self, event: MessageSeen, id: int, asks: bool, known: bool, ended: list[InterestLifetime]
    ) -> InterestLifetime | None:
        """The interest of a message; a new one if there is none or `known` is False."""
        session = event.session
        if session is None:
            return None
        side = asking_side(event, session, asks)
        lifetime = self._open.get(session, (side, id))
        if lifetime is not None and not known:
            self._close(lifetime, None, ended)
            lifetime = None
        if lifetime is None:
            lifetime = InterestLifetime(session, side, id, event)
            oldest = self._open.add(session, (side, id), lifetime)
            if oldest is not None:
                self._close(oldest, None, ended)
        return lifetime

    def _close(
        self, lifetime: InterestLifetime, ended_by: str | None, ended: list[InterestLifetime]
    ) -> None:
        self._open.remove(lifetime.session, (lifetime.side, lifetime.id))
        lifetime.ended_by = ended_by
        ended.append(lifetime)


def interests(events: Iterable[TraceEvent]) -> Iterator[InterestLifetime]:
    """Every interest of a capture, in the order of their ends."""
    open_interests = Interests()
    for event in events:
        yield from open_interests.feed(event)
    yield from open_interests.finish()


def option_letters(interest: Interest) -> str:
    """K, S, Q, T for kinds of entities; R if restricted to a key; A for aggregate."""
    options = (
        ("K", interest.keyexprs),
        ("S", interest.subscribers),
        ("Q", interest.queryables),
        ("T", interest.tokens),
        ("R", interest.key is not None),
        ("A", interest.aggregate),
    )
    return "".join(letter for letter, is_set in options if is_set)
