"""WhatAmI: the role of a node, in its three forms (wire reference §1.5).

A set of roles is a bit mask (1 router, 2 peer, 4 client): SCOUT asks for such a set, a link
state names one role that way. INIT, JOIN and HELLO use two bits instead: 0, 1, 2.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from zenlake.errors import LocalError
from zenlake.wire.primitives import Malformed


class WhatAmI(IntEnum):
    """The role of one node; the value is its bit in a set of roles."""

    ROUTER = 1
    PEER = 2
    CLIENT = 4

    def __str__(self) -> str:
        return self.name.lower()


class WhatAmIMatcher:
    """A set of roles, as SCOUT asks for; may be empty."""

    __slots__ = ("mask",)

    def __init__(self, mask: int) -> None:
        if not 0 <= mask <= 7:
            raise LocalError(f"a set of roles is a mask from 0 to 7, not {mask}")
        self.mask = mask

    def matches(self, role: WhatAmI) -> bool:
        return self.mask & role != 0

    def __str__(self) -> str:
        return "|".join(str(role) for role in WhatAmI if self.matches(role))

    def __repr__(self) -> str:
        return f"WhatAmIMatcher({self.mask})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WhatAmIMatcher) and self.mask == other.mask

    def __hash__(self) -> int:
        return self.mask


_BY_CODE: Final = [WhatAmI.ROUTER, WhatAmI.PEER, WhatAmI.CLIENT]
_BY_MASK: Final = {int(role): role for role in WhatAmI}
_MATCHERS: Final = [WhatAmIMatcher(mask) for mask in range(8)]


def role_of_code(code: int) -> WhatAmI:
    """The two-bit form."""
    if code > 2:
        raise Malformed("role 3 is reserved")
    return _BY_CODE[code]


def code_of_role(role: WhatAmI) -> int:
    return int(role) >> 1


def role_of_mask(mask: int) -> WhatAmI:
    """The one-role mask of a link state."""
    role = _BY_MASK.get(mask)
    if role is None:
        raise Malformed(f"{mask} is not one role (1 router, 2 peer, 4 client)")
    return role


def matcher_of_mask(mask: int) -> WhatAmIMatcher:
    return _MATCHERS[mask]


def mask_of_matcher(matcher: WhatAmIMatcher) -> int:
    return matcher.mask
