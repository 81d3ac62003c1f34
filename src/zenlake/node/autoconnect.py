"""`autoconnect_strategy`: which of two nodes that find each other connects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zenlake.errors import LocalError
from zenlake.wire import WhatAmI, ZenohId

ALL_ROLES: Final = int(WhatAmI.ROUTER | WhatAmI.PEER | WhatAmI.CLIENT)


def greater_zid_roles(strategy: object) -> int:
    """The roles for which a configured strategy is `greater-zid`: only the greater id connects."""
    if not isinstance(strategy, Mapping):
        return _roles_of(strategy)
    mask = 0
    for role in WhatAmI:
        mask |= _roles_of(strategy.get(f"to_{role}")) & role
    return mask


def _roles_of(word: object) -> int:
    if word not in (None, "always", "greater-zid"):
        raise LocalError(f"autoconnect_strategy is always or greater-zid, not {word!r}")
    return ALL_ROLES if word == "greater-zid" else 0


def may_connect(own: ZenohId, other: ZenohId, role: WhatAmI, greater_zid_roles: int) -> bool:
    """Whether the node `own` connects to `other`, or leaves that to it."""
    return not greater_zid_roles & role or other < own
