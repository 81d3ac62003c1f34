"""Table: a name, its meaning and its columns; Arrow and Spark read the same declaration."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

VERSION: Final = 5
"""Of all declarations together; a lake keeps the one it was written with.

2 has `ros_entities`, 3 `declarations.is_answer`, `queries.cause`, `violations.times`,
TIMESTAMPs, addresses, and how sessions end (`sessions.step` to `sessions.reason`), 4
`samples.trace_id`, 5 counts, `address` and `schema_version` in `captures`.
"""

BIGINT: Final = "BIGINT"
DOUBLE: Final = "DOUBLE"
BOOLEAN: Final = "BOOLEAN"
STRING: Final = "STRING"
BINARY: Final = "BINARY"
TIMESTAMP: Final = "TIMESTAMP"
"""A time in UTC, to the microsecond: more do not fit into Spark's."""

_SPARK_JSON: Final = {
    BIGINT: "long",
    DOUBLE: "double",
    BOOLEAN: "boolean",
    STRING: "string",
    BINARY: "binary",
    TIMESTAMP: "timestamp",
}
_SPARK_KEY: Final = b"org.apache.spark.sql.parquet.row.metadata"
"""Where Spark keeps its own schema in a Parquet file; comments travel in it."""


class Column(NamedTuple):
    """One column; `comment` says what it means and when it is null."""

    name: str
    type: str
    comment: str
    computed_from: str = ""
    """The column of nanoseconds of which this one is the TIMESTAMP."""


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

    @cached_property
    def base(self) -> Table:
        """Without the columns that are computed from others: what readers and steps give."""
        columns = tuple(column for column in self.columns if not column.computed_from)
        return (
            self if len(columns) == len(self.columns) else Table(self.name, self.comment, columns)
        )

    @cached_property
    def spark_json(self) -> dict[str, Any]:
        """The schema as Spark writes it."""
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

        types = {
            BIGINT: pa.int64(),
            DOUBLE: pa.float64(),
            BOOLEAN: pa.bool_(),
            STRING: pa.string(),
            BINARY: pa.binary(),
            TIMESTAMP: pa.timestamp("us", tz="UTC"),
        }
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
