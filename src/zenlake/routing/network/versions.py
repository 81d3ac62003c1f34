"""Versions of link states (`sn`). Their upper bits are the *life* of a node: when it started.

So the versions of a restarted node are greater than before, although it counts changes anew.
"""

from __future__ import annotations

from typing import Final

from zenlake.routing.settings import RoutingSettings

SN_MAX: Final = 1 << 63
"""Larger versions are ignored: no node counts that far, and none could exceed them."""

_LIFE_BITS: Final = 20
"""The lower bits of a version count changes, the others are the same in one life of a node. All
deployed nodes have the life 0."""


def life_of(sn: int) -> int:
    return sn >> _LIFE_BITS


def first_sn(settings: RoutingSettings) -> int:
    """Greater than in any earlier life, unless the clock was set back."""
    if settings.wall_ns is None:
        return 1
    life = settings.wall_ns() // 1_000_000 & (SN_MAX >> _LIFE_BITS + 1) - 1
    return (life << _LIFE_BITS) + 1


def sn_of_next_life(sn: int) -> int:
    """A version that exceeds all versions of the life of `sn`."""
    return life_of(sn) + 1 << _LIFE_BITS
