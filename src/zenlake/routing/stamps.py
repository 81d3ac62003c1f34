"""Timestamp stacks: records of when a message passed a point of its path (wire reference §2.4).

A message carries a stack only if its sender asked for one. Every node that sends, routes or
receives the message then appends a record per point that the stack asks for. A node routes
each message it handles, also those of its own session (tests/interop/test_stamps.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zenlake.limits import TIMESTAMPS_PER_STACK_MAX
from zenlake.routing.hlc import Hlc
from zenlake.wire import StampRecord, TimestampStack
from zenlake.wire.values.timestamp import ntp64_of_ns, write_timestamp
from zenlake.wire.values.whatami import WhatAmI
from zenlake.wire.values.zenoh_id import ZenohId
from zenlake.wire.writer import BytesWriter

SEND: Final = 1
ROUTE: Final = 2
RECEIVE: Final = 4
CUSTOM: Final = 0x80
"""Flag of a record whose bytes the user's callback made; others hold a `Timestamp`."""

CustomTime = Callable[[ZenohId, WhatAmI], bytes]


class Stamper:
    """Appends this node's records. Used under the node's lock."""

    __slots__ = ("_custom_time", "_hlc", "_role", "_wall_ns", "_zid")

    def __init__(
        self,
        zid: ZenohId,
        role: WhatAmI,
        hlc: Hlc | None,
        wall_ns: Callable[[], int] | None,
        custom_time: CustomTime | None,
    ) -> None:
        self._zid = zid
        self._role = role
        # The clock keeps records of one node in order even if the node does not timestamp samples.
        self._hlc = Hlc(zid) if hlc is None else hlc
        self._wall_ns = wall_ns
        self._custom_time = custom_time

    def stamp(self, stack: TimestampStack, point: int) -> TimestampStack:
        """The stack with a record of this point, if it asks for one and has room."""
        if not stack.points & point or len(stack.records) >= TIMESTAMPS_PER_STACK_MAX:
            return stack
        if self._custom_time is not None:
            time = self._custom_time(self._zid, self._role)
            if not time:  # the callback failed
                return stack
            point |= CUSTOM
        elif self._wall_ns is not None:
            out = BytesWriter()
            write_timestamp(out, self._hlc.new(ntp64_of_ns(self._wall_ns())))
            time = out.getvalue()
        else:
            return stack
        stamped = stack.copy()
        stamped.records = (*stack.records, StampRecord(point, time))
        return stamped
