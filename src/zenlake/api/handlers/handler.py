"""`Handler`: the reading end of a channel, which users hold."""

from __future__ import annotations

from typing import Generic, TypeVar, cast, final

from zenlake.api.final_classes import no_constructor, no_subclasses
from zenlake.api.handlers.channels import Channel

T = TypeVar("T")


@final
class Handler(Generic[T]):
    """The reading end of a channel. After it is garbage collected, items are dropped."""

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel | None = None) -> None:
        """Called by zenlake alone. A channel has one reading end only."""
        if channel is None:
            no_constructor(Handler)
        self._channel = channel

    def try_recv(self) -> T | None:
        """The next item, None if the channel is empty; `ZError` at the end of the stream."""
        return cast("T | None", self._channel.try_recv())

    def recv(self) -> T:
        """The next item; waits for one. `ZError` at the end of the stream."""
        return cast(T, self._channel.recv())

    def __iter__(self) -> Handler[T]:
        return self

    def __next__(self) -> T:
        item = self._channel.next_item()
        if item is None:
            raise StopIteration
        return cast(T, item)

    def __del__(self) -> None:
        channel = getattr(self, "_channel", None)  # None if the constructor raised
        if channel is not None:
            channel.abandon()


no_subclasses(Handler)
