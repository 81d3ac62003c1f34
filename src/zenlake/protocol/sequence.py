"""Sequence numbers: where they start, and which one is new (wire reference §5.4, §6.5)."""

from __future__ import annotations

from hashlib import shake_128

from zenlake.wire import ZenohId


def initial_sn(own: ZenohId, peer: ZenohId, mask: int) -> int:
    """The first number of all our channels towards a peer; any other would do as well."""
    return int.from_bytes(shake_128(own.raw + peer.raw).digest(4), "little") & mask


def next_sn(sn: int, mask: int) -> int:
    return (sn + 1) & mask


def previous_sn(sn: int, mask: int) -> int:
    return (sn - 1) & mask


def is_newer(sn: int, last: int, mask: int) -> bool:
    """Whether a receiver takes `sn` after `last`: it lies in the half of the circle ahead."""
    gap = (sn - last) & mask
    return 0 < gap <= mask >> 1
