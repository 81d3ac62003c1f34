"""RequestFollower: a REQUEST, its responses with their latency, and how it ended.

The number of a request counts for one session: on its way through routers a query has another
one in each. Every session that has the number gives a story of its own, told as a whole when
its final arrives.
"""

from __future__ import annotations

from zenlake.cli.decode.text import count_text, ms_text
from zenlake.cli.decode.told import Follower, Told
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.exchanges import Exchanges
from zenlake.wire import ResponseFinal


class RequestFollower(Follower):
    def __init__(self, request_id: int, link: str = "") -> None:
        self._request_id = request_id
        self._link = link
        self._exchanges = Exchanges()

    def feed(self, event: TraceEvent) -> list[Told]:
        if isinstance(event, SessionChanged):
            return _unfinished(self._exchanges.feed(event))
        if not isinstance(event, MessageSeen) or event.request_id != self._request_id:
            return []
        if self._link not in event.link.name:
            return []
        told = _unfinished(self._exchanges.feed(event))
        exchange = self._exchanges.exchange_of(event)
        if exchange is None:
            return [*told, Told(event)]
        if exchange.final is event:
            return told + story(exchange)
        if exchange.final is not None and not isinstance(event.message, ResponseFinal):
            late = ms_text(event.time_ns - exchange.final.time_ns)
            told.append(Told(event, f"{late} after the final"))
        return told

    def finish(self) -> list[Told]:
        return _unfinished(self._exchanges.finish())


def _unfinished(over: list[Exchange]) -> list[Told]:
    """The stories of those that never had their final; the others were told with it."""
    return [told for exchange in over if exchange.final is None for told in story(exchange)]


def story(exchange: Exchange) -> list[Told]:
    """The whole of it, with a sentence at the end."""
    found = [] if exchange.request is None else [Told(exchange.request)]
    found += [Told(event, _latency(exchange, event)) for event in exchange.responses]
    hidden = exchange.replies + exchange.errors - len(exchange.responses)
    if hidden:
        found.append(Told(None, f"   ... {hidden:,} more responses"))
    if exchange.final is not None:
        found.append(Told(exchange.final, _latency(exchange, exchange.final)))
    return [*found, Told(None, f"   = {_sentence(exchange)}"), Told(None)]


def _latency(exchange: Exchange, event: MessageSeen) -> str:
    if exchange.request is None:
        return ""
    return f"+{ms_text(event.time_ns - exchange.request.time_ns)}"


def _sentence(exchange: Exchange) -> str:
    words = [count_text(exchange.replies, "reply")]
    if exchange.errors:
        words.append(count_text(exchange.errors, "error"))
    if exchange.final is None:
        words.append(f"no final before {_ending(exchange)}")
    elif exchange.request is None:
        words.append("final; the request was sent before the capture")
    else:
        words.append(f"final after {_latency(exchange, exchange.final)[1:]}")
    return ", ".join(words)


def _ending(exchange: Exchange) -> str:
    if exchange.ended_by == "session":
        outcome = exchange.session.outcome
        return "the session ended" if outcome == "partial" else f"the session was {outcome}"
    return "the end of the capture" if exchange.ended_by == "end" else "the number was used again"
