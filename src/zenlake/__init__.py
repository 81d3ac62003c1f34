"""The Zenoh protocol in Python.

Importing this package costs next to nothing: a part is loaded when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zenlake.errors import KeyExprError, LocalError, WireError, ZenlakeError, ZError

if TYPE_CHECKING:
    from zenlake.keyexpr import KeyExpr, Parameters, Selector, SetIntersectionLevel
else:
    # Hidden from type checkers, who would otherwise believe that every name exists.

    _HOMES = {
        "KeyExpr": "zenlake.keyexpr",
        "Parameters": "zenlake.keyexpr",
        "Selector": "zenlake.keyexpr",
        "SetIntersectionLevel": "zenlake.keyexpr",
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"

__all__ = [
    "KeyExpr",
    "KeyExprError",
    "LocalError",
    "Parameters",
    "Selector",
    "SetIntersectionLevel",
    "WireError",
    "ZError",
    "ZenlakeError",
    "__version__",
]
