"""The types of configuration values: one `Kind` each, with a readable name.

A kind checks a value parsed from JSON5 and returns it as it is stored, or raises `Mismatch` with
the type that was expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from zenlake.errors import LocalError
from zenlake.keyexpr import KeyExpr
from zenlake.secrets import without_secrets
from zenlake.wire import EndPoint, ZenohId

MODES: Final = ("router", "peer", "client")
_ADDRESS: Final = re.compile(r"(?:\[[^\]]+\]|[^:\[\]]+):(\d{1,5})", re.ASCII)


class Mismatch(Exception):
    """A value is not of the kind; the message names the kind that was expected."""


class Kind:
    """A type of values: its name, its check, and whether a value may be one per mode."""

    __slots__ = ("check", "depends_on_mode", "name")

    def __init__(self, name: str, check: Callable[[Any], Any]) -> None:
        self.name = name
        self.check = check
        self.depends_on_mode = False

    def resolved(self, value: Any, default: Any, mode: str) -> Any:
        """`value` for a node in `mode`, or `default` where it is absent."""
        if self.depends_on_mode and isinstance(value, dict) and set(value) <= set(MODES):
            value = value.get(mode)
        return default if value is None else value

    def fail(self, value: Any) -> Mismatch:
        shown = repr(without_secrets(value))
        return Mismatch(f"expected {self.name}, not {shown if len(shown) < 80 else '...'}")


def _instance(name: str, wanted: type) -> Kind:
    def check(value: Any) -> Any:
        if type(value) is not wanted:
            raise kind.fail(value)
        return value

    kind = Kind(name, check)
    return kind


def _parsed(name: str, parse: Callable[[str], Any]) -> Kind:
    """A string that `parse` accepts; it is kept as written."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise kind.fail(value)
        try:
            parse(value)
        except LocalError as error:
            raise Mismatch(f"expected {name}: {error}") from None
        return value

    kind = Kind(name, check)
    return kind


def whole(minimum: int = 0, maximum: int = (1 << 64) - 1) -> Kind:
    """A whole number; `1e3` is one too."""

    def check(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not int or not minimum <= value <= maximum:
            raise kind.fail(value)
        return value

    kind = Kind(f"a whole number from {minimum} to {maximum}", check)
    return kind


def constant(fixed: int) -> Kind:
    """A number that is built in: it may be set to that number only."""

    def check(value: Any) -> int:
        if type(value) is not int or value != fixed:
            raise Mismatch(f"is {fixed} and cannot be changed: it is built in")
        return value

    return Kind(f"always {fixed}", check)


def choice(*names: str) -> Kind:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise kind.fail(value)
        return value

    kind = Kind("one of " + ", ".join(names), check)
    return kind


def list_of(item: Kind, minimum: int = 0) -> Kind:
    def check(value: Any) -> list[Any]:
        if not isinstance(value, list) or len(value) < minimum:
            raise kind.fail(value)
        return [item.check(each) for each in value]

    kind = Kind(f"a list of {item.name}", check)
    return kind


def record(required: Mapping[str, Kind], optional: Mapping[str, Kind]) -> Kind:
    """An object with these members and no others; absent and null are the same."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise kind.fail(value)
        for name in value:
            if name not in required and name not in optional:
                raise Mismatch(f"unknown key `{name}`")
        for name in required:
            if name not in value:
                raise Mismatch(f"missing key `{name}`")
        checked = {name: member.check(value[name]) for name, member in required.items()}
        for name, member in optional.items():
            given = value.get(name)
            checked[name] = None if given is None else member.check(given)
        return checked

    kind = Kind("an object of " + ", ".join([*required, *optional]), check)
    return kind


def either(name: str, *kinds: Kind) -> Kind:
    def check(value: Any) -> Any:
        for each in kinds:
            try:
                return each.check(value)
            except Mismatch as mismatch:
                last = mismatch
        if len(kinds) == 1 or isinstance(value, dict):
            raise last
        raise kind.fail(value)

    kind = Kind(name, check)
    return kind


def optional(plain: Kind) -> Kind:
    """The kind, or null."""
    return Kind(
        f"{plain.name}, or null", lambda value: None if value is None else plain.check(value)
    )


def by_mode(plain: Kind) -> Kind:
    """A kind whose value is the same for all modes, or an object with one value per mode."""

    def check(value: Any) -> Any:
        if not isinstance(value, dict) or not set(value) <= set(MODES):
            return plain.check(value)
        return {mode: plain.check(value[mode]) for mode in MODES if mode in value}

    kind = Kind(f"{plain.name}, or one per mode", check)
    kind.depends_on_mode = True
    return kind


def _check_real(value: Any) -> float:
    if type(value) not in (int, float) or value != value:
        raise REAL.fail(value)
    return float(value)


def _check_key(text: str) -> None:
    if KeyExpr(text).is_wild:
        raise LocalError(f"{text!r} has wildcards")


def _check_address(text: str) -> None:
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match[1]) > 0xFFFF:
        raise LocalError(f"{text!r} is not address:port")


FLAG: Final = _instance("true or false", bool)
TEXT: Final = _instance("a string", str)
OBJECT: Final = _instance("an object", dict)
REAL: Final = Kind("a number", _check_real)
ANYTHING: Final = Kind("anything", lambda value: value)
ZID: Final = _parsed("1 to 32 hexadecimal digits", ZenohId.parse)
KEY_EXPR: Final = _parsed("a key expression", KeyExpr)
KEY: Final = _parsed("a key expression without wildcards", _check_key)
ADDRESS: Final = _parsed("an address and a port", _check_address)
ENDPOINT: Final = either(
    "an endpoint",
    _parsed("an endpoint", EndPoint.parse),
    record({"strategy": TEXT, "locators": list_of(_parsed("an endpoint", EndPoint.parse))}, {}),
)
ROLES: Final = list_of(choice(*MODES))
_STRATEGY: Final = choice("always", "greater-zid")
STRATEGY: Final = either(
    "always, greater-zid, or one per role to connect to",
    _STRATEGY,
    record({}, {"to_router": _STRATEGY, "to_peer": _STRATEGY}),
)
