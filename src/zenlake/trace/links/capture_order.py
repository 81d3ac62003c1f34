"""The items of both directions of a connection in the order of the capture."""

from __future__ import annotations

from heapq import merge

from zenlake.trace.events import Missing, Undecoded
from zenlake.trace.link import LinkBatch

Found = LinkBatch | Missing | Undecoded


def in_capture_order(items: list[Found]) -> list[Found]:
    """Merges both directions by packet, and keeps the order within each.

    The item of a gap has the packet that revealed the gap; it precedes the items after the gap.
    """
    both: list[list[tuple[int, int, Found]]] = [[], []]
    for number in range(len(items) - 1, -1, -1):
        item = items[number]
        side = both[item.direction]
        packet = min(item.packet, side[-1][0]) if side else item.packet
        side.append((packet, number, item))
    for side in both:
        side.reverse()
    return [item for _, _, item in merge(*both)]
