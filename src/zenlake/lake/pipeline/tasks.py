"""Runs a function over a list of jobs, each as a task of Spark; results are JSON."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from zenlake.lake.jobs import Job, Result
from zenlake.lake.pipeline.task_slots import (
    SETTINGS,
    Cluster,
    promised_cores,
    registered_cores,
    task_slots,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.core.context import SparkContext
    from pyspark.sql import SparkSession

EXECUTORS_WAIT_SECONDS: Final = 10.0
"""The time to wait for executors to register, because work is divided into tasks only once."""
_EXECUTORS_STILL_SECONDS: Final = 1.0
"""If no executor registers for this time, no more are expected."""
_POLL_SECONDS: Final = 0.1
_PROBE_ROWS: Final = 4096
_freezes_left = 4
"""How often objects are frozen at most: frozen objects are never collected."""
_waited: Final[set[str]] = set()
"""Ids of applications for whose executors this process has waited."""


def run_tasks(spark: SparkSession, work: Callable[[Job], Result], jobs: list[Job]) -> list[Result]:
    """Runs `work` on each job; results are in the order of the jobs. Spark retries dead tasks."""
    if not jobs:
        return []
    context = _context(spark)
    texts = _run_as_frame(spark, work, jobs) if context is None else _run(context, work, jobs)
    return [json.loads(text) for text in texts]


def _run(context: SparkContext, work: Callable[[Job], Result], jobs: list[Job]) -> list[str]:
    """Runs tasks without Spark SQL, whose classes take seconds to load. Each gets its job only."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions.captured import unwrap_spark_exception

    try:
        with unwrap_spark_exception():
            return context.parallelize(jobs, len(jobs)).map(_Task(work)).collect()
    except AssertionError as error:
        # PySpark expects a cause in every error of Java; that of a killed worker may have none.
        if isinstance(error.__context__, Py4JJavaError):
            raise error.__context__ from None
        raise


class _Task:
    """Runs `work` in a worker of Spark; globals of this module live as long as the worker."""

    def __init__(self, work: Callable[[Job], Result]) -> None:
        self._work = work

    def __call__(self, job: Job) -> str:
        _freeze_modules()
        return json.dumps(self._work(job))


def _freeze_modules() -> None:
    """Excludes imported modules from the garbage collection that Spark runs after each task."""
    global _freezes_left
    if _freezes_left:
        _freezes_left -= 1
        gc.freeze()


def _run_as_frame(
    spark: SparkSession, work: Callable[[Job], Result], jobs: list[Job]
) -> Iterator[str]:
    """Runs tasks on Spark Connect, which has only DataFrames."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = json.dumps(work(jobs[number]))
                yield pa.RecordBatch.from_pydict({"job": [number], "result": [result]})

    # With one number in each partition, each job is one task.
    numbers = spark.range(0, len(jobs), 1, len(jobs))
    rows = numbers.mapInArrow(run, "job BIGINT, result STRING").collect()
    by_number = {row["job"]: row["result"] for row in rows}
    return (by_number[number] for number in range(len(jobs)))


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once. Waits for the executors of a cluster that is starting."""
    context = _context(spark)
    if context is None:
        return task_slots(_cluster_behind_connect(spark))
    application = str(context.applicationId)
    if application in _waited:
        return task_slots(_cluster(context))
    _waited.add(application)
    return task_slots(_complete_cluster(lambda: _cluster(context)))


def is_local(spark: SparkSession) -> bool:
    """Whether all tasks run on one machine, in one process of Spark."""
    context = _context(spark)
    # The settings of the session would load the classes of Spark SQL; the context has them too.
    get = spark.conf.get if context is None else context.getConf().get
    return Cluster(_settings(get)).is_local


def _complete_cluster(
    look: Callable[[], Cluster],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Cluster:
    """The cluster when no more executors register, or after a limited time."""
    cluster = look()
    now = clock()
    end, still_until = now + EXECUTORS_WAIT_SECONDS, now + _EXECUTORS_STILL_SECONDS
    while not cluster.is_complete and now < end:
        if registered_cores(cluster) and now >= still_until:
            break
        sleep(_POLL_SECONDS)
        before, cluster, now = cluster, look(), clock()
        if cluster.executors != before.executors:
            still_until = now + _EXECUTORS_STILL_SECONDS
    return cluster


def _cluster(context: SparkContext) -> Cluster:
    # One of the entries is the driver.
    executors = int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1
    settings = _settings(context.getConf().get)
    return Cluster(settings, executors, int(context.defaultParallelism))


def _cluster_behind_connect(spark: SparkSession) -> Cluster:
    cluster = Cluster(_settings(spark.conf.get))
    if cluster.is_dynamic or promised_cores(cluster) is not None:
        return cluster
    return replace(cluster, default_parallelism=_partitions_by_default(spark))


def _context(spark: SparkSession) -> SparkContext | None:
    """None over Spark Connect."""
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except PySparkException:
        return None


def _settings(get: Callable[[str, str], str | None]) -> dict[str, str]:
    found = {name: get(name, "") for name in SETTINGS}
    return {name: value for name, value in found.items() if value}


def _partitions_by_default(spark: SparkSession) -> int:
    """Spark's default parallelism behind Spark Connect: the partitions of a frame."""
    from pyspark.sql.functions import spark_partition_id

    parts = spark.range(_PROBE_ROWS).select(spark_partition_id().alias("part")).distinct()
    return parts.count()
