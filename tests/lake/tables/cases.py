"""Cases: small captures by hand. Many go through a step together, each under its own name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zenlake.lake.schema import STAGED, TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = dict[str, Any]
MS = 1_000_000
"""Time passes with seq: one is a millisecond."""


def frame(spark: SparkSession, name: str, rows: list[Row]) -> DataFrame:
    """A table of the given rows; what they leave out is null. Spread and mixed on purpose."""
    import pyarrow as pa

    table = {**STAGED, **TABLES}[name]
    unknown = {column for row in rows for column in row} - set(table.names)
    assert not unknown, f"{name} has no {unknown}"
    data = pa.Table.from_pylist(rows, schema=table.arrow)
    return spark.createDataFrame(data, schema=table.spark).repartition(3)


def staged(cases: dict[str, list[Row]], **defaults: Any) -> list[Row]:
    """Rows of all cases; packet and time follow from seq."""
    return [
        {
            "capture": case,
            "session": "s",
            "link": "l",
            "packet": row["seq"],
            "time_ns": row["seq"] * MS,
            **defaults,
            **row,
        }
        for case, rows in cases.items()
        for row in rows
    ]


def by_case(found: DataFrame, order: str = "seq") -> dict[str, list[Row]]:
    """What came out, in order."""
    rows: dict[str, list[Row]] = {}
    for row in sorted((row.asDict() for row in found.collect()), key=lambda row: row[order]):
        rows.setdefault(row["capture"], []).append(row)
    return rows


def columns(rows: list[Row], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def shape(found: DataFrame) -> list[tuple[str, str, str]]:
    """Names, types and comments, in order."""
    return [
        (field.name, field.dataType.typeName(), field.metadata["comment"])
        for field in found.schema.fields
    ]


def declared_shape(name: str) -> list[tuple[str, str, str]]:
    fields = TABLES[name].base.spark.fields
    return [(field.name, field.dataType.typeName(), field.metadata["comment"]) for field in fields]
