"""Pushdown: filters of a query, which Spark passes to a reader if the session allows it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import datasource

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

_PUSHING: Final = "pyspark.sql.worker.data_source_pushdown_filters"
_Mask = Callable[[pa.ChunkedArray, Any], Any]
_COMPARISONS: Final[dict[type, _Mask]] = {
    datasource.EqualTo: pc.equal,
    datasource.GreaterThan: pc.greater,
    datasource.GreaterThanOrEqual: pc.greater_equal,
    datasource.LessThan: pc.less,
    datasource.LessThanOrEqual: pc.less_equal,
}
_TEXTS: Final[dict[type, _Mask]] = {
    datasource.StringStartsWith: pc.starts_with,
    datasource.StringEndsWith: pc.ends_with,
    datasource.StringContains: pc.match_substring,
}
_EXACT: Final = (pa.types.is_int64, pa.types.is_string, pa.types.is_boolean)
"""Types that Arrow compares exactly as Spark does, which excludes floating point."""


def is_asked_for() -> bool:
    """Whether this is the process in which Spark passes filters to readers.

    Spark starts it only if `spark.sql.python.filterPushdown.enabled` is set, and otherwise refuses
    readers that accept filters. So there are two readers. If Spark renames that process, queries
    only become slower.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _PUSHING in sys.modules or getattr(main, "name", "") == _PUSHING


def is_supported(filter: Filter, schema: pa.Schema) -> bool:
    """Whether Arrow applies the filter exactly as Spark does."""
    if isinstance(filter, datasource.Not):
        return is_supported(filter.child, schema)
    path: tuple[str, ...] = getattr(filter, "attribute", ())
    if len(path) != 1 or path[0] not in schema.names:
        return False
    if isinstance(filter, datasource.IsNull | datasource.IsNotNull):
        return True
    kind = schema.field(path[0]).type
    value = getattr(filter, "value", None)
    if isinstance(filter, datasource.In):
        return any(is_type(kind) for is_type in _EXACT) and all(
            _is_of(kind, one) for one in filter.value
        )
    if type(filter) in _TEXTS:
        return pa.types.is_string(kind) and isinstance(value, str)
    if type(filter) in _COMPARISONS or isinstance(filter, datasource.EqualNullSafe):
        return any(is_type(kind) for is_type in _EXACT) and _is_of(kind, value)
    return False


def _is_of(kind: pa.DataType, value: object) -> bool:
    if pa.types.is_boolean(kind):
        return isinstance(value, bool)
    if pa.types.is_string(kind):
        return isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool)


def mask(rows: pa.Table, filter: Filter) -> pa.ChunkedArray:
    """True for rows that pass the filter. Null means unknown, which does not pass."""
    if isinstance(filter, datasource.Not):
        return pc.invert(mask(rows, filter.child))
    column = rows[filter.attribute[0]]  # type: ignore[attr-defined]  # all but Not have it
    if isinstance(filter, datasource.IsNull):
        return pc.is_null(column)
    if isinstance(filter, datasource.IsNotNull):
        return pc.is_valid(column)
    value: Any = filter.value  # type: ignore[attr-defined]  # all that are left have it
    if isinstance(filter, datasource.In):
        found = pc.is_in(column, pa.array(value, column.type))
        return pc.if_else(pc.is_valid(column), found, pa.scalar(None, pa.bool_()))
    if isinstance(filter, datasource.EqualNullSafe):
        return pc.fill_null(pc.equal(column, value), False)
    compare = _COMPARISONS.get(type(filter)) or _TEXTS[type(filter)]
    return compare(column, value)
