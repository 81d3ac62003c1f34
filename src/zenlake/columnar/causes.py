"""Causes of decoding errors, as numbers that kernels can return.

A reader returns the next position, or a cause, which is negative. The texts are those of the
scalar decoder, without the values that it adds.
"""

from __future__ import annotations

from typing import Final

END: Final = -1
TOO_LARGE: Final = -2
OVERRUN: Final = -3
NOT_UTF8: Final = -4
ZERO: Final = -5
ID_SIZE: Final = -6
ID_ZERO: Final = -7
NO_BYTES: Final = -8
NO_SUCH_MESSAGE: Final = -9
WRONG_BODY: Final = -10
RESERVED: Final = -11
MANDATORY: Final = -12
TOO_MANY_EXTENSIONS: Final = -13
LATE_MARKER: Final = -14
EXTENSION_SIZE: Final = -15
TOO_MANY_ITEMS: Final = -16
ITEMS_OVERRUN: Final = -17
BAD_ROLE: Final = -18
BAD_TARGET: Final = -19
BAD_BOUND: Final = -20
BAD_DISTANCE: Final = -21
BAD_SLICE: Final = -22
BAD_LOCATOR: Final = -23

CAUSES: Final = (
    "",
    "the bytes end inside this field",
    "the number is more than this field can hold",
    "it claims more bytes than are left",
    "the text is not UTF-8",
    "0 is not allowed here",
    "an id has 1 to 16 bytes",
    "the id is zero",
    "there are no bytes",
    "there is no such message",
    "there is no such body",
    "the reserved encoding 0b11",
    "an unknown extension is mandatory",
    "too many extensions",
    "it must stand before the extension that it says lies in shared memory",
    "the extension has an impossible size",
    "more items than are accepted",
    "it claims more items than there are bytes left",
    "role 3 is reserved",
    "the query target does not exist",
    "the bound does not exist",
    "the distance does not fit 16 bits",
    "the slice kind does not exist",
    "not a canonical locator",
)
"""The texts of the causes: that of cause -n at index n."""
