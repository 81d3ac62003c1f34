"""A schema by the user names columns of the table, with their types."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from zenlake.errors import LocalError
from zenlake.lake.schema import TABLES
from zenlake.lake.source.columns import Columns

MESSAGES = TABLES["messages"]


def schema(*fields: StructField) -> StructType:
    return StructType(list(fields))


def test_schema_selects_columns_in_its_order() -> None:
    asked = schema(StructField("time_ns", LongType()), StructField("KEY", StringType()))
    found = Columns(MESSAGES, asked).select(MESSAGES.arrow.empty_table())
    assert found.schema == pa.schema([("time_ns", pa.int64()), ("KEY", pa.string())])


def test_schema_with_all_columns_is_accepted() -> None:
    for table in TABLES.values():
        assert Columns(table, table.spark).names == table.names


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (schema(), "the schema has no column"),
        (schema(StructField("kee", StringType())), "messages have no column 'kee'; there are: cap"),
        (schema(StructField("time_ns", IntegerType())), "column 'time_ns' is BIGINT, not INT"),
        (schema(StructField("key", BinaryType())), "column 'key' is STRING, not BINARY"),
        (schema(StructField("key", StringType(), False)), "column 'key' may be null"),
        (
            schema(StructField("key", StringType()), StructField("Key", StringType())),
            "column 'Key' occurs twice in the schema",
        ),
    ],
)
def test_invalid_schema_error_names_the_column(asked: StructType, complaint: str) -> None:
    with pytest.raises(LocalError, match=f"^{complaint}"):
        Columns(MESSAGES, asked)
