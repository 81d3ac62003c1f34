"""Sequence numbers: arithmetic on a circle of `mask + 1` numbers (wire reference §5.4, §6.5)."""

from __future__ import annotations

from hashlib import shake_128
from typing import TYPE_CHECKING, Final

from zenlake.wire.values.zenoh_id import ZenohId

if TYPE_CHECKING:
    from mypy_extensions import i64

SN_MASKS: Final = (0x7F, 0x3FFF, 0x0FFF_FFFF, 0xFFFF_FFFF)
"""The largest number of each resolution: of 8, 16, 32 and 64 bits.

They are smaller than the bits suggest, so that a number has 1, 2, 4 or 5 bytes.
"""


def initial_sn(own: ZenohId, peer: ZenohId, mask: int) -> int:
    """The first sequence number of all channels to a peer; any other would be valid too."""
    return int.from_bytes(shake_128(own.raw + peer.raw).digest(4), "little") & mask


def next_sn(sn: i64, mask: i64) -> i64:
    return (sn + 1) & mask


def previous_sn(sn: i64, mask: i64) -> i64:
    return (sn - 1) & mask


def advance_sn(sn: i64, count: i64, mask: i64) -> i64:
    """The number `count` steps after `sn`."""
    return (sn + count) & mask


def sn_distance(last: i64, sn: i64, mask: i64) -> i64:
    """How many steps lead from `last` forward to `sn`."""
    return (sn - last) & mask


def is_ahead(distance: i64, mask: i64) -> bool:
    """Whether a distance ends in the half of the circle that is ahead."""
    return 0 < distance <= mask >> 1


def is_newer(sn: i64, last: i64, mask: i64) -> bool:
    """Whether a receiver accepts `sn` after `last`."""
    return 0 < (sn - last) & mask <= mask >> 1
