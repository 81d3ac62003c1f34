"""The `handler` argument of an operation: its types, and the sink that is made of it.

`make_sink` turns the argument (None, a channel, a callable, a `Callback`, or a pair of a callable
and an object) into a sink and the object that `.handler` returns. `IntoChannel`, `IntoPair` and
`IntoCallback` are the types of the argument; overloads select the type of `.handler`: a `Handler`,
the object of the pair, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar, final

from zenlake.api.final_classes import no_subclasses
from zenlake.api.handlers.callbacks import DirectSink, IndirectSink
from zenlake.api.handlers.channels import Channel, RingChannelSink, fifo_channel
from zenlake.api.handlers.handler import Handler
from zenlake.limits import HANDLER_ITEMS_MAX
from zenlake.session.sink import Sink

T = TypeVar("T")
H = TypeVar("H")


@final
@no_subclasses
class DefaultHandler(Generic[T]):
    """The default handler, a FIFO of 256 items, which `handler=None` selects."""

    __slots__ = ()


@final
@no_subclasses
class FifoChannel(Generic[T]):
    """A bounded FIFO. While it is full, the link that fills it is not read: no item is lost."""

    __slots__ = ("_capacity",)

    def __init__(self, capacity: int) -> None:
        self._capacity = _checked_capacity(capacity)


@final
@no_subclasses
class RingChannel(Generic[T]):
    """A buffer of the newest items: when it is full, the oldest item is dropped."""

    __slots__ = ("_capacity",)

    def __init__(self, capacity: int) -> None:
        self._capacity = _checked_capacity(capacity)


@final
@no_subclasses
class Callback(Generic[T]):
    """A function to call for each item, and one to call after the last."""

    __slots__ = ("_callback", "_drop", "_indirect")

    def __init__(
        self,
        callback: Callable[[T], Any],
        drop: Callable[[], Any] | None = None,
        *,
        indirect: bool = True,
    ) -> None:
        self._callback = callback
        self._drop = drop
        self._indirect = indirect

    def __call__(self, arg: T, /) -> Any:
        return self._callback(arg)

    @property
    def callback(self) -> Callable[[T], Any]:
        return self._callback

    @property
    def drop(self) -> Callable[[], Any] | None:
        return self._drop

    @property
    def indirect(self) -> bool:
        """Whether it runs on a thread of its own, or on the thread that received the item."""
        return self._indirect

    def __repr__(self) -> str:
        return f"Callback({self._callback!r}, {self._drop!r}, indirect={self._indirect})"


IntoChannel: TypeAlias = DefaultHandler[T] | FifoChannel[T] | RingChannel[T] | None
IntoCallback: TypeAlias = Callable[[T], Any]
IntoPair: TypeAlias = tuple[Callable[[T], Any], H]


def make_sink(handler: object) -> tuple[Sink, Any]:
    """The sink that the session fills, and the object that `.handler` returns."""
    if handler is None or isinstance(handler, DefaultHandler):
        return _channel(fifo_channel(HANDLER_ITEMS_MAX))
    if isinstance(handler, FifoChannel):
        return _channel(fifo_channel(handler._capacity))
    if isinstance(handler, RingChannel):
        return _channel(RingChannelSink(handler._capacity))
    if isinstance(handler, tuple) and len(handler) == 2 and callable(handler[0]):
        return _callback_sink(handler[0]), handler[1]
    if callable(handler):
        return _callback_sink(handler), None
    raise ValueError(f"Invalid handler type {type(handler).__name__}")


def is_background(handler: object) -> bool:
    """Whether an entity with this handler stays declared when its Python object is collected."""
    channels = (DefaultHandler, FifoChannel, RingChannel)
    return callable(handler) and not isinstance(handler, channels)


def _channel(channel: Channel) -> tuple[Sink, Handler[Any]]:
    return channel, Handler(channel)


def _callback_sink(callback: Callable[[Any], Any]) -> Sink:
    if not isinstance(callback, Callback):
        return IndirectSink(callback, None)
    kind = IndirectSink if callback.indirect else DirectSink
    return kind(callback.callback, callback.drop)


def _checked_capacity(capacity: int) -> int:
    if not isinstance(capacity, int):
        raise TypeError(f"argument 'capacity': expected an int, not {type(capacity).__name__}")
    if not 0 <= capacity < 1 << 64:
        raise OverflowError(f"argument 'capacity': expected 0 to 2**64 - 1, not {capacity}")
    return capacity
