"""`Subscriber`: samples on the keys it names."""

from __future__ import annotations

import time
from typing import Any, ClassVar, final

from zenlake.api.arguments.conversion import key_text, locality
from zenlake.api.arguments.known_keys import key_expr_of
from zenlake.api.handlers.handler_types import H
from zenlake.api.publication.sample import Sample
from zenlake.api.session.declared import Handled, UserEnd
from zenlake.api.session.session_handle import Shell
from zenlake.api.values.enums import Locality
from zenlake.api.values.identifiers import EntityGlobalId
from zenlake.keyexpr import KeyExpr
from zenlake.session.liveliness import Watcher
from zenlake.session.subscribers import Subscription


@final
class Subscriber(Handled[Sample, H]):
    """Receives every sample whose key intersects its own, from its declaration on."""

    __slots__ = ()
    _NAME: ClassVar[str] = "subscriber"
    _entity: Subscription | Watcher

    @property
    def id(self) -> EntityGlobalId:
        self._check()
        return EntityGlobalId.of_wire(self._shell.core.zid, self._entity.eid)

    @property
    def key_expr(self) -> KeyExpr:
        self._check()
        return key_expr_of(self._entity.key)


def declare_subscriber(
    shell: Shell, key_expr: KeyExpr | str, handler: object, allowed_origin: Locality | None
) -> Subscriber[Any]:
    key = key_text(key_expr)
    origin = locality(allowed_origin, "allowed_origin")
    user = UserEnd(handler)
    shell.begin()
    try:
        entity = shell.core.declare_subscriber(key, user.sink, origin, time.monotonic())
    finally:
        shell.end()
    return Subscriber._of_handler(shell, entity, user)
