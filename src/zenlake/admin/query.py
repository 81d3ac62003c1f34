"""`AdminQuery`: one query to the admin space while it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.keyexpr.matching import intersects
from zenlake.keyexpr.parameters import Parameters
from zenlake.wire import (
    Encoding,
    Err,
    Put,
    Reply,
    Request,
    ResponderId,
    Response,
    ResponseFinal,
    WireExpr,
)

if TYPE_CHECKING:
    from zenlake.routing.dispatcher import Dispatcher
    from zenlake.routing.face import Face
    from zenlake.routing.work import Job, Work

ENTITY_ID: Final = 1
"""The entity id of the admin space, the same as in official nodes."""

REPLY_STEPS: Final = 64
"""The number of steps for making and encoding a reply."""

_CHARACTERS_PER_STEP: Final = 8

_JSON: Final = Encoding.parse("application/json")
TEXT: Final = Encoding.parse("text/plain")


class AdminQuery:
    __slots__ = ("_dispatcher", "_face", "_request", "_work", "job", "key", "parameters")

    def __init__(
        self, dispatcher: Dispatcher, face: Face, work: Work, key: str, request: Request
    ) -> None:
        self._dispatcher = dispatcher
        self._face = face
        self._work = work
        self._request = request
        self.key = key
        self.parameters = Parameters(request.body.parameters or "")
        self.job: Job | None = None
        """The job that makes the replies; None before it begins."""

    @property
    def requester(self) -> Face | None:
        """The neighbour that sent the query; None if it is gone or the query has timed out."""
        branch = self._face.branches.get(self._request.request_id)
        if branch is None or branch.query.face.is_gone:
            return None
        return branch.query.face

    def concerns(self, key: str) -> bool:
        """Whether the selector intersects a key; the steps depend on their lengths."""
        self._work.steps -= 1 + len(self.key) // _CHARACTERS_PER_STEP
        return intersects(self.key, key)

    def flag(self, name: str, default: bool) -> bool:
        """A parameter that is `true` or `false`; anything else is its default."""
        value = self.parameters.get(name)
        return value == "true" if value in ("true", "false") else default

    def reply(self, key: str, payload: bytes, encoding: Encoding) -> None:
        self._respond(key, Reply(Put(payload, encoding=encoding)))
        self._work.steps -= REPLY_STEPS

    def reply_json(self, key: str, text: str) -> None:
        self.reply(key, text.encode(), _JSON)

    def fail(self, text: str) -> None:
        """Send an error instead of a reply."""
        self._respond(self.key, Err(text.encode()))

    def finish(self) -> None:
        """Send the final response, unless the query has timed out."""
        request = self._request
        if request.request_id not in self._face.branches:
            return
        self._dispatcher.receive(
            self._face, ResponseFinal(request.request_id, request.qos), True, 0.0
        )

    def _respond(self, key: str, body: Reply | Err) -> None:
        request = self._request
        responder = ResponderId(self._dispatcher.zid, ENTITY_ID)
        response = Response(
            request.request_id, WireExpr(0, key), body, request.qos, None, responder, request.stamps
        )
        # The time 0 is right: only timers of requests and interests need the time.
        self._dispatcher.receive(self._face, response, True, 0.0)
