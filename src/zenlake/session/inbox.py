"""`SessionInbox`: the messages that a node sends to its session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.routing.outlet import Outlet
from zenlake.session.interests import QUERYABLES, SUBSCRIBERS
from zenlake.wire import (
    Declare,
    DeclareFinal,
    DeclareQueryable,
    DeclareSubscriber,
    DeclareToken,
    NetworkMessage,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareQueryable,
    UndeclareSubscriber,
    UndeclareToken,
)

if TYPE_CHECKING:
    from zenlake.session.core import SessionCore


class SessionInbox(Outlet):
    """Passes each message to the part of the session that it concerns; drops all after `close`."""

    __slots__ = ("_core",)

    def __init__(self, core: SessionCore) -> None:
        self._core = core

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        core = self._core
        if core.is_closed:
            return
        if isinstance(message, Push):
            self.push_run([message], 0, 1, key, reliable)
        elif isinstance(message, Response):
            core.queries.receive(key, message)
        elif isinstance(message, ResponseFinal):
            core.queries.finish(message.request_id)
        elif isinstance(message, Request):
            self._receive_request(message, key)
        elif isinstance(message, Declare):
            self._receive_declare(message, key)

    def push_run(
        self, messages: list[NetworkMessage], start: int, stop: int, key: str, reliable: bool
    ) -> None:
        """Pass publications on one key to the subscribers. Hot."""
        core = self._core
        if core.is_closed:
            return
        own = core.port.namespace.own(key)
        if own is not None:
            core.subscribers.receive_run(own, messages, start, stop)

    def _receive_request(self, request: Request, key: str) -> None:
        port = self._core.port
        own = port.namespace.own(key)
        if own is None:
            port.to_network(ResponseFinal(request.request_id, request.qos), port.now)
        else:
            self._core.queryables.receive(own, request, port.now)

    def _receive_declare(self, message: Declare, key: str) -> None:
        core = self._core
        body = message.body
        if isinstance(body, DeclareFinal):
            interest_id = message.interest_id
            if interest_id is not None and not core.interests.finish(interest_id):
                core.liveliness.finish(interest_id)
            return
        own = core.port.namespace.own(key) if key else None
        if isinstance(body, UndeclareSubscriber):
            core.matching.receive_undeclared(SUBSCRIBERS, body.id)
        elif isinstance(body, UndeclareQueryable):
            core.matching.receive_undeclared(QUERYABLES, body.id)
        elif isinstance(body, UndeclareToken):
            core.liveliness.receive_undeclared(body.id, own)
        elif own is None:
            return
        elif isinstance(body, DeclareSubscriber):
            core.matching.receive_declared(SUBSCRIBERS, body.id, own)
        elif isinstance(body, DeclareQueryable):
            complete = body.info is not None and body.info.complete
            core.matching.receive_declared(QUERYABLES, body.id, own, complete)
        elif isinstance(body, DeclareToken):
            core.liveliness.receive_declared(body.id, own, message.interest_id)
