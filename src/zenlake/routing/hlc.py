"""`Hlc`: a hybrid logical clock (behaviour reference §2.11).

Timestamps follow the wall clock, but never go back and are unique: the four
lowest bits of the NTP64 time count what happens within one tick of the clock.
"""

from __future__ import annotations

from typing import Final

from zenlake.wire.values.timestamp import Timestamp
from zenlake.wire.values.zenoh_id import ZenohId

_COUNTER_MASK: Final = 0x0F
_TIME_MAX: Final = 0xFFFF_FFFF_FFFF_FFFF
FUTURE_NTP64_MAX: Final = 500 * (1 << 32) // 1000
"""How far ahead of the wall clock a received timestamp may be: 500 ms."""


class Hlc:
    """Not safe for threads by itself: the caller holds the lock of the node."""

    __slots__ = ("last", "zid")

    def __init__(self, zid: ZenohId) -> None:
        self.zid = zid
        self.last = 0
        """The greatest time issued or received."""

    def new(self, wall_ntp64: int) -> Timestamp:
        """A timestamp greater than all before it."""
        return Timestamp(self.new_many(wall_ntp64, 1), self.zid)

    def new_many(self, wall_ntp64: int, count: int) -> int:
        """Issue `count` consecutive times, greater than all before; returns the first."""
        time = min(wall_ntp64, _TIME_MAX) & ~_COUNTER_MASK
        if time <= self.last:
            time = min(self.last + 1, _TIME_MAX)
        self.last = min(time + count - 1, _TIME_MAX)
        return time

    def update(self, time: int, wall_ntp64: int) -> bool:
        """Advance to a received time; False if it is too far in the future."""
        if time - wall_ntp64 > FUTURE_NTP64_MAX:
            return False
        wall = min(wall_ntp64, _TIME_MAX) & ~_COUNTER_MASK
        if wall > time and wall > self.last:
            self.last = wall
        else:
            self.last = min(max(time, self.last) + 1, _TIME_MAX)
        return True
