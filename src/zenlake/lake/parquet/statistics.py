"""Statistics of a Parquet file in the format of a Delta log, by which readers skip files."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

TEXTS: Final = ("capture", "key")
"""Texts that have bounds; queries rarely select a range of other texts."""
_TEXT_CHARACTERS_MAX: Final = 32
"""Length of a bound. Bounds of `capture` are not cut, because names are compared exactly."""
_AFTER_ALL: Final = "\U0010ffff"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Bounds = tuple[str, str]


class TextBounds:
    """The smallest and largest text of some columns, over all parts of a file."""

    def __init__(self) -> None:
        self._bounds: dict[str, Bounds] = {}

    def add(self, part: pa.Table) -> None:
        for name in TEXTS:
            if name in part.column_names:
                self._add(name, part.column(name))

    def _add(self, name: str, column: pa.ChunkedArray) -> None:
        for chunk in column.chunks:
            # A dictionary may have texts that no row has: they only widen the bounds.
            texts = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
            found = pc.min_max(texts).as_py()
            if found["min"] is None:
                continue
            low, high = self._bounds.get(name, (found["min"], found["max"]))
            self._bounds[name] = min(low, found["min"]), max(high, found["max"])

    def items(self) -> list[tuple[str, Bounds]]:
        return [*self._bounds.items()]


def statistics(metadata: pq.FileMetaData, texts: TextBounds) -> str:
    """Bounds of numbers and times from the file's metadata, and the given bounds of texts."""
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for index in range(metadata.num_columns):
        name = metadata.schema.column(index).name
        of_groups = [
            metadata.row_group(group).column(index).statistics
            for group in range(metadata.num_row_groups)
        ]
        if not of_groups or any(one is None for one in of_groups):
            continue
        if all(one.has_null_count for one in of_groups):
            nulls[name] = sum(one.null_count for one in of_groups)
        bounded = [one for one in of_groups if one.has_min_max]
        if name not in TEXTS and len(bounded) == len(of_groups):
            low[name] = _value(min(one.min for one in bounded), is_low=True)
            high[name] = _value(max(one.max for one in bounded), is_low=False)
    for name, (least, greatest) in texts.items():
        is_whole = name == "capture"
        low[name] = least if is_whole else least[:_TEXT_CHARACTERS_MAX]
        high[name] = greatest if is_whole else _upper(greatest)
    found = {
        "numRecords": metadata.num_rows,
        "minValues": low,
        "maxValues": high,
        "nullCount": nulls,
    }
    return json.dumps(found)


def _upper(text: str) -> str:
    """A shorter upper bound of the text."""
    if len(text) <= _TEXT_CHARACTERS_MAX:
        return text
    return text[:_TEXT_CHARACTERS_MAX] + _AFTER_ALL


def _value(value: Any, is_low: bool) -> Any:
    """Times in milliseconds, as the Delta protocol requires, rounded outwards."""
    if not isinstance(value, datetime):
        return value
    value = value.astimezone(UTC)
    micros = (value - _EPOCH) // timedelta(microseconds=1)
    millis = micros // 1000 if is_low else -(-micros // 1000)
    moment = _EPOCH + timedelta(milliseconds=millis)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{millis % 1000:03d}Z"
