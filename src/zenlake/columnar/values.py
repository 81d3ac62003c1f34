"""From the number on the wire to the number in a column, by the names that layouts use.

A negative result is a cause. Numbers of 64 bits may be negative themselves (see `leaves`).
"""

from __future__ import annotations

from zenlake.columnar.causes import BAD_BOUND, BAD_DISTANCE, BAD_ROLE, BAD_TARGET
from zenlake.columnar.jit import kernel


@kernel
def qos_of_byte(number: int) -> int:
    return number & 0x3F


@kernel
def priority_of_byte(number: int) -> int:
    return number & 7


@kernel
def resolution_of_byte(number: int) -> int:
    return number & 0x0F


@kernel
def role_of_code(number: int) -> int:
    """The two-bit form; the column has the role's bit in a set, as `WhatAmI` does."""
    return BAD_ROLE if number > 2 else 1 << number


@kernel
def matcher_of_mask(number: int) -> int:
    return number


@kernel
def mode_of_number(number: int) -> int:
    return number


@kernel
def target_of_number(number: int) -> int:
    return BAD_TARGET if number < 0 or number > 2 else number


@kernel
def bound_of_number(number: int) -> int:
    return BAD_BOUND if number < 0 or number > 1 else number


@kernel
def consolidation_of_number(number: int) -> int:
    """Deployed nodes read unknown modes as AUTO."""
    return 0 if number < 0 or number > 3 else number


@kernel
def queryable_info_of_number(number: int) -> int:
    """Bit 0 complete, the distance from bit 8 on; other flags are dropped."""
    distance = number >> 8
    return BAD_DISTANCE if distance < 0 or distance > 0xFFFF else distance << 8 | number & 1
