"""The steps that Spark makes: staged tables into those that are put together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zenlake.lake.reading.row_tables import WRITTEN
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table
from zenlake.lake.tables import build_all

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NUMBER: Final = "_capture"
"""Folders of what Spark writes are named by the capture's number, so that files hold one each."""


def derive(
    spark: SparkSession,
    files: Mapping[str, list[str]],
    captures: list[str],
    captures_file: Path,
    folder: Path,
) -> dict[str, dict[str, list[Path]]]:
    """`files` by table; what was written, by capture and table."""
    frames = {name: _frame(spark, WRITTEN[name], files.get(name, [])) for name in WRITTEN}
    frames["captures"] = _frame(spark, TABLES["captures"], [str(captures_file)])
    numbers = spark.createDataFrame(
        [(path, number) for number, path in enumerate(captures)],
        f"capture STRING, {_NUMBER} INT",
    )

    def keep(name: str, frame: DataFrame) -> DataFrame:
        place = str(folder / "kept" / name)
        frame.write.parquet(place)
        return spark.read.schema(frame.schema).parquet(place)

    found: dict[str, dict[str, list[Path]]] = {path: {} for path in captures}
    for name, frame in build_all(frames, keep).items():
        place = folder / name
        chosen = frame.join(numbers.hint("broadcast"), "capture")
        columns = [*TABLES[name].names, _NUMBER]
        chosen.select(*columns).write.option("compression", "zstd").partitionBy(_NUMBER).parquet(
            str(place)
        )
        for number, path in enumerate(captures):
            parts = sorted((place / f"{_NUMBER}={number}").glob("*.parquet"))
            if parts:
                found[path][name] = parts
    return found


def _frame(spark: SparkSession, table: Table, files: list[str]) -> DataFrame:
    if not files:
        return spark.createDataFrame([], table.spark)
    return spark.read.schema(table.spark).parquet(*files)
