"""Conform: SQL over frames, and the declared columns of a table from what it gives.

Steps are written as SQL: a statement is read whole, and costs one call, where each column
expression of the other interface costs several. They run on DuckDB as well
(`lake/derive/duck`): a step may use what is here, and of a frame
`select`, `repartition`, `sortWithinPartitions`, `mapInArrow`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from zenlake.lake.schema import Table


def query(text: str, **frames: DataFrame) -> DataFrame:
    """A statement in which `{name}` stands for the frame of that name."""
    session = next(iter(frames.values())).sparkSession
    return session.sql(text, None, **frames)


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """Selects, casts and orders; comments travel as metadata.

    Without computed columns, which whoever writes the rows adds.
    """
    on_duckdb = _on_duckdb(frame)
    return on_duckdb.conform(table) if on_duckdb else frame.to(table.base.spark)


def with_flags(
    frame: DataFrame, name: str, function: Callable[..., pa.Array], *columns: str
) -> DataFrame:
    """Another column of truths, that a function of Arrow arrays gives."""
    if on_duckdb := _on_duckdb(frame):
        flagged: DataFrame = on_duckdb.with_flags(name, function, *columns)
        return flagged
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import BooleanType

    # Its types ask for the kind of function, its code warns who gives more than type hints.
    flags = arrow_udf(function, BooleanType())  # type: ignore[call-overload]
    return frame.withColumn(name, flags(*columns))


def _on_duckdb(frame: DataFrame) -> Any:
    """The frame if it is one of `lake/derive/duck`, else None.

    Spark's own classes are not asked: they take longer to load than a small capture to read.
    """
    from zenlake.lake.derive.duck.frame import Frame

    return frame if isinstance(frame, Frame) else None
