"""A failure packed into one number: the offset, the row of a message, and the cause."""

from __future__ import annotations

from typing import Final, NamedTuple

_CAUSE_BITS: Final = 6
_PLACE_BITS: Final = 14


class Failure(NamedTuple):
    """The error that ended the decoding of a unit, as in `WireError`."""

    offset: int
    """From the start of the unit."""
    place: int
    """An index into `PLACES`: the message and its row."""
    cause: int
    """An index into `CAUSES`."""


def failed(at: str, place: int, cause: str) -> str:
    """The expression that kernels return: negative, unlike a position.

    It is not a kernel function, because Numba would compile it again for each place.
    """
    return f"{cause} - ({at} << {_CAUSE_BITS + _PLACE_BITS} | {place << _CAUSE_BITS})"


def failure_of(number: int, start: int) -> Failure:
    """The failure that `failed` packed, for a unit that begins at `start`."""
    number = -number
    cause = number & (1 << _CAUSE_BITS) - 1
    place = number >> _CAUSE_BITS & (1 << _PLACE_BITS) - 1
    return Failure((number >> _CAUSE_BITS + _PLACE_BITS) - start, place, cause)
