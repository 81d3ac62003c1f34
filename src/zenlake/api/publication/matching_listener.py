"""`MatchingListener`: is told when somebody begins or ceases to listen."""

from __future__ import annotations

import time
from typing import Any, ClassVar, final

from zenlake.api.handlers.handler_types import H
from zenlake.api.publication.matching_status import MatchingStatus, make_status
from zenlake.api.session.declared import Handled, UserEnd
from zenlake.api.session.session_handle import Shell
from zenlake.session.matching import MatchingEntity, Speaker


@final
class MatchingListener(Handled[MatchingStatus, H]):
    """First told if there is somebody already, then of every change."""

    __slots__ = ()
    _NAME: ClassVar[str] = "matching listener"
    _entity: MatchingEntity


def declare_matching_listener(
    shell: Shell, speaker: Speaker, handler: object
) -> MatchingListener[Any]:
    user = UserEnd(handler)
    shell.begin()
    try:
        entity = shell.core.declare_matching_listener(speaker, user.sink, time.monotonic())
    finally:
        shell.end()
    return MatchingListener._of_handler(shell, entity, user)


def matching_status(shell: Shell, speaker: Speaker) -> MatchingStatus:
    """After close nobody listens any more."""
    shell.begin()
    try:
        core = shell.core
        return make_status(not core.is_closed and core.matching.is_matching(speaker))
    finally:
        shell.end()
