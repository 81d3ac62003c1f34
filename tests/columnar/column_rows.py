"""The rows of columns as plain values, in the same form as those of the scalar decoder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zenlake.columnar import Columns, fields
from zenlake.columnar.fields import Field, columns
from zenlake.columnar.fields import presence_bits as bits


class ColumnRows:
    """All columns as lists, which are faster to pick single values from."""

    def __init__(self, decoded: Columns) -> None:
        self._data = decoded.data.tobytes()
        self._lists: dict[str, list[int]] = {}
        self._zeros = [0] * len(decoded)
        for name in columns():
            column = decoded[name]
            self._lists[name] = column.tolist() if column.any() else self._zeros
        self.kinds = decoded.kind_words()
        self.units = self._lists["unit"]
        self.offsets = self._lists["offset"]
        self.lengths = self._lists["length"]
        self.unknown = self._lists["unknown_extensions"]
        # Skip fields that no row has.
        self._fields = [one for one in fields().values() if decoded.has_any(one.name)]

    def fields_of(self, n: int) -> dict[str, Any]:
        return {one.name: self._value(one, n) for one in self._fields if self._has(one, n)}

    def all_zero(self, n: int, there: dict[str, Any]) -> bool:
        """Whether absent fields are 0 in all their columns."""
        absent = (one for one in fields().values() if one.name not in there)
        return not any(self._lists[name][n] for one in absent for _, name in one.columns)

    def _has(self, field: Field, n: int) -> bool:
        if field.name in bits():
            return self._lists["present"][n] & bits()[field.name] != 0
        return self._lists[f"{field.name}_offset"][n] != 0

    def _value(self, field: Field, n: int) -> Any:
        parts = list(self._parts(field, n))
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _parts(self, field: Field, n: int) -> Iterator[Any]:
        for _, name in field.columns:
            value = self._lists[name][n]
            if name.endswith("_offset"):
                size = self._lists[name.removesuffix("_offset") + "_length"][n]
                absent = b"" if field.shape == "key" else None
                yield self._data[value : value + size] if value else absent
            elif not name.endswith("_length"):
                yield value
