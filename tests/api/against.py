"""Asking zenlake and eclipse-zenoh the same question, and comparing what they say."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import zenoh

import zenlake

Ask = Callable[[Any], object]


def outcome(library: ModuleType, ask: Ask) -> tuple[str, object]:
    """What `ask` gives for this library: a plain value or text, or the kind of exception."""
    try:
        value = ask(library)
    except library.ZError:
        return "raises", "ZError"
    except Exception as error:
        return "raises", type(error).__name__
    is_plain = isinstance(value, bool | int | float | bytes | list | tuple | type(None))
    return "gives", value if is_plain else str(value)


def both(ask: Ask) -> tuple[tuple[str, object], tuple[str, object]]:
    """Ours, theirs."""
    return outcome(zenlake, ask), outcome(zenoh, ask)
