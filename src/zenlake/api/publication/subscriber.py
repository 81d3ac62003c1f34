"""`Subscriber`: receives the samples of a key expression."""

from __future__ import annotations

import time
from typing import Any, ClassVar, final

from zenlake.api.arguments.conversion import key_text, locality
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_types import H
from zenlake.api.publication.sample import Sample
from zenlake.api.session.declared import DeclaredOnKey, DeclaredWithHandler
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.values.enums import Locality
from zenlake.keyexpr import KeyExpr
from zenlake.session.liveliness import Watcher
from zenlake.session.subscribers import Subscription


@final
class Subscriber(DeclaredOnKey, DeclaredWithHandler[Sample, H]):
    """Receives every sample whose key intersects its own, published after its declaration."""

    __slots__ = ()
    _NAME: ClassVar[str] = "subscriber"
    _entity: Subscription | Watcher


def declare_subscriber(
    session: SessionHandle,
    key_expr: KeyExpr | str,
    handler: object,
    allowed_origin: Locality | None,
) -> Subscriber[Any]:
    key = key_text(key_expr)
    origin = locality(allowed_origin, "allowed_origin")
    binding = HandlerBinding(handler)
    with session.locked:
        entity = session.core.declare_subscriber(key, binding.sink, origin, time.monotonic())
    return Subscriber._make_with_handler(session, entity, binding)
