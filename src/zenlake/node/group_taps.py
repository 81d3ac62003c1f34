"""GroupTaps: for recordings, the datagrams of a multicast group by their sender."""

from __future__ import annotations

from collections import OrderedDict

from zenlake.limits import RECORDING_DATAGRAM_LINKS_MAX
from zenlake.links.addresses import Address
from zenlake.node.tap import Tap
from zenlake.protocol.tap import LinkTap


class GroupTaps:
    """The taps of one group (`protocol.tap.GroupTap`).

    Datagrams do not show that a sender is gone. So beyond the limit, the sender that was silent for
    longest is forgotten; if it sends again, it is a new one.
    """

    def __init__(self, tap: Tap, own: Address, group: str) -> None:
        self._tap = tap
        self._group = group
        self._senders: OrderedDict[str, LinkTap] = OrderedDict()
        self._own = tap.open_group(locator_of(own), group)

    def sender(self, source: str) -> LinkTap:
        known = self._senders.get(source)
        if known is not None:
            self._senders.move_to_end(source)
            return known
        made = self._senders[source] = self._tap.open_group(f"udp/{source}", self._group)
        if len(self._senders) > RECORDING_DATAGRAM_LINKS_MAX:
            self._senders.popitem(last=False)[1].close()
        return made

    def sent(self, datagram: bytes, is_plain: bool) -> None:
        """Record a datagram of this node to the group."""
        self._own.received(datagram, is_plain)

    def close(self) -> None:
        for one in (self._own, *self._senders.values()):
            one.close()


def locator_of(address: Address) -> str:
    return f"udp/{address[0]}:{address[1]}"
