"""`Liveliness` and `LivelinessToken`: keys that exist as long as their declarer is connected."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Self, final, overload

from zenlake.api.arguments.conversion import flag_of, key_text, timeout_ms_of
from zenlake.api.final_classes import NoConstructor
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_types import H, IntoCallback, IntoChannel, IntoPair
from zenlake.api.publication.sample import Sample
from zenlake.api.publication.subscriber import Subscriber
from zenlake.api.query.cancellation_token import CancellationToken
from zenlake.api.query.get import get_with_handler
from zenlake.api.query.reply import Reply
from zenlake.api.session.declared import Declared
from zenlake.api.session.session_handle import SessionHandle
from zenlake.keyexpr import KeyExpr
from zenlake.session.liveliness import Token
from zenlake.session.open_query import OpenQuery
from zenlake.session.sink import Sink


@final
class LivelinessToken(Declared):
    """A token: its key is alive until the token is undeclared or collected, or its session ends."""

    __slots__ = ()
    _NAME: ClassVar[str] = "LivelinessToken"
    _entity: Token


@final
class Liveliness(NoConstructor):
    """Declares tokens, and finds those of other sessions."""

    __slots__ = ("_session",)
    _session: SessionHandle

    @classmethod
    def _make(cls, session: SessionHandle) -> Self:
        made = object.__new__(cls)
        made._session = session
        return made

    def declare_token(self, key_expr: KeyExpr | str) -> LivelinessToken:
        """Declare that `key_expr` is alive."""
        key = key_text(key_expr)
        session = self._session
        with session.locked:
            token = session.core.declare_token(key, time.monotonic())
        return LivelinessToken._make(session, token)

    @overload
    def get(
        self,
        key_expr: KeyExpr | str,
        handler: IntoChannel[Reply] = None,
        *,
        timeout: float | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> Handler[Reply]: ...
    @overload
    def get(
        self,
        key_expr: KeyExpr | str,
        handler: IntoPair[Reply, H],
        *,
        timeout: float | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> H: ...
    @overload
    def get(
        self,
        key_expr: KeyExpr | str,
        handler: IntoCallback[Reply],
        *,
        timeout: float | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> None: ...
    def get(
        self,
        key_expr: KeyExpr | str,
        handler: Any = None,
        *,
        timeout: float | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> Any:
        """Query the keys that are alive: one reply for each."""
        key = key_text(key_expr)
        core = self._session.core
        timeout_ms = timeout_ms_of(timeout, core.settings.query_timeout_ms)

        def start(sink: Sink, now: float) -> OpenQuery:
            return core.liveliness_get(key, sink, timeout_ms, now)

        return get_with_handler(self._session, handler, cancellation_token, start)

    @overload
    def declare_subscriber(
        self,
        key_expr: KeyExpr | str,
        handler: IntoChannel[Sample] = None,
        *,
        history: bool | None = None,
    ) -> Subscriber[Handler[Sample]]: ...
    @overload
    def declare_subscriber(
        self, key_expr: KeyExpr | str, handler: IntoPair[Sample, H], *, history: bool | None = None
    ) -> Subscriber[H]: ...
    @overload
    def declare_subscriber(
        self, key_expr: KeyExpr | str, handler: IntoCallback[Sample], *, history: bool | None = None
    ) -> Subscriber[None]: ...
    def declare_subscriber(
        self, key_expr: KeyExpr | str, handler: Any = None, *, history: bool | None = None
    ) -> Subscriber[Any]:
        """Receive a PUT for each key that becomes alive, and a DELETE when it no longer is."""
        key = key_text(key_expr)
        with_history = bool(flag_of(history, "history"))
        binding = HandlerBinding(handler)
        session = self._session
        with session.locked:
            entity = session.core.declare_liveliness_subscriber(
                key, binding.sink, with_history, time.monotonic()
            )
        return Subscriber._make_with_handler(session, entity, binding)
