"""`Queryable`: answers queries on the keys it names."""

from __future__ import annotations

import time
from typing import Any, ClassVar, final

from zenlake.api.arguments.conversion import flag_of, key_text, locality
from zenlake.api.arguments.known_keys import key_expr_of
from zenlake.api.handlers.handler_types import H
from zenlake.api.query.query import Query
from zenlake.api.session.declared import Handled, UserEnd
from zenlake.api.session.session_handle import Shell
from zenlake.api.values.enums import Locality
from zenlake.api.values.identifiers import EntityGlobalId
from zenlake.keyexpr import KeyExpr
from zenlake.session.queryables import QueryableEntity


@final
class Queryable(Handled[Query, H]):
    """Receives every query whose key intersects its own; each wants replies and `drop`."""

    __slots__ = ()
    _NAME: ClassVar[str] = "queryable"
    _entity: QueryableEntity

    @property
    def id(self) -> EntityGlobalId:
        self._check()
        return EntityGlobalId.of_wire(self._shell.core.zid, self._entity.eid)

    @property
    def key_expr(self) -> KeyExpr:
        self._check()
        return key_expr_of(self._entity.key)


def declare_queryable(
    shell: Shell,
    key_expr: KeyExpr | str,
    handler: object,
    complete: bool | None,
    allowed_origin: Locality | None,
) -> Queryable[Any]:
    key = key_text(key_expr)
    origin = locality(allowed_origin, "allowed_origin")
    promise = bool(flag_of(complete, "complete"))
    user = UserEnd(handler)
    shell.begin()
    try:
        entity = shell.core.declare_queryable(key, user.sink, promise, origin, time.monotonic())
    finally:
        shell.end()
    return Queryable._of_handler(shell, entity, user)
