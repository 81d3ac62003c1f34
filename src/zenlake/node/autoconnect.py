"""`autoconnect_strategy`: which of two nodes that find each other connects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zenlake.errors import LocalError
from zenlake.wire import WhatAmI, ZenohId

ALL_ROLES: Final = int(WhatAmI.ROUTER | WhatAmI.PEER | WhatAmI.CLIENT)


class AutoconnectStrategy:
    """`autoconnect_strategy`: whether the node with the smaller id leaves connecting to others."""

    __slots__ = ("greater_zid_only",)

    def __init__(self, greater_zid_only: int = 0) -> None:
        self.greater_zid_only = greater_zid_only  # the roles for which it is `greater-zid`

    def allows(self, own: ZenohId, other: ZenohId, role: WhatAmI) -> bool:
        return not self.greater_zid_only & role or other < own

    @staticmethod
    def of(value: object) -> AutoconnectStrategy:
        if value is None:
            return AutoconnectStrategy()
        if isinstance(value, Mapping):
            mask = 0
            for role in WhatAmI:
                mask |= _strategy_mask(value.get(f"to_{role}")) & role
            return AutoconnectStrategy(mask)
        return AutoconnectStrategy(_strategy_mask(value))


def _strategy_mask(word: object) -> int:
    if word not in (None, "always", "greater-zid"):
        raise LocalError(f"autoconnect_strategy is always or greater-zid, not {word!r}")
    return ALL_ROLES if word == "greater-zid" else 0
