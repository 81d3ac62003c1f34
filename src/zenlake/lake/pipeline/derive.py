"""Staged tables into those that are put together: by Spark, or on one machine by one task.

Both run the statements of `lake/tables`. One task is several times as fast as long as one
machine is all there is; a cluster has more cores, and no file is too large for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from zenlake.lake.pipeline.derive_task import derive_captures
from zenlake.lake.pipeline.tasks import is_local, parallelism, run_tasks
from zenlake.lake.reading.row_tables import WRITTEN
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import Table
from zenlake.lake.spark import literal
from zenlake.lake.store import LakeError
from zenlake.lake.tables import build_all
from zenlake.limits import DERIVE_STAGED_BYTES_MAX

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Files = Mapping[str, list[str]]
"""By table."""

_NUMBER: Final = "_capture"
"""Folders of what Spark writes are named by the capture's number, so that files hold one each."""
# Writers hold so many bytes before they write them.
_GROUP: Final = {"parquet.block.size": str(32 << 20)}
_HOW: Final = {**_GROUP, "compression": "zstd"}
# What is read again soon and then thrown away is not worth a list of its values.
_HOW_KEPT: Final = {**_GROUP, "compression": "snappy", "parquet.enable.dictionary": "false"}
_AT_ONCE: Final = 3
_TIMESTAMPS: Final = "spark.sql.parquet.outputTimestampType"


def derive(
    spark: SparkSession,
    tasks: Sequence[Files],
    captures: list[str],
    captures_file: Path,
    folder: Path,
) -> dict[str, dict[str, list[Path]]]:
    """`tasks` are the files of each; what was written, by capture and table.

    A table that tasks have read already is written anew where its rows change: it stands for them.
    """
    paths = [path for files in tasks for found in files.values() for path in found]
    staged = sum(Path(path).stat().st_size for path in paths)
    if is_local(spark) and staged <= DERIVE_STAGED_BYTES_MAX:
        return derive_in_a_task(spark, tasks, captures, captures_file, folder)
    return derive_on_spark(spark, tasks, captures, captures_file, folder)


def derive_in_a_task(
    spark: SparkSession,
    tasks: Sequence[Files],
    captures: list[str],
    captures_file: Path,
    folder: Path,
) -> dict[str, dict[str, list[Path]]]:
    job = {
        "tasks": tasks,
        "captures": captures,
        "captures_file": str(captures_file),
        "folder": str(folder),
        "threads": parallelism(spark),
    }
    (result,) = run_tasks(spark, derive_captures, [job])
    if "failure" in result:
        raise LakeError(result["failure"])
    found: dict[str, dict[str, list[Path]]] = {path: {} for path in captures}
    for capture, name, path in result["files"]:
        found[capture].setdefault(name, []).append(Path(path))
    return found


def derive_on_spark(
    spark: SparkSession,
    tasks: Sequence[Files],
    captures: list[str],
    captures_file: Path,
    folder: Path,
) -> dict[str, dict[str, list[Path]]]:
    files = {name: [path for one in tasks for path in one.get(name, ())] for name in WRITTEN}
    frames = {name: _frame(spark, WRITTEN[name], files[name]) for name in WRITTEN}
    frames["captures"] = _frame(spark, TABLES["captures"], [str(captures_file)])
    numbers = spark.createDataFrame(
        [(path, number) for number, path in enumerate(captures)],
        f"capture STRING, {_NUMBER} INT",
    )

    kept: set[str] = set()

    def write(name: str, frame: DataFrame) -> None:
        columns = _described(TABLES[name])
        if len(captures) == 1:
            place = str(_place(folder, name, 0))
            frame.select(*columns).write.options(**_HOW).parquet(place)
        else:
            chosen = frame.join(numbers.hint("broadcast"), "capture")
            parts = chosen.select(*columns, _NUMBER).write.partitionBy(_NUMBER)
            parts.options(**_HOW).parquet(str(folder / name))

    def keep(name: str, frame: DataFrame) -> DataFrame:
        """What is published is written once, for readers and the steps that follow."""
        kept.add(name)
        place = str(folder / name)
        if name in TABLES:
            write(name, frame)
        else:
            frame.write.options(**_HOW_KEPT).parquet(place)
        return spark.read.schema(frame.schema).parquet(literal(place))

    with _microseconds(spark):
        frames = build_all(frames, keep)
        # While one is being planned, another can run.
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            rest = [name for name in frames if name not in kept]
            for written in [pool.submit(write, name, frames[name]) for name in rest]:
                written.result()
    found: dict[str, dict[str, list[Path]]] = {path: {} for path in captures}
    for name in frames:
        for number, path in enumerate(captures):
            parts = sorted(_place(folder, name, number).glob("*.parquet"))
            if name in WRITTEN:  # none where they stay as they were read
                parts = [part for part in parts if pq.read_metadata(part).num_rows]
            if parts:
                found[path][name] = parts
    return found


@contextmanager
def _microseconds(spark: SparkSession) -> Iterator[None]:
    """TIMESTAMPs as all readers know them; by itself Spark writes an older form."""
    before = spark.conf.get(_TIMESTAMPS)
    spark.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        spark.conf.set(_TIMESTAMPS, str(before))


def _place(folder: Path, name: str, number: int) -> Path:
    return folder / name / f"{_NUMBER}={number}"


def _described(table: Table) -> list[Column]:
    """Its columns with the comments of this table; they come with those of where they are from."""
    # `sql` and `report` of captures import this file, and do without Spark.
    from pyspark.sql.functions import expr

    made = {one.name: f"timestamp_micros({one.computed_from} div 1000)" for one in table.columns}
    return [
        expr(made[one.name] if one.computed_from else f"`{one.name}`").alias(
            one.name, metadata={"comment": one.comment}
        )
        for one in table.columns
    ]


def _frame(spark: SparkSession, table: Table, files: list[str]) -> DataFrame:
    if not files:
        return spark.createDataFrame([], table.base.spark)
    return spark.read.schema(table.base.spark).parquet(*map(literal, files))
