"""The lake: captures as Delta tables, made on Spark and read by any reader of Delta or Parquet.

    from zenlake import lake

    lake.read(["robot.pcapng"], "robots.lake")
    lake.open("robots.lake").queries.where("verdict <> 'answered'").show()

Needs the extra: `pip install 'zenlake[lake]'`. Spark, Arrow and Numba are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from pyspark.sql import SparkSession

    from zenlake.lake.frames import Lake
    from zenlake.lake.pipeline import Outcome

__all__ = ["open", "read", "register"]


def open(directory: str | PathLike[str], spark: SparkSession | None = None) -> Lake:
    """Opens a lake: its tables as DataFrames, all of one version."""
    from zenlake.lake.frames import Lake

    return Lake(directory, spark)


def read(
    captures: str | Iterable[str], directory: str | PathLike[str], spark: SparkSession | None = None
) -> Outcome:
    """Reads captures into a lake; unchanged captures that it has already are skipped."""
    from pathlib import Path

    from zenlake.lake.pipeline import run
    from zenlake.lake.spark import session

    paths = [captures] if isinstance(captures, str) else list(captures)
    return run(paths, Path(directory), spark or session())


def register(spark: SparkSession) -> SparkSession:
    """Registers the functions of `zenlake sql` in a session of Spark: `ke_intersects(a, b)`,
    `ke_includes(a, b)`, `zenoh_explain(bytes)` and those of ROS."""
    from zenlake.lake.sql.on_spark import register_functions

    register_functions(spark)
    return spark
