"""Lane: sequence numbers and fragments of one direction, priority and reliability of a link."""

from __future__ import annotations

from zenlake.recording.tracked_items import UNKNOWN
from zenlake.wire.sequence import is_newer, next_sn


class Lane:
    """One direction, priority and reliability: its last sequence number and open fragments."""

    __slots__ = (
        "after_message",
        "at_boundary",
        "fragments",
        "held_bytes",
        "is_used",
        "key",
        "last_sn",
        "next_fragment",
        "order",
        "payloads",
        "start_sn",
        "time_ns",
    )

    def __init__(self, key: int, last_sn: int) -> None:
        self.key = key
        """Priority and reliability in one number, as `trace.channel.channel_key` makes it."""
        self.last_sn = self.start_sn = last_sn
        self.is_used = False
        self.order = 0
        self.time_ns = 0
        self.after_message = False
        """Whether the last unit completed a message in fragments."""
        self.at_boundary = last_sn != UNKNOWN
        self.fragments: list[tuple[int, int, bytes]] = []
        """Order, time and bytes of the FRAGMENTs of an unfinished message."""
        self.payloads: list[bytes] = []
        self.held_bytes = 0
        self.next_fragment = UNKNOWN

    def accept(self, sn: int, mask: int) -> bool:
        """Whether a receiver accepts this sequence number."""
        if mask and sn & ~mask:
            return False
        last = self.last_sn
        if last != UNKNOWN and mask and not is_newer(sn, last, mask):
            return False
        if last != UNKNOWN and mask and sn != next_sn(last, mask):
            skips = self.after_message and sn == next_sn(next_sn(last, mask), mask)
            self.at_boundary = self.at_boundary and skips
        self.last_sn = sn
        self.after_message = False
        self.is_used = True
        return True
