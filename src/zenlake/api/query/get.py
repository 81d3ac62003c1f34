"""The common part of `Session.get`, `Querier.get` and `Liveliness.get`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from zenlake import wire
from zenlake.api.arguments.conversion import encoding_of, payload_of, wrong_type
from zenlake.api.handlers.channels import fifo_channel
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.query.cancellation_token import CancellationToken
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.values.encoding import Encoding
from zenlake.errors import ZError
from zenlake.limits import HANDLER_ITEMS_MAX
from zenlake.session.open_query import OpenQuery
from zenlake.session.queries import QuerySpec
from zenlake.session.sink import Sink

_BYTES = wire.Encoding(0)


def body_of(payload: object, encoding: Encoding | str | None) -> wire.QueryBody | None:
    """The body of a query: one part gets the default of the other (behaviour reference §2.5)."""
    if payload is None and encoding is None:
        return None
    raw = b"" if payload is None else payload_of(payload)
    return wire.QueryBody(encoding_of(encoding) or _BYTES, raw)


class CancellableSink(Sink):
    """The sink of a query with a cancellation token: it wraps the sink of the user's handler.

    The query stays registered with its token until the last callback has returned, which may be
    long after the query's end: until then `cancel` discards replies that were not delivered and
    waits for a running callback. It is unregistered in `after_unlock`, outside the node's lock,
    because the token has a lock of its own.
    """

    __slots__ = (
        "_calls_back",
        "_is_cancelled",
        "_is_over",
        "_number",
        "_query",
        "_session",
        "_sink",
        "_token",
    )

    def __init__(self, session: SessionHandle, sink: Sink, token: CancellationToken) -> None:
        self._session = session
        self._sink = sink
        self._token = token
        self._query: OpenQuery | None = None
        self._number: int | None = None
        self._is_over = False
        self._is_cancelled = False
        self._calls_back = sink.on_end(self._unregister)

    def register(self) -> bool:
        """False if the token is already cancelled."""
        self._number = self._token.register(self.cancel)
        return self._number is not None

    def started(self, query: OpenQuery) -> None:
        self._query = query

    def cancel(self) -> None:
        """The hook of the token; afterwards only `drop` is called. Several threads may call it."""
        self._is_cancelled = True
        query = self._query
        if query is None:
            return  # the query is not started yet; `get_with_handler` cancels it afterwards
        if query.is_open:
            with self._session.locked:
                query.abandon()
                self._sink.discard()
        else:
            self._sink.discard()
        self._sink.wait_for_callback()

    def push(self, item: object) -> None:
        if not self._is_cancelled:
            self._sink.push(item)

    def count_in(self, counters: dict[str, int]) -> None:
        self._sink.count_in(counters)

    def leave_to_parent(self, text: str) -> None:
        self._sink.leave_to_parent(text)

    def close(self) -> None:
        self._is_over = True
        self._sink.close()

    def after_unlock(self) -> None:
        if self._is_over and not self._calls_back:
            self._unregister()
        self._sink.after_unlock()

    def _unregister(self) -> None:
        number = self._number
        if number is not None:
            self._number = None
            self._token.unregister(number)


def get_with_defaults(
    session: SessionHandle, key: str, parameters: str, spec: QuerySpec
) -> Handler[Any]:
    """A query with the default handler and without a token: the fast path."""
    channel = fifo_channel(HANDLER_ITEMS_MAX)
    session.begin()
    try:
        session.core.get(key, parameters, spec, channel, time.monotonic())
    finally:
        session.end()
    return Handler(channel)


def get_with_handler(
    session: SessionHandle,
    handler: object,
    token: CancellationToken | None,
    start: Callable[[Sink, float], OpenQuery],
) -> Any:
    """Start a query and return the user's handler; `start` is called under the node's lock."""
    if token is not None and not isinstance(token, CancellationToken):
        raise wrong_type("cancellation_token", token, "CancellationToken")
    binding = HandlerBinding(handler)
    cancellable = None
    if token is not None:
        cancellable = CancellableSink(session, binding.sink, token)
        if not cancellable.register():
            raise ZError("Query was cancelled")
    session.begin()
    try:
        query = start(cancellable or binding.sink, time.monotonic())
        if cancellable is not None:
            cancellable.started(query)
    finally:
        session.end()
    if cancellable is not None and token is not None and token.is_cancelled:
        # Cancelled between registration and start, when there was no query to cancel.
        cancellable.cancel()
    return binding.handler
