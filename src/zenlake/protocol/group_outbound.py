"""GroupOutbound: what waits to be sent to a multicast group.

As on a link, except that JOIN tells which sequence numbers come next (wire reference §8).
"""

from __future__ import annotations

from zenlake.protocol.outbound import Outbound
from zenlake.wire import LaneSn


class GroupOutbound(Outbound):
    """The sending half of a group."""

    __slots__ = ()

    def next_numbers(self) -> tuple[LaneSn, ...]:
        """Of every priority, or of the one lane there is."""
        return tuple(
            LaneSn(int(lane._reliable_sn), int(lane._best_effort_sn)) for lane in self._lanes
        )
