"""Tasks: one function over a list of jobs, each a task of Spark; results come back as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Job = dict[str, Any]
Result = dict[str, Any]


def run_tasks(spark: SparkSession, work: Callable[[Job], Result], jobs: list[Job]) -> list[Result]:
    """The results in the order of the jobs. A task that dies is tried again by Spark."""
    count = len(jobs)
    if not count:
        return []

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = json.dumps(work(jobs[number]))
                yield pa.RecordBatch.from_pydict({"job": [number], "result": [result]})

    # One number in each partition: one job for each task.
    numbers = spark.range(0, count, 1, count)
    rows = numbers.mapInArrow(run, "job BIGINT, result STRING").collect()
    by_number = {row["job"]: json.loads(row["result"]) for row in rows}
    return [by_number[number] for number in range(count)]


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once."""
    from pyspark.errors import PySparkException

    try:
        return int(spark.sparkContext.defaultParallelism)
    except PySparkException:  # Connect does not tell
        return int(spark.conf.get("spark.default.parallelism", "4") or 4)


def is_local(spark: SparkSession) -> bool:
    """Whether all tasks run on one machine, in one process of Spark."""
    master = spark.conf.get("spark.master", "") or ""
    return master == "local" or master.startswith("local[")
