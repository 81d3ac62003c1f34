"""Table: a name, its meaning and its columns; Arrow and Spark read the same declaration."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

VERSION: Final = 5
"""Version of all declarations together, which a lake stores.

2 has `ros_entities`, 3 `declarations.is_answer`, `queries.cause`, `violations.times`,
TIMESTAMPs, addresses, and how sessions end (`sessions.step` to `sessions.reason`), 4
`samples.trace_id`, 5 counts, `address` and `schema_version` in `captures`.
"""

BIGINT: Final = "BIGINT"
BIGINT_MAX: Final = (1 << 63) - 1
DOUBLE: Final = "DOUBLE"
BOOLEAN: Final = "BOOLEAN"
STRING: Final = "STRING"
BINARY: Final = "BINARY"
TIMESTAMP: Final = "TIMESTAMP"
"""A time in UTC in microseconds, Spark's resolution."""

DUCKDB_TYPES: Final = {
    BIGINT: "BIGINT",
    DOUBLE: "DOUBLE",
    BOOLEAN: "BOOLEAN",
    STRING: "VARCHAR",
    BINARY: "BLOB",
    TIMESTAMP: "TIMESTAMP WITH TIME ZONE",
}
_SPARK_JSON: Final = {
    BIGINT: "long",
    DOUBLE: "double",
    BOOLEAN: "boolean",
    STRING: "string",
    BINARY: "binary",
    TIMESTAMP: "timestamp",
}
_SPARK_KEY: Final = b"org.apache.spark.sql.parquet.row.metadata"
"""Key of Spark's own schema, with comments, in the metadata of a Parquet file."""


class Column(NamedTuple):
    """One column; `comment` is its meaning, and when it is null."""

    name: str
    type: str
    comment: str
    computed_from: str = ""
    """The column of nanoseconds from which this TIMESTAMP is computed."""
    values: tuple[str, ...] = ()
    """All values, if these are a fixed set."""


def choice(name: str, values: tuple[str, ...], remark: str = "") -> Column:
    """A column of text with a fixed set of values, which its comment lists."""
    return Column(name, STRING, ", ".join(values) + remark, values=values)


@cache
def arrow_types() -> dict[str, pa.DataType]:
    import pyarrow as pa

    return {
        BIGINT: pa.int64(),
        DOUBLE: pa.float64(),
        BOOLEAN: pa.bool_(),
        STRING: pa.string(),
        BINARY: pa.binary(),
        TIMESTAMP: pa.timestamp("us", tz="UTC"),
    }


def with_timestamps(columns: Iterable[Column], durations: Collection[str] = ()) -> list[Column]:
    """Adds a TIMESTAMP after each `*_ns` that is a time: `time`, or `*_at`."""
    found = []
    for column in columns:
        found.append(column)
        if column.name.endswith("_ns") and column.name not in durations:
            stem = column.name.removesuffix("_ns")
            name = stem if stem == "time" else f"{stem}_at"
            found.append(Column(name, TIMESTAMP, f"{column.name} as a time in UTC", column.name))
    return found


class Table:
    """One table of the lake."""

    def __init__(self, name: str, comment: str, columns: tuple[Column, ...]) -> None:
        self.name = name
        self.comment = comment
        self.columns = columns

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    @cached_property
    def base(self) -> Table:
        """The table without computed columns, as readers and steps make it."""
        columns = tuple(column for column in self.columns if not column.computed_from)
        return (
            self if len(columns) == len(self.columns) else Table(self.name, self.comment, columns)
        )

    @cached_property
    def spark_json(self) -> dict[str, Any]:
        """The schema in Spark's JSON format."""
        fields = [
            {
                "name": column.name,
                "type": _SPARK_JSON[column.type],
                "nullable": True,
                "metadata": {"comment": column.comment},
            }
            for column in self.columns
        ]
        return {"type": "struct", "fields": fields}

    @cached_property
    def arrow(self) -> pa.Schema:
        import pyarrow as pa

        types = arrow_types()
        fields = [
            pa.field(column.name, types[column.type], metadata={"comment": column.comment})
            for column in self.columns
        ]
        return pa.schema(fields, metadata={_SPARK_KEY: json.dumps(self.spark_json)})

    @property
    def spark(self) -> StructType:
        from pyspark.sql.types import StructType

        return StructType.fromJson(self.spark_json)

    def __repr__(self) -> str:
        return f"Table({self.name}, {len(self.columns)} columns)"
