"""Columns as Arrow: the same values, without needless copies."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.columnar.column_rows import ColumnRows
from tests.columnar.comparison import decoded
from tests.columnar.inputs import capture_inputs, drawn_inputs, vector_inputs
from tests.paths import CAPTURES
from zenlake.columnar import Columns, decode, fields, to_arrow, units_of
from zenlake.errors import LocalError

pytestmark = pytest.mark.xdist_group("arrow")


@pytest.fixture(scope="module")
def columns() -> Columns:
    """Every kind, with and without every field."""
    return decoded(vector_inputs() + drawn_inputs(1_000))


def as_arrow(name: str, shape: str, value: Any) -> dict[str, Any]:
    """The columns that a field's value should be in."""
    match shape, value:
        case "key", (scope, sender, suffix):
            return {name: {"scope": scope, "sender": bool(sender), "suffix": suffix.decode()}}
        case "timestamp", (time, id):
            return {f"{name}_time": time, f"{name}_id": id}
        case "encoding", (id, schema):
            return {f"{name}_id": id, f"{name}_schema": schema}
        case "info", (complete, distance):
            return {f"{name}_complete": bool(complete), f"{name}_distance": distance}
        case "bool", _:
            return {name: bool(value)}
        case "text", bytes():
            return {name: value.decode()}
    return {name: value}


def test_every_value_is_converted(columns: Columns) -> None:
    batch = to_arrow(columns)
    batch.validate(full=True)
    rows = ColumnRows(columns)
    for n, found in enumerate(batch.to_pylist()):
        expected: dict[str, Any] = dict.fromkeys(found)
        expected |= {"kind": rows.kinds[n], "unit": rows.units[n], "offset": rows.offsets[n]}
        expected |= {"length": rows.lengths[n], "unknown_extensions": rows.unknown[n]}
        for name, value in rows.fields_of(n).items():
            expected |= as_arrow(name, fields()[name].shape, value)
        assert found == expected


def test_schema_does_not_depend_on_the_rows(columns: Columns) -> None:
    assert to_arrow(decoded([(b"\x04", 0)])).schema == to_arrow(columns).schema
    assert to_arrow(decoded([])).schema == to_arrow(columns).schema


def test_only_chosen_fields_are_converted(columns: Columns) -> None:
    batch = to_arrow(columns, ["payload", "key"])
    assert batch.schema.names == [
        *("kind", "unit", "offset", "length", "unknown_extensions", "payload", "key")
    ]


def test_payloads_are_not_copied(columns: Columns) -> None:
    batch = to_arrow(columns, ["payload"])
    data = batch["payload"].buffers()[2]
    assert data.address == columns.data.ctypes.data


@pytest.mark.parametrize("type", [pa.binary(), pa.large_binary()])
def test_binary_column_is_split_into_units(type: pa.DataType) -> None:
    units = [b"\x04", b"", b"\x04\x04", b"\xff"]
    column = pa.array([b"before", *units], type)[1:]
    columns = decode(*units_of(column))
    assert columns["unit"].tolist() == [0, 2, 2]
    assert [columns.error(unit) is None for unit in range(4)] == [True, True, True, False]
    assert len(decode(*units_of(pa.array([], type)))) == 0
    with pytest.raises(LocalError, match="without nulls"):
        units_of(pa.array([b"", None], type))


def test_arrow_batch_outlives_the_columns() -> None:
    path = CAPTURES / "queries.pcapng.gz"
    batch = to_arrow(decoded(capture_inputs(path)))
    batch.validate(full=True)
    assert batch.num_rows > 100
    assert pa.Table.from_batches([batch, batch]).num_rows == 2 * batch.num_rows
