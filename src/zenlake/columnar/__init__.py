"""Raw batches to columns at memory speed, with the checks of the scalar decoder.

from zenlake import columnar

columns = columnar.decode(buffer, bounds)
batch = columnar.to_arrow(columns)

Kernels are generated from the definitions of `wire` and compiled by Numba if it is installed;
without it they run as plain Python, slowly. `to_arrow` needs pyarrow, the rest NumPy; both are
imported at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from zenlake.columnar.failures import Failure
from zenlake.columnar.fields import Field, fields
from zenlake.columnar.forms import BATCH, LOW_LATENCY, NETWORK, SCOUTING
from zenlake.columnar.kinds import kinds

if TYPE_CHECKING:
    from zenlake.columnar.arrow import to_arrow, units_of
    from zenlake.columnar.columns import Columns
    from zenlake.columnar.decoding import decode
    from zenlake.columnar.intern import Keys, intern_keys

__all__ = [
    "BATCH",
    "LOW_LATENCY",
    "NETWORK",
    "SCOUTING",
    "Columns",
    "Failure",
    "Field",
    "Keys",
    "decode",
    "fields",
    "intern_keys",
    "kinds",
    "to_arrow",
    "units_of",
]

_HOMES: Final = {
    "Columns": "columns",
    "Keys": "intern",
    "decode": "decoding",
    "intern_keys": "intern",
    "to_arrow": "arrow",
    "units_of": "arrow",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
