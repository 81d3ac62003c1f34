"""ConfigValues: the values of a configuration, checked and converted to the types of settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from zenlake.errors import LocalError
from zenlake.limits import LIMITS
from zenlake.node.retry import Retry
from zenlake.wire import EndPoint, WhatAmI

Get = Callable[[str], object]

ROLES: Final = {str(role): role for role in WhatAmI}
_LIMITS: Final = {limit.key: limit.value for limit in LIMITS}


class ConfigValues:
    """Values of a configuration as this mode sees them."""

    def __init__(self, get: Get, role: WhatAmI) -> None:
        self.get = get
        self.role = role

    def value(self, path: str) -> object:
        found = self.get(path)
        if isinstance(found, Mapping) and found and ROLES.keys() >= found.keys():
            return found.get(str(self.role))
        return found

    def number(self, path: str, default: float) -> float:
        found = self.value(path)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise LocalError(f"{path} is a number, not {found!r}")
        return found

    def seconds(self, path: str, default_s: float) -> float:
        """The seconds of a value in milliseconds."""
        return self.number(path, default_s * 1000) / 1000

    def whole(self, path: str, default: int) -> int:
        return int(self.number(path, default))

    def optional_number(self, path: str) -> float | None:
        return None if self.value(path) is None else self.number(path, 0)

    def optional_whole(self, path: str) -> int | None:
        return None if self.value(path) is None else self.whole(path, 0)

    def texts(self, path: str) -> list[str]:
        found = self.value(path)
        return [str(text) for text in found] if isinstance(found, list) else []

    def limit(self, path: str) -> int:
        """The value of a limit in `limits.LIMITS`."""
        return self.whole(path, _LIMITS[path])

    def flag(self, path: str, default: bool) -> bool:
        found = self.value(path)
        if found is None:
            return default
        if not isinstance(found, bool):
            raise LocalError(f"{path} is true or false, not {found!r}")
        return found

    def text(self, path: str) -> str | None:
        found = self.value(path)
        return None if found is None else str(found)

    def endpoints(self, path: str) -> list[EndPoint] | None:
        found = self.value(path)
        if found is None:
            return None
        texts: list[str] = []
        for item in found if isinstance(found, list) else [found]:
            if isinstance(item, Mapping):  # {strategy: "allOf", locators: [...]}
                texts += [str(text) for text in item.get("locators", ())]
            else:
                texts.append(str(item))
        return [EndPoint.parse(text) for text in texts]

    def roles(self, path: str, default: int) -> int:
        found = self.value(path)
        if found is None:
            return default
        names = found.split("|") if isinstance(found, str) else found
        mask = 0
        for name in names if isinstance(names, list) else [names]:
            role = ROLES.get(str(name))
            if name and role is None:
                raise LocalError(f"{path}: there is no role {name!r}")
            mask |= role or 0
        return mask

    def mapping(self, path: str) -> Mapping[str, object]:
        found = self.value(path)
        return found if isinstance(found, Mapping) else {}

    def retry(self, path: str, default: Retry) -> Retry:
        return Retry(
            self.seconds(f"{path}/period_init_ms", default.first_s),
            self.seconds(f"{path}/period_max_ms", default.max_s),
            self.number(f"{path}/period_increase_factor", default.factor),
        )

    def patience(self, path: str, default_s: float | None) -> float | None:
        """Milliseconds; a negative number means for ever."""
        found = self.number(path, -1 if default_s is None else default_s * 1000)
        return None if found < 0 else found / 1000
