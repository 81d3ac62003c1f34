"""Rows as Arrow tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import pyarrow as pa

from zenlake.lake.schema import STAGED, TABLES
from zenlake.lake.schema.table import Table
from zenlake.trace.rows.rows import WITHOUT_REFERENCES, Row, Rows

BIGINT_MAX: Final = (1 << 63) - 1
WRITTEN: Final[dict[str, Table]] = {
    name: TABLES[name]
    for name in ("batches", "messages", "samples", "sessions", "losses", "violations")
} | STAGED
"""What reading gives; the other tables are made of these."""

_REFERENCES: Final = {
    "session": "id",
    "sender_zid": "zid",
    "receiver_zid": "zid",
    "requester_zid": "zid",
    "responder_zid": "zid",
}


def new_rows(capture: str, only: Collection[str] | None = None) -> Rows:
    return Rows(capture, [name for name in WRITTEN if only is None or name in only])


def take(rows: Rows, is_end: bool = False) -> dict[str, pa.Table]:
    """What can be written; at the end, everything."""
    taken = rows.take(is_end)
    return {name: to_arrow(WRITTEN[name], rows.capture, found) for name, found in taken.items()}


def to_arrow(table: Table, capture: str, rows: list[Row]) -> pa.Table:
    table = table.base
    refers = table.name not in WITHOUT_REFERENCES
    arrays = [pa.repeat(pa.scalar(capture, pa.string()), len(rows))]
    columns = zip(table.columns[1:], zip(*rows, strict=True), strict=True)
    for column, cells in columns:
        attribute = _REFERENCES.get(column.name) if refers else None
        type = table.arrow.field(column.name).type
        if attribute is not None:
            named = {id(cell): getattr(cell, attribute, None) for cell in set(cells)}
            arrays.append(pa.array([named[id(cell)] for cell in cells], type))
        else:
            arrays.append(_array(cells, type))
    return pa.Table.from_arrays(arrays, schema=table.arrow)


def _array(cells: tuple[Any, ...], type: pa.DataType) -> pa.Array:
    try:
        return pa.array(cells, type)
    except (OverflowError, pa.ArrowInvalid):
        if type != pa.int64():
            raise
        return pa.array([bounded(cell) for cell in cells], type)


def bounded(number: int | None) -> int | None:
    """A number of the wire or of a damaged file may have 64 bits or more: the nearest BIGINT."""
    if number is None or -BIGINT_MAX <= number <= BIGINT_MAX:
        return number
    return BIGINT_MAX if number > 0 else -BIGINT_MAX
