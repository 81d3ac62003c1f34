"""Items: the messages of a link that later ones depend on, and the memory for them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from zenlake.limits import RECORDING_TRACKED_BYTES_MAX

UNKNOWN: Final = -1

ITEM_BYTES: Final = 64
"""The memory of an item without its message."""

Identity = tuple[object, ...]


class Item:
    """A message that later ones depend on. Items are compared by identity."""

    __slots__ = ("alias", "batch", "data", "interest", "is_live", "key", "lane", "order", "time_ns")

    def __init__(
        self,
        order: int,
        batch: int,
        time_ns: int,
        lane: int,
        data: bytes,
        key: str | None,
        alias: Item | None,
    ) -> None:
        self.order = order
        self.batch = batch
        """The order of the batch, which all its messages share."""
        self.time_ns = time_ns
        self.lane = lane
        self.data = data
        self.key = key
        """The whole key; None if it is not known."""
        self.alias = alias
        """The alias that the message uses."""
        self.is_live = True
        self.interest = UNKNOWN
        """The interest that a declaration answers."""


class Budget:
    """The memory limit of all links. Beyond it, the oldest requests are forgotten."""

    __slots__ = ("bytes", "bytes_max", "forgotten", "has_topologies", "requests")

    def __init__(self, bytes_max: int = RECORDING_TRACKED_BYTES_MAX) -> None:
        self.bytes = 0
        self.bytes_max = bytes_max
        self.requests: OrderedDict[Item, tuple[dict[Identity, Item], Identity]] = OrderedDict()
        """Open requests, the oldest first: the items they are part of, and their identity there."""
        self.forgotten = 0
        """How many items and unfinished messages were left out of the state."""
        self.has_topologies = False
        """Whether any link has carried link states."""

    def has_room(self, size: int) -> bool:
        """Whether `size` more bytes may be kept; forgets old requests if necessary."""
        while self.bytes + size > self.bytes_max and self.requests:
            oldest, (items, identity) = self.requests.popitem(last=False)
            del items[identity]
            self.bytes -= len(oldest.data) + ITEM_BYTES
            self.forgotten += 1
        if self.bytes + size > self.bytes_max:
            self.forgotten += 1
            return False
        return True
