"""GroupOutbound: the queues of a multicast group.

They are those of a link, except that JOIN announces the next sequence numbers (wire reference §8).
"""

from __future__ import annotations

from zenlake.protocol.outbound import Outbound
from zenlake.wire import LaneSn


class GroupOutbound(Outbound):
    """The sending half of a group."""

    __slots__ = ()

    def next_numbers(self) -> tuple[LaneSn, ...]:
        """The next sequence numbers of every priority, or of the only lane."""
        return tuple(
            LaneSn(int(lane._reliable_sn), int(lane._best_effort_sn)) for lane in self._lanes
        )
