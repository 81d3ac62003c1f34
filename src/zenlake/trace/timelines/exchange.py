"""Exchange: one request and its answers."""

from __future__ import annotations

from typing import Final

from zenlake.limits import EXCHANGE_BYTES_MAX
from zenlake.trace.events import MessageSeen
from zenlake.trace.session import Node, Session
from zenlake.wire import Del, Reply, Request, Response

_KEPT_MESSAGE_BYTES: Final = 1_024
"""Approximate memory of a message besides its payload."""
_NS_PER_MS: Final = 1e6


class Exchange:
    """One REQUEST and its answers; without the REQUEST if the capture began after it.

    `ended_by` is `final`, `session` (it ended first), `end` (the capture did), or None if the id
    was reused before the final response, or a limit was reached.
    """

    __slots__ = (
        "after_final",
        "ended_by",
        "errors",
        "final",
        "first_reply",
        "kept_bytes",
        "late",
        "place",
        "replies",
        "request",
        "requester",
        "responder",
        "responses",
        "session",
    )

    def __init__(self, session: Session, place: tuple[int, int], first: MessageSeen) -> None:
        asks = isinstance(first.message, Request)
        self.session = session
        self.place = place
        """The side of the session that sent the request (0 in a multicast group), and its id."""
        self.requester: Node | None = first.sender_node if asks else first.receiver_node
        self.responder: Node | None = first.receiver_node if asks else first.sender_node
        self.request: MessageSeen | None = None
        self.responses: list[MessageSeen] = []
        """RESPONSEs before the final one, up to a limit."""
        self.after_final: list[MessageSeen] = []
        """RESPONSEs after the final one, up to a limit."""
        self.final: MessageSeen | None = None
        self.first_reply: MessageSeen | None = None
        self.replies = 0
        """The number of replies, including late ones and those not kept; likewise `errors`."""
        self.errors = 0
        self.late = 0
        """Replies and errors after the final response."""
        self.ended_by: str | None = None
        self.kept_bytes = 0

    def add(self, event: MessageSeen) -> None:
        """Adds the request, a response or the final response."""
        message = event.message
        if isinstance(message, Request):
            self.request = event
            self.kept_bytes += _kept_bytes(event)
        elif isinstance(message, Response):
            self._add_response(event, message)
        elif self.final is None:
            self.final = event
            self.ended_by = "final"
            self.kept_bytes += _KEPT_MESSAGE_BYTES

    def _add_response(self, event: MessageSeen, response: Response) -> None:
        if isinstance(response.body, Reply):
            self.replies += 1
            if self.first_reply is None:
                self.first_reply = event
        else:
            self.errors += 1
        kept = self.responses
        if self.final is not None:
            self.late += 1
            kept = self.after_final
        if self.kept_bytes < EXCHANGE_BYTES_MAX:
            kept.append(event)
            self.kept_bytes += _kept_bytes(event)

    @property
    def request_id(self) -> int:
        return self.place[1]

    @property
    def requester_zid(self) -> str | None:
        return None if self.requester is None else self.requester.zid

    @property
    def responder_zid(self) -> str | None:
        return None if self.responder is None else self.responder.zid

    @property
    def key(self) -> str | None:
        return None if self.request is None else self.request.key

    @property
    def parameters(self) -> str | None:
        request = self._request()
        return None if request is None else request.body.parameters

    @property
    def timeout_ms(self) -> int | None:
        request = self._request()
        return None if request is None else request.timeout_ms

    @property
    def first_reply_ms(self) -> float | None:
        """Milliseconds from the request to the first reply that is not an error."""
        return None if self.first_reply is None else self.latency_ms(self.first_reply)

    @property
    def final_ms(self) -> float | None:
        return None if self.final is None else self.latency_ms(self.final)

    def latency_ms(self, answer: MessageSeen) -> float | None:
        """Milliseconds from the request to one of its answers."""
        request = self.request
        return None if request is None else (answer.time_ns - request.time_ns) / _NS_PER_MS

    def _request(self) -> Request | None:
        if self.request is None:
            return None
        message = self.request.message
        return message if isinstance(message, Request) else None

    def __repr__(self) -> str:
        counts = f"{self.replies} replies, {self.errors} errors"
        return f"Exchange({self.request_id}, {self.key!r}, {counts}, {self.ended_by})"


def _kept_bytes(event: MessageSeen) -> int:
    message = event.message
    payload = b""
    if isinstance(message, Request) and message.body.body is not None:
        payload = message.body.body.payload
    elif isinstance(message, Response):
        body = message.body
        data = body.body if isinstance(body, Reply) else body
        payload = b"" if isinstance(data, Del) else data.payload
    return _KEPT_MESSAGE_BYTES + len(payload)
