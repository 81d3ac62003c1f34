"""`WhatAmIMatcher`: a set of roles to scout for."""

from __future__ import annotations

from typing import Final, Self, final

from zenlake import wire
from zenlake.api.final_classes import no_subclasses
from zenlake.api.values.enums import WhatAmI
from zenlake.errors import LocalError

_BITS: Final = {"router": 1, "peer": 2, "client": 4}


@final
@no_subclasses
class WhatAmIMatcher:
    """Written `router|peer`. Immutable: `router()` and the like return a new matcher."""

    __slots__ = ("_mask",)

    def __init__(self, matcher: str | None = None) -> None:
        if matcher is not None and not isinstance(matcher, str):
            raise TypeError(f"a matcher is a str, not {type(matcher).__name__}")
        self._mask = 0
        for name in (matcher or "").split("|"):
            if name.strip() not in ("", *_BITS):
                raise LocalError(f"invalid WhatAmI matcher: {matcher!r}")
            self._mask |= _BITS.get(name.strip(), 0)

    @classmethod
    def empty(cls) -> Self:
        return cls()

    def router(self) -> Self:
        return self._with(1)

    def peer(self) -> Self:
        return self._with(2)

    def client(self) -> Self:
        return self._with(4)

    def _with(self, bit: int) -> Self:
        matcher = type(self)()
        matcher._mask = self._mask | bit
        return matcher

    def is_empty(self) -> bool:
        return self._mask == 0

    def matches(self, whatami: WhatAmI) -> bool:
        """Whether the role belongs to the set; it may be a text."""
        if isinstance(whatami, str) and whatami in _BITS:
            return self._mask & _BITS[whatami] != 0
        if not isinstance(whatami, WhatAmI):
            raise TypeError(f"a role is a WhatAmI, not {whatami!r}")
        return self._mask & int(whatami) != 0

    __contains__ = matches

    @property
    def wire(self) -> wire.WhatAmIMatcher:
        """The set of roles as SCOUT carries it."""
        return wire.WhatAmIMatcher(self._mask)

    def __str__(self) -> str:
        return "|".join(name for name, bit in _BITS.items() if self._mask & bit)

    def __repr__(self) -> str:
        return f"WhatAmIMatcher({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WhatAmIMatcher) and self._mask == other._mask

    def __hash__(self) -> int:
        return self._mask


def into_matcher(value: WhatAmIMatcher | str) -> WhatAmIMatcher:
    """Convert an argument named `what`."""
    return value if isinstance(value, WhatAmIMatcher) else WhatAmIMatcher(value)
