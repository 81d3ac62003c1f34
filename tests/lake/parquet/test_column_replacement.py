"""Replacing a column of a Parquet file: readers see its new values, and the others unchanged."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zenlake.errors import LocalError
from zenlake.lake.parquet.column_replacement import _footer, with_column
from zenlake.lake.parquet.thrift import read_struct, write_struct

ROWS = 10_000
GROUP_ROWS = 3_000
TEXTS = pa.array([f"text {number % 7}" for number in range(ROWS)]).dictionary_encode()


@pytest.fixture(params=["last", "first", "middle"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    columns = {"text": TEXTS, "blob": pa.array([bytes(number % 50) for number in range(ROWS)])}
    place = {"first": 0, "middle": 1, "last": 2}[request.param]
    items = list(columns.items())
    items.insert(place, ("trace_id", pa.array(range(ROWS), pa.int64())))
    path = tmp_path / "source.parquet"
    pq.write_table(
        pa.table(dict(items)),
        path,
        row_group_size=GROUP_ROWS,
        compression="zstd",
        use_dictionary=["text"],
    )
    return path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "zstd", "use_dictionary": False},
        {"use_dictionary": False, "column_encoding": {"trace_id": "DELTA_BINARY_PACKED"}},
    ],
    ids=["dictionary", "plain", "differences"],
)
def test_readers_return_the_new_values(source: Path, options: dict[str, object]) -> None:
    values = pa.array([None if number % 3 == 0 else number * 10**12 for number in range(ROWS)])
    target = source.with_name("target.parquet")
    with_column(source, target, "trace_id", values, **options)
    before, after = pq.read_table(source), pq.read_table(target)
    expected = before.set_column(before.column_names.index("trace_id"), "trace_id", values)
    assert after.schema.equals(before.schema)
    assert after.equals(expected)
    with duckdb.connect() as database:
        rows = database.execute(f"SELECT trace_id FROM '{target}'").fetchall()
        assert [trace_id for (trace_id,) in rows] == values.to_pylist()
        # Uses the statistics of the new column; those of the old one would skip all rows.
        few = f"SELECT count(*) FROM '{target}' WHERE trace_id > {5_000 * 10**12}"
        expected_count = sum(1 for one in values.to_pylist() if one and one > 5_000 * 10**12)
        assert database.execute(few).fetchall() == [(expected_count,)]
    assert polars.read_parquet(target)["trace_id"].to_list() == values.to_pylist()
    statistics = pq.read_metadata(target).row_group(0).column(after.column_names.index("trace_id"))
    assert statistics.statistics.max == (GROUP_ROWS - 1) * 10**12


def test_column_is_replaced_twice(source: Path) -> None:
    first, second = source.with_name("1.parquet"), source.with_name("2.parquet")
    with_column(source, first, "trace_id", pa.nulls(ROWS, pa.int64()))
    with_column(first, second, "trace_id", pa.array(range(ROWS), pa.int64()))
    assert pq.read_table(second).equals(pq.read_table(source))


def test_footer_is_written_as_it_was_read(source: Path) -> None:
    with source.open("rb") as file:
        footer, begin = _footer(file)
    content = source.read_bytes()
    assert write_struct(footer) == content[begin:-8]


def test_wrong_number_of_values_or_unknown_column_is_refused(source: Path) -> None:
    target = source.with_name("target.parquet")
    with pytest.raises(LocalError, match="10000 rows, but 3 values of trace_id"):
        with_column(source, target, "trace_id", pa.array([1, 2, 3]))
    with pytest.raises(LocalError, match="no column missing"):
        with_column(source, target, "missing", pa.array(range(ROWS), pa.int64()))


@pytest.mark.parametrize("size", range(0, 60, 7))
def test_truncated_footer_is_an_error(source: Path, size: int) -> None:
    with source.open("rb") as file:
        _, begin = _footer(file)
    with pytest.raises(LocalError, match="cut off"):
        read_struct(source.read_bytes()[begin : begin + size])
