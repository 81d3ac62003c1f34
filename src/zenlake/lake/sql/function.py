"""Function: one that SQL over a lake has beyond the engines, declared once for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Function(NamedTuple):
    """`call` is given null as None; types are those of columns."""

    call: Callable[..., Any]
    takes: tuple[str, ...]
    gives: str
