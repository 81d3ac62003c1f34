"""Interests: what one side asked to be told of, what answered, and until when it held.

INTEREST opens one under a number; declarations of the other side that answer it carry the
number, and D_FINAL says that those were all there are now (behaviour reference §3, §9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zenlake.limits import ANSWERS_PER_INTEREST_MAX, INTERESTS_MAX, INTERESTS_PER_SESSION_MAX
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.session import Node, Session
from zenlake.trace.timelines.open_items import OpenItems, asking_side, ends_session
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
    """One interest; `opened` is None where the capture has only its answers or its end.

    `ended_by` is `closed` (INTEREST of mode final), `final` (D_FINAL, where only what is there
    now was asked for), `session`, or None where the capture does not say. Between peers D_FINAL
    with number 0 ends what each tells the other at first; no INTEREST asks for that.
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
        """The side of the session that asks; 0 in a multicast group."""
        self.id = id
        self.sender: Node | None = first.sender_node if asks else first.receiver_node
        """Who asks."""
        self.receiver: Node | None = first.receiver_node if asks else first.sender_node
        self.opened: MessageSeen | None = None
        self.declared: list[MessageSeen] = []
        """The first declarations that carry the number."""
        self.answered = 0
        """How many do."""
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
        """Letters of the page, such as `KSR`; N and M, which only say how the key is written,
        are left out."""
        interest = self._interest()
        return None if interest is None else option_letters(interest)

    @property
    def key(self) -> str | None:
        return None if self.opened is None else self.opened.key

    @property
    def is_initial(self) -> bool:
        """Whether it is what a peer tells at first, unasked."""
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
    """Feed it events in order; it gives each interest when it has ended."""

    __slots__ = ("_open",)

    def __init__(
        self, per_session_max: int = INTERESTS_PER_SESSION_MAX, count_max: int = INTERESTS_MAX
    ) -> None:
        self._open: OpenItems[InterestLifetime] = OpenItems(per_session_max, count_max)

    def feed(self, event: TraceEvent) -> list[InterestLifetime]:
        over: list[InterestLifetime] = []
        if isinstance(event, MessageSeen):
            message = event.message
            if event.ignored is not None:
                pass
            elif isinstance(message, Interest):
                self._ask(event, message, over)
            elif isinstance(message, Declare) and message.interest_id is not None:
                self._answer(event, message, over)
        elif isinstance(event, SessionChanged) and ends_session(event):
            for life in self._open.in_session(event.session):
                self._close(life, "session", over)
        return over

    def finish(self) -> list[InterestLifetime]:
        """What is still open when the capture ends, or came after the end of its session."""
        over: list[InterestLifetime] = []
        for life in self._open.all():
            self._close(life, None if life.session.closed_ns is None else "session", over)
        return over

    def _ask(self, event: MessageSeen, interest: Interest, over: list[InterestLifetime]) -> None:
        is_end = interest.mode == InterestMode.FINAL
        life = self._find(event, interest.id, True, is_end, over)
        if life is None:
            return
        if is_end:
            life.closed = event
            self._close(life, "closed", over)
        else:
            life.opened = event

    def _answer(self, event: MessageSeen, declare: Declare, over: list[InterestLifetime]) -> None:
        body = declare.body
        life = self._find(event, declare.interest_id or 0, False, True, over)
        if life is None:
            return
        if isinstance(body, (DeclareKeyExpr, DeclareSubscriber, DeclareQueryable, DeclareToken)):
            life.answer(event)
        elif isinstance(body, DeclareFinal):
            if life.final is None:
                life.final = event
            if life.mode == InterestMode.CURRENT or life.is_initial:
                self._close(life, "final", over)

    def _find(
        self, event: MessageSeen, id: int, asks: bool, known: bool, over: list[InterestLifetime]
    ) -> InterestLifetime | None:
        """The interest a message is about, or a new one; always a new one if it is not known."""
        session = event.session
        if session is None:
            return None
        side = asking_side(event, session, asks)
        life = self._open.get(session, (side, id))
        if life is not None and not known:
            self._close(life, None, over)
            life = None
        if life is None:
            life = InterestLifetime(session, side, id, event)
            oldest = self._open.add(session, (side, id), life)
            if oldest is not None:
                self._close(oldest, None, over)
        return life

    def _close(
        self, life: InterestLifetime, ended_by: str | None, over: list[InterestLifetime]
    ) -> None:
        self._open.remove(life.session, (life.side, life.id))
        life.ended_by = ended_by
        over.append(life)


def interests(events: Iterable[TraceEvent]) -> Iterator[InterestLifetime]:
    """Every interest of a capture, in the order in which they ended."""
    open_interests = Interests()
    for event in events:
        yield from open_interests.feed(event)
    yield from open_interests.finish()


def option_letters(interest: Interest) -> str:
    """K, S, Q, T for what is asked, R where a key restricts it, A for aggregates."""
    options = (
        ("K", interest.keyexprs),
        ("S", interest.subscribers),
        ("Q", interest.queryables),
        ("T", interest.tokens),
        ("R", interest.key is not None),
        ("A", interest.aggregate),
    )
    return "".join(letter for letter, is_set in options if is_set)
