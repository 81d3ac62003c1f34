"""Settings that zenlake does not implement: `open` refuses them or warns of them.

A security setting without effect would leave a node unprotected that its owner believes
protected, so `open` refuses it. Of other settings it warns, by name. `Effect` in keys.py says
which key is which.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from zenlake.api.config.config import Config, ConfigError
from zenlake.api.config.keys import KEYS, REFUSED, WARNED
from zenlake.links.options import ENDPOINT_OPTIONS
from zenlake.wire import EndPoint

_log: Final = logging.getLogger("zenlake.config")


def check_effects(config: Config, warn: Callable[[str], object] = _log.warning) -> None:
    """Raise ConfigError for a security setting without effect, warn of the other ones."""
    values = config.explicit()
    ignored = [
        path
        for path, value in values.items()
        if _has_no_effect(path, value) and not _is_switched_off(path, values)
    ]
    for path in ignored:
        if KEYS[path].effect is REFUSED:
            raise ConfigError(
                f"{path}: zenlake does not implement this security setting, and does not open a "
                f"session without it: remove it, or use a node that implements it"
            )
    for path in ignored:
        if KEYS[path].effect is WARNED:
            warn(f"{path} is set, but zenlake does not implement it: it has no effect")
    for path in ("listen/endpoints", "connect/endpoints"):
        for endpoint in config.get(path):
            _check_endpoint(path, endpoint, warn)


def _has_no_effect(path: str, value: Any) -> bool:
    """Whether a node ignores this value.

    A security setting counts even if it equals the default: a user who writes
    `default_permission: "deny"` relies on it.
    """
    key = KEYS[path]
    if key.effect is REFUSED:
        return value is not None
    return value not in (key.default, key.effective)


def _is_switched_off(path: str, values: dict[str, Any]) -> bool:
    """Whether a section that the key belongs to is disabled by an explicit `enabled: false`."""
    parts = path.split("/")[:-1]
    switches = ("/".join((*parts[:count], "enabled")) for count in range(1, len(parts) + 1))
    return any(values.get(switch) is False for switch in switches)


def _check_endpoint(path: str, endpoint: Any, warn: Callable[[str], object]) -> None:
    """Warn of unknown options behind `#`: a misspelt one could be about security."""
    locators = endpoint["locators"] if isinstance(endpoint, dict) else [endpoint]
    for text in locators:
        parsed = EndPoint.parse(text)
        for name in parsed.config:
            if name not in ENDPOINT_OPTIONS:
                # The warning does not name the options' values, which may be secrets.
                warn(f"{path}: {parsed.locator}: there is no option `{name}`: it has no effect")
