"""`Config`: the configuration of a session.

Users write it as JSON5 and read it as JSON, whole or by path (`transport/link/tx/lease`). The
node reads it with `get`, which returns Python values with defaults filled in and the value of
the node's mode selected.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any, ClassVar, Self, final

from zenlake.api.config.json5 import parse_json5
from zenlake.api.config.keys import BRANCHES, KEYS, NULL_BRANCHES
from zenlake.api.config.value_kinds import Mismatch
from zenlake.api.final_classes import no_subclasses
from zenlake.api.unannotated import Unannotated
from zenlake.errors import LocalError
from zenlake.secrets import is_secret, without_secrets
from zenlake.wire import WhatAmI


class ConfigError(LocalError):
    """An invalid configuration: unknown key, wrong type, unreadable file."""


@final
@no_subclasses
class Config:
    """Values by key; a key that is not set has its default."""

    __slots__ = ("_set",)
    DEFAULT_CONFIG_PATH_ENV: ClassVar[str] = "ZENOH_CONFIG"

    def __init__(self) -> None:
        # Only the keys that were set; a set value may equal its default.
        self._set: dict[str, Any] = {}

    @classmethod
    def from_env(cls) -> Self:
        """Read the file that the environment variable ZENOH_CONFIG names."""
        path = os.environ.get(cls.DEFAULT_CONFIG_PATH_ENV)
        if path is None:
            raise ConfigError(f"environment variable not found: {cls.DEFAULT_CONFIG_PATH_ENV}")
        return cls.from_file(path)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a file of JSON or JSON5; its name must end in `.json` or `.json5`."""
        suffix = Path(path).suffix.lower()
        if suffix in (".yaml", ".yml"):
            raise ConfigError(f"{path}: YAML is not supported, write the file as JSON5")
        if suffix not in (".json", ".json5"):
            raise ConfigError(f"{path}: configuration files end in .json or .json5")
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: {error}") from None
        try:
            return cls.from_json5(text)
        except LocalError as error:
            raise ConfigError(f"{path}: {error}") from None

    @classmethod
    def from_json5(cls, json: str) -> Self:
        """Parse an object in JSON5."""
        config = cls()
        config._set = _flattened("", parse_json5(_checked_text(json)))
        return config

    def get_json(self, key: str) -> str:
        """The value at `key`, or the object of all values below it, as JSON."""
        path = _normal(key)
        if not path:
            raise ConfigError("unknown key: the empty one")
        return _compact(self._value_at(path))

    def insert_json5(self, key: str, value: Any) -> Unannotated:
        """Set `key`; an object replaces all keys below it."""
        path = _normal(key)
        if not path:
            raise ConfigError("unknown key: the empty one")
        given = parse_json5(_checked_text(value))
        if path.startswith("plugins/"):
            self._set["plugins"] = self._with_plugin(path.split("/")[1:], given)
            return
        added = _flattened(path, given)
        self._set = {known: kept for known, kept in self._set.items() if not _is_below(known, path)}
        self._set.update(added)

    def get(self, path: str, mode: str | None = None) -> Any:
        """The value in force at `path` for a node in `mode` (the configured one if None)."""
        key = KEYS.get(path)
        if key is None:
            raise ConfigError(f"unknown key: {path}")
        if mode is None:
            mode = "peer" if path == "mode" else self.mode
        effective = _for_mode(key.effective, mode)
        value = key.kind.resolved(self._set.get(path, key.default), effective, mode)
        return copy.deepcopy(value) if isinstance(value, dict | list) else value

    def explicit(self) -> dict[str, Any]:
        """The values that were set, by path."""
        return {path: value for path, value in self._set.items() if value is not None}

    @property
    def mode(self) -> str:
        """router, peer or client."""
        return str(self.get("mode"))

    @property
    def role(self) -> WhatAmI:
        """The mode as messages carry it."""
        return WhatAmI[self.mode.upper()]

    def copy(self) -> Self:
        """An independent copy."""
        config = type(self)()
        config._set = copy.deepcopy(self._set)
        return config

    __copy__ = copy

    def __deepcopy__(self, _memo: object) -> Self:
        return self.copy()

    def __str__(self) -> str:
        """All values as JSON, with passwords and private keys hidden; `get_json` shows those."""
        return _compact(without_secrets(self._value_at("")), sort=True)

    def __repr__(self) -> str:
        return f"Config.from_json5({_compact(without_secrets(_nested(self._set)))!r})"

    def _value_at(self, path: str) -> Any:
        """A value, an object of values, or a part of a value, by its path."""
        if path in KEYS:
            return self._set.get(path, KEYS[path].default)
        if path in BRANCHES:
            return self._branch(path)
        parent, _, name = path.rpartition("/")
        whole = self._value_at(parent) if parent and parent not in BRANCHES else None
        if isinstance(whole, dict) and name in whole:
            return whole[name]
        raise ConfigError(f"unknown key: {path}")

    def _branch(self, path: str) -> dict[str, Any] | None:
        """The object of the keys below a path: those that are set or always shown."""
        if path in NULL_BRANCHES and not self._is_any_set(path):
            return None
        shown: dict[str, Any] = {}
        start = len(path) + 1 if path else 0
        for known, key in KEYS.items():
            if not _is_below(known, path):
                continue
            parent = known.rpartition("/")[0]
            if parent in NULL_BRANCHES and not self._is_any_set(parent):
                shown[parent[start:]] = None
            elif key.is_shown or parent in NULL_BRANCHES or known in self._set:
                shown[known[start:]] = self._set.get(known, key.default)
        return _nested(shown)

    def _is_any_set(self, path: str) -> bool:
        return any(_is_below(known, path) for known in self._set)

    def _with_plugin(self, names: list[str], value: Any) -> Any:
        plugins = copy.deepcopy(self._value_at("plugins"))
        place = plugins
        for name in names[:-1]:
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                raise ConfigError(f"plugins/{'/'.join(names)}: `{name}` is not an object")
        place[names[-1]] = value
        return plugins


def _flattened(path: str, value: Any) -> dict[str, Any]:
    """The keys below `path` that `value` sets, each with its checked value."""
    key = KEYS.get(path)
    if key is not None:
        if value is None and key.default is None:
            return {path: None}
        try:
            return {path: key.kind.check(value)}
        except Mismatch as mismatch:
            cause = f"expected {key.kind.name}" if is_secret(_last(path)) else mismatch
            raise ConfigError(f"{path}: {cause}") from None
    if path not in BRANCHES:
        raise ConfigError(f"unknown key: {path}")
    if value is None and path in NULL_BRANCHES:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{path or 'a configuration'}: expected an object")
    flat: dict[str, Any] = {}
    for name, member in value.items():
        flat.update(_flattened(f"{path}/{name}" if path else name, member))
    return flat


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, name = path.split("/")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = value
    return tree


def _for_mode(effective: Any, mode: str) -> Any:
    is_by_mode = isinstance(effective, dict) and mode in effective
    return effective[mode] if is_by_mode else effective


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _is_below(path: str, branch: str) -> bool:
    return not branch or path == branch or path.startswith(branch + "/")


def _normal(key: str) -> str:
    return "/".join(filter(None, _checked_text(key).split("/")))


def _checked_text(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"expected a str, not {type(text).__name__}")
    return text


def _compact(value: Any, sort: bool = False) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=sort, ensure_ascii=False)
