"""`HandlerOwner`: the methods by which users read the handler of a declared object."""

from __future__ import annotations

from typing import Generic

from zenlake.api.final_classes import NoConstructor
from zenlake.api.handlers.handler import Handler
from zenlake.api.handlers.handler_types import H, T


class HandlerOwner(NoConstructor, Generic[T, H]):
    """Has the methods of `Handler` if its handler is one."""

    __slots__ = ()
    _handler: H

    def _check(self) -> None:
        """Raise `ZError` if the object is undeclared."""
        raise NotImplementedError

    @property
    def handler(self) -> H:
        self._check()
        return self._handler

    def try_recv(self: HandlerOwner[T, Handler[T]]) -> T | None:
        """The next item, None if the channel is empty."""
        self._check()
        return self._handler.try_recv()

    def recv(self: HandlerOwner[T, Handler[T]]) -> T:
        """The next item; waits for one."""
        self._check()
        return self._handler.recv()

    def __iter__(self: HandlerOwner[T, Handler[T]]) -> Handler[T]:
        self._check()
        return iter(self._handler)
