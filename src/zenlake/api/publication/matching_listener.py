"""`MatchingListener`: is told when somebody begins or ceases to listen."""

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
    """First told if there is somebody already, then of every change."""

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
    return MatchingListener._of_handler(session, entity, binding)


def matching_status(session: SessionHandle, source: MatchingSource) -> MatchingStatus:
    """After close nobody listens any more."""
    session.begin()
    try:
        core = session.core
        return make_status(not core.is_closed and core.matching.is_matching(source))
    finally:
        session.end()
