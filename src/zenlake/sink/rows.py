"""The columns of a data frame as fields of publications."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from zenlake.errors import LocalError
from zenlake.limits import KEY_EXPR_BYTES_MAX, KEY_EXPR_CHUNKS_MAX
from zenlake.sink.options import shown

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_TYPES: Final = {
    "key": ("string",),
    "value": ("binary", "string"),
    "encoding": ("string",),
    "attachment": ("binary", "string"),
    "kind": ("string",),
    "timestamp": ("timestamp", "timestamp_ntz", "bigint", "string"),
    "priority": (*_INTEGERS, "string"),
}
_SYNONYMS: Final = {"payload": "value"}
_KNOWN: Final = "key, value (or payload), encoding, attachment, kind, timestamp, priority"
_BYTES: Final = ("value", "attachment")
_OBJECTS: Final = ("key", *_BYTES)
_NO_KEY: Final = r"[*$#?]|//|^/|/$|^$"
"""A wildcard, a forbidden character or an empty chunk."""


class Row(NamedTuple):
    """One publication, not yet checked."""

    key: Any
    value: Any
    encoding: Any
    attachment: Any
    kind: Any
    timestamp: Any
    priority: Any


class RowColumns:
    """Where the fields of a publication are in the data frame; checked against its schema."""

    def __init__(self, schema: StructType) -> None:
        self._places: dict[str, int] = {}
        for place, column in enumerate(schema.fields):
            lower = column.name.lower()
            name = _SYNONYMS.get(lower, lower)
            kind = column.dataType.simpleString().partition("(")[0]
            if name not in _TYPES:
                raise LocalError(f"there is no column {shown(column.name)}; there are: {_KNOWN}")
            if name in self._places:
                raise LocalError(f"column {name} occurs twice: use one column value or payload")
            if kind not in _TYPES[name] and kind != "void":
                expected = " or ".join(kind.upper() for kind in _TYPES[name])
                raise LocalError(f"column {column.name} is {expected}, not {kind.upper()}: cast it")
            self._places[name] = place
        if "key" not in self._places:
            raise LocalError("column key is missing")
        if "value" not in self._places and "kind" not in self._places:
            raise LocalError("column value (or payload) is missing")

    def rows(self, batch: pa.RecordBatch) -> Iterator[Row]:
        columns = [self._values(batch, name) for name in Row._fields]
        return map(Row._make, zip(*columns, strict=False))

    def is_plain(self) -> bool:
        """Whether the data frame has only a key and a value column."""
        return self._places.keys() == {"key", "value"}

    def keys_and_values(self, batch: pa.RecordBatch) -> tuple[list[Any], list[Any]]:
        return self._values(batch, "key"), self._values(batch, "value")

    def are_all_keys_and_values(self, batch: pa.RecordBatch) -> bool:
        """Whether all keys are valid and no value is null, checked on whole columns."""
        keys = batch.column(self._places["key"])
        values = batch.column(self._places["value"])
        if keys.null_count or values.null_count:
            return False
        faults = (
            pc.match_substring_regex(keys, _NO_KEY),
            pc.greater(pc.binary_length(keys), KEY_EXPR_BYTES_MAX),
            pc.greater_equal(pc.count_substring(keys, "/"), KEY_EXPR_CHUNKS_MAX),
        )
        return not any(pc.any(fault).as_py() for fault in faults)

    def _values(self, batch: pa.RecordBatch, name: str) -> Any:
        if name not in self._places:
            return repeat(None, batch.num_rows)
        column = batch.column(self._places[name])
        if name in _BYTES and not pa.types.is_null(column.type):
            column = column.cast(pa.large_binary())
        if pa.types.is_timestamp(column.type):
            micros = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_pylist()
            return [None if value is None else value * 1_000 for value in micros]
        if name in _OBJECTS and not pa.types.is_null(column.type):
            # Returns the same texts and bytes as `to_pylist`, several times as fast.
            return column.to_numpy(zero_copy_only=False).tolist()
        return column.to_pylist()
