"""Runs the same code on zenlake and eclipse-zenoh, to compare the results."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import zenoh

import zenlake

Ask = Callable[[Any], object]


def outcome(library: ModuleType, ask: Ask) -> tuple[str, object]:
    """The result of `ask` with this library: a plain value or text, or the kind of exception."""
    try:
        value = ask(library)
    except library.ZError:
        return "raises", "ZError"
    except Exception as error:
        return "raises", type(error).__name__
    is_plain = isinstance(value, bool | int | float | bytes | list | tuple | type(None))
    return "gives", value if is_plain else str(value)


def both(ask: Ask) -> tuple[tuple[str, object], tuple[str, object]]:
    """The results of zenlake and of eclipse-zenoh."""
    return outcome(zenlake, ask), outcome(zenoh, ask)
