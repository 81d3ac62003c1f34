"""`Queryable`: receives the queries of a key expression."""

from __future__ import annotations

import time
from typing import Any, ClassVar, final

from zenlake.api.arguments.conversion import flag_of, key_text, locality
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_types import H
from zenlake.api.query.query import Query
from zenlake.api.session.declared import DeclaredOnKey, DeclaredWithHandler
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.values.enums import Locality
from zenlake.keyexpr import KeyExpr
from zenlake.session.queryables import QueryableEntity


@final
class Queryable(DeclaredOnKey, DeclaredWithHandler[Query, H]):
    """Receives every query whose key intersects its own; each must be dropped."""

    __slots__ = ()
    _NAME: ClassVar[str] = "queryable"
    _entity: QueryableEntity


def declare_queryable(
    session: SessionHandle,
    key_expr: KeyExpr | str,
    handler: object,
    complete: bool | None,
    allowed_origin: Locality | None,
) -> Queryable[Any]:
    key = key_text(key_expr)
    origin = locality(allowed_origin, "allowed_origin")
    promise = bool(flag_of(complete, "complete"))
    binding = HandlerBinding(handler)
    with session.locked:
        entity = session.core.declare_queryable(
            key, binding.sink, promise, origin, time.monotonic()
        )
    return Queryable._make_with_handler(session, entity, binding)
