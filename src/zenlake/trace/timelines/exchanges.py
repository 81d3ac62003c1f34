"""Exchanges: each request with the answers of the other side of its session.

The id and the side that sent it identify a request; RESPONSE and RESPONSE_FINAL of the other side
repeat the id (behaviour reference §9). A RESPONSE may come after the final one, so an exchange is
kept for a while after it.

The tables `queries` and `replies` apply the same rules in SQL (`lake/derive/steps/exchanges`); a
test compares both on all bundled captures (`tests/lake/derive/steps/test_equality`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final

from zenlake.limits import (
    EXCHANGES_BYTES_MAX,
    EXCHANGES_MAX,
    EXCHANGES_PER_SESSION_MAX,
    LATE_RESPONSE_SECONDS_MAX,
)
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent, ends_session
from zenlake.trace.session import Session
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.open_items import OpenItems, asking_side
from zenlake.wire import Request, Response, ResponseFinal

_LATE_NS: Final = LATE_RESPONSE_SECONDS_MAX * 1_000_000_000


class Exchanges:
    """Feed it events in order; it returns each exchange when no more messages can belong to it."""

    __slots__ = ("_bytes_max", "_finished", "_kept_bytes", "_open")

    def __init__(
        self,
        per_session_max: int = EXCHANGES_PER_SESSION_MAX,
        count_max: int = EXCHANGES_MAX,
        bytes_max: int = EXCHANGES_BYTES_MAX,
    ) -> None:
        self._open: OpenItems[Exchange] = OpenItems(per_session_max, count_max)
        self._bytes_max = bytes_max
        self._finished: OrderedDict[Exchange, None] = OrderedDict()
        """Exchanges with a final response, in the order of the final responses."""
        self._kept_bytes = 0

    def feed(self, event: TraceEvent) -> list[Exchange]:
        ended: list[Exchange] = []
        if self._finished:
            self._expire(event.time_ns, ended)
        if isinstance(event, MessageSeen):
            message = event.message
            if (
                isinstance(message, (Request, Response, ResponseFinal))
                and event.session is not None
                and event.ignored is None
            ):
                self._feed_message(event, event.session, message.request_id, ended)
        elif isinstance(event, SessionChanged) and ends_session(event):
            for exchange in self._open.in_session(event.session):
                self._close(exchange, "session", ended)
        return ended

    def finish(self) -> list[Exchange]:
        """Returns the exchanges that are open at the end of the capture or after their session."""
        ended: list[Exchange] = []
        for exchange in self._open.all():
            self._close(exchange, "end" if exchange.session.closed_ns is None else "session", ended)
        return ended

    def exchange_of(self, event: MessageSeen) -> Exchange | None:
        """The open exchange of a message that was just fed."""
        number = event.request_id
        session = event.session
        if number is None or session is None or event.ignored is not None:
            return None
        return self._open.get(session, _place(event, session, number))

    def _feed_message(
        self, event: MessageSeen, session: Session, number: int, ended: list[Exchange]
    ) -> None:
        place = _place(event, session, number)
        exchange = self._open.get(session, place)
        if exchange is not None and isinstance(event.message, Request):
            self._close(exchange, None, ended)
            exchange = None
        if exchange is None:
            exchange = Exchange(session, place, event)
            oldest = self._open.add(session, place, exchange)
            if oldest is not None:
                self._close(oldest, None, ended)
        before = exchange.kept_bytes
        exchange.add(event)
        self._kept_bytes += exchange.kept_bytes - before
        if exchange.final is not None:
            self._finished[exchange] = None
        while self._kept_bytes > self._bytes_max and self._give_up(exchange, ended):
            pass

    def _give_up(self, spared: Exchange, ended: list[Exchange]) -> bool:
        """Closes the oldest exchange except `spared`; returns whether there was one."""
        oldest = next(iter(self._finished), None)
        if oldest is None or oldest is spared:
            oldest = self._open.oldest()
        if oldest is None or oldest is spared:
            return False
        self._close(oldest, None, ended)
        return True

    def _expire(self, now_ns: int, ended: list[Exchange]) -> None:
        while self._finished:
            oldest = next(iter(self._finished))
            final = oldest.final
            if final is not None and now_ns - final.time_ns <= _LATE_NS:
                return
            self._close(oldest, None, ended)

    def _close(self, exchange: Exchange, ended_by: str | None, ended: list[Exchange]) -> None:
        self._open.remove(exchange.session, exchange.place)
        self._finished.pop(exchange, None)
        self._kept_bytes -= exchange.kept_bytes
        if exchange.final is None:
            exchange.ended_by = ended_by
        ended.append(exchange)


def exchanges(events: Iterable[TraceEvent]) -> Iterator[Exchange]:
    """Every exchange of a capture, in the order of their ends."""
    open_exchanges = Exchanges()
    for event in events:
        yield from open_exchanges.feed(event)
    yield from open_exchanges.finish()


def _place(event: MessageSeen, session: Session, number: int) -> tuple[int, int]:
    return asking_side(event, session, isinstance(event.message, Request)), number
