"""SQL over frames, and the declared columns of a table from its result.

Steps are written as SQL: a statement costs one call to Spark, while each column expression of the
other interface costs several. They run on DuckDB as well (`lake/derive/duck`): a step may use the
functions of this module, and of a frame `select`, `repartition`, `sortWithinPartitions` and
`mapInArrow`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from zenlake.lake.schema import Table


def query(text: str, **frames: DataFrame) -> DataFrame:
    """Runs a statement in which `{name}` stands for the frame of that name."""
    session = next(iter(frames.values())).sparkSession
    return session.sql(text, None, **frames)


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """Selects, casts and orders the declared columns; comments become metadata.

    Computed columns are left out: they are added when rows are written.
    """
    on_duckdb = _on_duckdb(frame)
    return on_duckdb.conform(table) if on_duckdb else frame.to(table.base.spark)


def with_flags(
    frame: DataFrame, name: str, function: Callable[..., pa.Array], *columns: str
) -> DataFrame:
    """Adds a boolean column, computed by a function of Arrow arrays."""
    if on_duckdb := _on_duckdb(frame):
        flagged: DataFrame = on_duckdb.with_flags(name, function, *columns)
        return flagged
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.types import BooleanType

    # Its types require the kind of function, but its code warns if it is given.
    flags = arrow_udf(function, BooleanType())  # type: ignore[call-overload]
    return frame.withColumn(name, flags(*columns))


def _on_duckdb(frame: DataFrame) -> Any:
    """The frame if it is one of `lake/derive/duck`, else None.

    Spark's classes are not used for the test: they take longer to load than a small capture.
    """
    from zenlake.lake.derive.duck.frame import Frame

    return frame if isinstance(frame, Frame) else None
