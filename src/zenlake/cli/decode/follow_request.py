"""`RequestFollower`: selects a REQUEST and its responses, with latencies and the outcome.

A request id belongs to one session: a query that passes routers has a different id in each session.
The lines of each session with this id are returned together, when its final arrives.
"""

from __future__ import annotations

from zenlake.cli.decode.follower import Follower, FollowerLine
from zenlake.cli.decode.text import ms_text
from zenlake.cli.output import count_text
from zenlake.trace.events import MessageSeen, SessionChanged, TraceEvent
from zenlake.trace.timelines.exchange import Exchange
from zenlake.trace.timelines.exchanges import Exchanges
from zenlake.wire import ResponseFinal


class RequestFollower(Follower):
    def __init__(self, request_id: int, link: str = "") -> None:
        self._request_id = request_id
        self._link = link
        self._exchanges = Exchanges()

    def feed(self, event: TraceEvent) -> list[FollowerLine]:
        if isinstance(event, SessionChanged):
            return _unfinished(self._exchanges.feed(event))
        if not isinstance(event, MessageSeen) or event.request_id != self._request_id:
            return []
        if self._link not in event.link.name:
            return []
        lines = _unfinished(self._exchanges.feed(event))
        exchange = self._exchanges.exchange_of(event)
        if exchange is None:
            return [*lines, FollowerLine(event)]
        if exchange.final is event:
            return lines + exchange_lines(exchange)
        if exchange.final is not None and not isinstance(event.message, ResponseFinal):
            late = ms_text(event.time_ns - exchange.final.time_ns)
            lines.append(FollowerLine(event, f"{late} after the final"))
        return lines

    def finish(self) -> list[FollowerLine]:
        return _unfinished(self._exchanges.finish())


def _unfinished(over: list[Exchange]) -> list[FollowerLine]:
    """The lines of exchanges without a final; all others were returned with their final."""
    return [
        line for exchange in over if exchange.final is None for line in exchange_lines(exchange)
    ]


def exchange_lines(exchange: Exchange) -> list[FollowerLine]:
    """All lines of an exchange, with a summary at the end."""
    found = [] if exchange.request is None else [FollowerLine(exchange.request)]
    found += [FollowerLine(event, _latency(exchange, event)) for event in exchange.responses]
    hidden = exchange.replies + exchange.errors - len(exchange.responses)
    if hidden:
        found.append(FollowerLine(None, f"   ... {hidden:,} more responses"))
    if exchange.final is not None:
        found.append(FollowerLine(exchange.final, _latency(exchange, exchange.final)))
    return [*found, FollowerLine(None, f"   = {_sentence(exchange)}"), FollowerLine(None)]


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
