"""`MatchingListener`: reports when matching subscribers or queryables appear or disappear."""

from __future__ import annotations

import time
from typing import Any, ClassVar, final, overload

from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_types import H, IntoCallback, IntoChannel, IntoPair
from zenlake.api.publication.matching_status import MatchingStatus, make_status
from zenlake.api.session.declared import DeclaredOnKey, DeclaredWithHandler
from zenlake.session.matching import MatchingEntity, MatchingSource


@final
class MatchingListener(DeclaredWithHandler[MatchingStatus, H]):
    """Reports a match that exists at the declaration, then every change."""

    __slots__ = ()
    _NAME: ClassVar[str] = "matching listener"
    _entity: MatchingEntity


class DeclaredWithMatching(DeclaredOnKey):
    """A publisher, which matches subscribers, or a querier, which matches queryables."""

    __slots__ = ()
    _entity: MatchingSource

    @property
    def matching_status(self) -> MatchingStatus:
        """Whether there is a match; False after the session is closed."""
        self._check()
        session = self._session
        with session.locked:
            core = session.core
            return make_status(not core.is_closed and core.matching.is_matching(self._entity))

    @overload
    def declare_matching_listener(
        self, handler: IntoChannel[MatchingStatus] = None
    ) -> MatchingListener[Handler[MatchingStatus]]: ...
    @overload
    def declare_matching_listener(
        self, handler: IntoPair[MatchingStatus, H]
    ) -> MatchingListener[H]: ...
    @overload
    def declare_matching_listener(
        self, handler: IntoCallback[MatchingStatus]
    ) -> MatchingListener[None]: ...
    def declare_matching_listener(self, handler: Any = None) -> MatchingListener[Any]:
        """Report when matching subscribers or queryables appear or disappear."""
        self._check()
        session, binding = self._session, HandlerBinding(handler)
        with session.locked:
            now = time.monotonic()
            entity = session.core.declare_matching_listener(self._entity, binding.sink, now)
        return MatchingListener._make_with_handler(session, entity, binding)
