"""`MatchingListener`: reports when matching subscribers or queryables appear or disappear."""

from __future__ import annotations

import time
from typing import Any, ClassVar, final

from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_types import H
from zenlake.api.publication.matching_status import MatchingStatus, make_status
from zenlake.api.session.declared import DeclaredWithHandler
from zenlake.api.session.session_handle import SessionHandle
from zenlake.session.matching import MatchingEntity, MatchingSource


@final
class MatchingListener(DeclaredWithHandler[MatchingStatus, H]):
    """Reports a match that exists at the declaration, then every change."""

    __slots__ = ()
    _NAME: ClassVar[str] = "matching listener"
    _entity: MatchingEntity


def declare_matching_listener(
    session: SessionHandle, source: MatchingSource, handler: object
) -> MatchingListener[Any]:
    binding = HandlerBinding(handler)
    session.begin()
    try:
        entity = session.core.declare_matching_listener(source, binding.sink, time.monotonic())
    finally:
        session.end()
    return MatchingListener._make_with_handler(session, entity, binding)


def matching_status(session: SessionHandle, source: MatchingSource) -> MatchingStatus:
    """Whether there is a match; False after the session is closed."""
    session.begin()
    try:
        core = session.core
        return make_status(not core.is_closed and core.matching.is_matching(source))
    finally:
        session.end()
