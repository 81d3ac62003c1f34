"""Events of transports and links, and the listeners that receive them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from zenlake.api.final_classes import NoConstructor
from zenlake.api.handlers.handler_binding import HandlerBinding
from zenlake.api.handlers.handler_owner import HandlerOwner
from zenlake.api.handlers.handler_types import H, T
from zenlake.api.network.transport import Link, Transport
from zenlake.api.session.session_handle import SessionHandle
from zenlake.api.unannotated import Unannotated
from zenlake.api.values.enums import SampleKind
from zenlake.errors import ZError

if TYPE_CHECKING:
    from zenlake.node.events import Listener
    from zenlake.node.info import LinkInfo, TransportInfo


class _Event(NoConstructor):
    """A transport or link was opened (PUT) or closed (DELETE)."""

    __slots__ = ("_is_new", "_what")
    _is_new: bool
    _what: Any

    @classmethod
    def _make(cls, is_new: bool, what: Any) -> Self:
        made = object.__new__(cls)
        made._is_new = is_new
        made._what = what
        return made

    @property
    def kind(self) -> SampleKind:
        return SampleKind.PUT if self._is_new else SampleKind.DELETE

    def __repr__(self) -> str:
        return f"{type(self).__name__} {{ kind: {self.kind}, {self._what!r} }}"


@final
class TransportEvent(_Event):
    """A transport was opened (PUT) or closed (DELETE)."""

    __slots__ = ()

    @property
    def transport(self) -> Transport:
        transport: Transport = self._what
        return transport


@final
class LinkEvent(_Event):
    """A link was added (PUT) or removed (DELETE)."""

    __slots__ = ()

    @property
    def link(self) -> Link:
        link: Link = self._what
        return link


class _EventsListener(HandlerOwner[T, H]):
    """Receives events of the node; no lock is held."""

    __slots__ = ("__weakref__", "_binding", "_handler", "_hook", "_session")
    _NAME: ClassVar[str] = ""
    _hook: Listener | None
    _session: SessionHandle
    _binding: HandlerBinding

    @classmethod
    def _declare(cls, session: SessionHandle, handler: object, history: bool | None) -> Self:
        session.check_open()
        made = object.__new__(cls)
        made._session = session
        made._binding = binding = HandlerBinding(handler)
        made._handler = binding.handler
        session.core.port.adopt(binding.sink)
        made._hook = hook = cls._hook_of(made)
        node = session.node
        if history:
            for transport, link in zip(node.transports(), node.links(), strict=False):
                hook(True, transport, link)
        node.events.add(hook)
        session.other_sinks.add(binding.sink)
        return made

    @classmethod
    def _hook_of(cls, listener: _EventsListener[T, H]) -> Listener:
        sink = listener._binding.sink
        events = listener._session.node.events
        # A listener with a callback stays declared; any other must not be kept alive by its hook.
        kept = listener if listener._binding.is_background else None
        weak = weakref.ref(listener)

        def hook(is_new: bool, transport: TransportInfo, link: LinkInfo) -> None:
            if kept is None and weak() is None:
                events.remove(hook)
                return
            sink.push(cls._event(is_new, transport, link))
            sink.after_unlock()

        return hook

    @staticmethod
    def _event(is_new: bool, transport: TransportInfo, link: LinkInfo) -> object:
        raise NotImplementedError

    def _check(self) -> None:
        if self._hook is None:
            raise ZError(f"Undeclared {self._NAME}")

    def undeclare(self) -> Unannotated:
        self._check()
        hook, self._hook = self._hook, None
        assert hook is not None
        self._session.node.events.remove(hook)
        self._session.other_sinks.discard(self._binding.sink)
        self._binding.sink.close()
        self._binding.sink.after_unlock()

    def __enter__(self) -> Self:
        self._check()
        return self

    def __exit__(self, *_args: object, **_kwargs: object) -> None:
        if self._hook is not None:
            self.undeclare()


@final
class TransportEventsListener(_EventsListener[TransportEvent, H]):
    """Receives an event for each transport that is opened or closed."""

    __slots__ = ()
    _NAME: ClassVar[str] = "transport events listener"

    @staticmethod
    def _event(is_new: bool, transport: TransportInfo, link: LinkInfo) -> object:
        return TransportEvent._make(is_new, Transport.from_info(transport))


@final
class LinkEventsListener(_EventsListener[LinkEvent, H]):
    """Receives an event for each link that is opened or closed."""

    __slots__ = ()
    _NAME: ClassVar[str] = "link events listener"

    @staticmethod
    def _event(is_new: bool, transport: TransportInfo, link: LinkInfo) -> object:
        return LinkEvent._make(is_new, Link.from_info(link))
