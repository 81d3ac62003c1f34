"""The steps that Spark makes: staged tables into those that are put together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql.functions import col

from zenlake.lake.reading.row_tables import WRITTEN
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table
from zenlake.lake.tables import build_all

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_NUMBER: Final = "_capture"
"""Folders of what Spark writes are named by the capture's number, so that files hold one each."""
_GLOB: Final = re.compile(r"[\\*?\[\]{}]")


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
        return spark.read.schema(frame.schema).parquet(_literal(place))

    found: dict[str, dict[str, list[Path]]] = {path: {} for path in captures}
    for name, frame in build_all(frames, keep).items():
        place = folder / name
        chosen = frame.join(numbers.hint("broadcast"), "capture")
        chosen.select(*_described(TABLES[name]), _NUMBER).write.option(
            "compression", "zstd"
        ).partitionBy(_NUMBER).parquet(str(place))
        for number, path in enumerate(captures):
            parts = sorted((place / f"{_NUMBER}={number}").glob("*.parquet"))
            if parts:
                found[path][name] = parts
    return found


def _described(table: Table) -> list[Column]:
    """Its columns with the comments of this table; they come with those of where they are from."""
    return [
        col(one.name).alias(one.name, metadata={"comment": one.comment}) for one in table.columns
    ]


def _frame(spark: SparkSession, table: Table, files: list[str]) -> DataFrame:
    if not files:
        return spark.createDataFrame([], table.spark)
    return spark.read.schema(table.spark).parquet(*map(_literal, files))


def _literal(path: str) -> str:
    """A path that Spark does not take for a pattern."""
    return _GLOB.sub(r"\\\g<0>", path)
