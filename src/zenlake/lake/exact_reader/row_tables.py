"""Rows of the exact reader to Arrow tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa

from zenlake.lake.schema.filled import check_filled
from zenlake.lake.schema.table import BIGINT_MAX, Table
from zenlake.lake.schema.written import NODE, SESSION, WRITTEN, references_of
from zenlake.trace.rows._generated.records import RECORDS
from zenlake.trace.rows.record import Record
from zenlake.trace.rows.rows import Rows

_CAPTURE: Final = "capture"
_IDS: Final = {SESSION: "id", NODE: "zid"}
"""The attribute with the name of a referenced object."""


def check_records(tables: Iterable[Table]) -> None:
    """Error if a record class differs from the declared columns: run `make generate`."""
    for table in tables:
        record = RECORDS.get(table.name)
        columns = () if record is None else (_CAPTURE, *record.COLUMNS)
        check_filled(table, columns, "exact")


check_records(WRITTEN.values())


def new_rows(capture: str, only: Collection[str] | None = None) -> Rows:
    return Rows(capture, [name for name in WRITTEN if only is None or name in only])


def drain_tables(rows: Rows, is_end: bool = False) -> dict[str, pa.Table]:
    """Tables of the rows that are final; at the end, of all rows."""
    ready = rows.pop_ready(is_end)
    return {name: to_arrow(WRITTEN[name], rows.capture, found) for name, found in ready.items()}


def to_arrow(table: Table, capture: str, rows: list[Record]) -> pa.Table:
    table = table.base
    references = references_of(table)
    arrays = [pa.repeat(pa.scalar(capture, pa.string()), len(rows))]
    for column in table.columns[1:]:
        cells = list(map(attrgetter(column.name), rows))
        type = table.arrow.field(column.name).type
        if column.name in references:
            attribute = _IDS[references[column.name]]
            named = {id(cell): getattr(cell, attribute, None) for cell in set(cells)}
            arrays.append(pa.array([named[id(cell)] for cell in cells], type))
        else:
            arrays.append(_array(cells, type))
    return pa.Table.from_arrays(arrays, schema=table.arrow)


def _array(cells: list[Any], type: pa.DataType) -> pa.Array:
    try:
        return pa.array(cells, type)
    except (OverflowError, pa.ArrowInvalid):
        if type != pa.int64():
            raise
        return pa.array([bounded(cell) for cell in cells], type)


def bounded(number: int | None) -> int | None:
    """The nearest BIGINT: a number of the wire or of a damaged file may have 64 bits or more."""
    if number is None or -BIGINT_MAX <= number <= BIGINT_MAX:
        return number
    return BIGINT_MAX if number > 0 else -BIGINT_MAX
