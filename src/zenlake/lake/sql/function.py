"""Function: an SQL function that zenlake adds, declared once for both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Function(NamedTuple):
    """A null argument is None in `call`; types are those of columns."""

    call: Callable[..., Any]
    argument_types: tuple[str, ...]
    result_type: str
