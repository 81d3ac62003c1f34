"""Conform: SQL over frames, and the declared columns of a table from what it gives.

Steps are written as SQL: a statement is read whole, and costs one call, where each column
expression of the other interface costs several. They run on DuckDB as well (`lake/duck`): a step
may use what is here, and of a frame `select`, `repartition`, `sortWithinPartitions`, `mapInArrow`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from zenlake.lake.schema import Table


def query(text: str, **frames: DataFrame) -> DataFrame:
    """A statement in which `{name}` stands for the frame of that name."""
    session = next(iter(frames.values())).sparkSession
    return session.sql(text, None, **frames)


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """Selects, casts and orders; comments travel as metadata."""
    return frame.to(table.spark)


def with_flags(
    frame: DataFrame, name: str, function: Callable[..., pa.Array], *columns: str
) -> DataFrame:
    """Another column of truths, that a function of Arrow arrays gives."""
    from pyspark.sql import DataFrame
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import BooleanType

    if not isinstance(frame, DataFrame):
        return frame.with_flags(name, function, *columns)  # a frame of `lake/duck`
    # Its types ask for the kind of function, its code warns who gives more than type hints.
    flags = arrow_udf(function, BooleanType())  # type: ignore[call-overload]
    return frame.withColumn(name, flags(*columns))
