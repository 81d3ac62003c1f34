"""The base classes of declared objects, which can be undeclared once.

An object that is garbage collected undeclares itself, unless its handler is a callable: then it
stays declared until the session closes (behaviour reference §2.14).
"""

from __future__ import annotations

from typing import ClassVar, Self

from zenlake.api.arguments.known_keys import key_expr_of
from zenlake.api.final_classes import NoConstructor
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_owner import HandlerOwner
from zenlake.api.handlers.handler_types import H, T
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.unannotated import Unannotated
from zenlake.api.values.identifiers import EntityGlobalId
from zenlake.errors import ZError
from zenlake.keyexpr import KeyExpr
from zenlake.session.core import Entity
from zenlake.session.liveliness import Watcher
from zenlake.session.matching import MatchingSource
from zenlake.session.queryables import QueryableEntity
from zenlake.session.subscribers import Subscription


class Declared(NoConstructor):
    """The user's object of an entity."""

    __slots__ = ("__weakref__", "_entity", "_is_background", "_is_undeclared", "_session")
    _NAME: ClassVar[str] = ""
    _session: SessionHandle
    _entity: Entity
    _is_background: bool
    _is_undeclared: bool

    @classmethod
    def _make(cls, session: SessionHandle, entity: Entity, is_background: bool = False) -> Self:
        made = object.__new__(cls)
        made._session = session
        made._entity = entity
        made._is_background = is_background
        made._is_undeclared = False
        return made

    def _check(self) -> None:
        if self._is_undeclared:
            raise ZError(f"Undeclared {self._NAME}")

    def undeclare(self) -> Unannotated:
        """Undeclare the entity; a second call is an error."""
        self._check()
        self._is_undeclared = True
        self._session.undeclare(self._entity)

    def __enter__(self) -> Self:
        self._check()
        return self

    def __exit__(self, *_args: object, **_kwargs: object) -> None:
        if not self._is_undeclared:
            self.undeclare()

    def __del__(self) -> None:
        if not self._is_undeclared and not self._is_background:
            self._session.finish_later(self._entity)

    def __repr__(self) -> str:
        state = "undeclared" if self._is_undeclared else f"eid: {self._entity.eid}"
        return f"{type(self).__name__} {{ {state} }}"


class DeclaredOnKey(Declared):
    """An entity with an id and a key expression."""

    __slots__ = ()
    _entity: Subscription | QueryableEntity | MatchingSource | Watcher

    @property
    def id(self) -> EntityGlobalId:
        self._check()
        return EntityGlobalId.from_wire(self._session.core.zid, self._entity.eid)

    @property
    def key_expr(self) -> KeyExpr:
        self._check()
        return key_expr_of(self._entity.key)


class DeclaredWithHandler(Declared, HandlerOwner[T, H]):
    """An entity with a handler."""

    __slots__ = ("_handler",)

    @classmethod
    def _make_with_handler(
        cls, session: SessionHandle, entity: Entity, binding: HandlerBinding
    ) -> Self:
        made = cls._make(session, entity, binding.is_background)
        made._handler = binding.handler
        return made
