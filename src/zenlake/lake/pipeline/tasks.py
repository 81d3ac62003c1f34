"""Tasks: one function over a list of jobs, each a task of Spark; results come back as JSON."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

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

Job = dict[str, Any]
Result = dict[str, Any]

EXECUTORS_WAIT_SECONDS: Final = 10.0
"""For executors of a cluster to come: that takes seconds, and tasks are counted once."""
_EXECUTORS_STILL_SECONDS: Final = 1.0
"""No executor has come for so long: no other is expected."""
_POLL_SECONDS: Final = 0.1
_PROBE_ROWS: Final = 4096
_freezes_left = 4
"""Not more: what tasks keep for the next one may become garbage."""
_waited: Final[set[str]] = set()
"""Applications whose executors were waited for."""


def run_tasks(spark: SparkSession, work: Callable[[Job], Result], jobs: list[Job]) -> list[Result]:
    """The results in the order of the jobs. A task that dies is tried again by Spark."""
    if not jobs:
        return []
    context = _context(spark)
    texts = _run_as_frame(spark, work, jobs) if context is None else _run(context, work, jobs)
    return [json.loads(text) for text in texts]


def _run(context: SparkContext, work: Callable[[Job], Result], jobs: list[Job]) -> list[str]:
    """Without SQL, whose classes take Java seconds to load, and each task gets its own job only."""
    from pyspark.errors.exceptions.captured import unwrap_spark_exception

    with unwrap_spark_exception():
        return context.parallelize(jobs, len(jobs)).map(_Task(work)).collect()


class _Task:
    """`work` in a worker of Spark; the state of this module lasts as long as the worker."""

    def __init__(self, work: Callable[[Job], Result]) -> None:
        self._work = work

    def __call__(self, job: Job) -> str:
        _freeze_modules()
        return json.dumps(self._work(job))


def _freeze_modules() -> None:
    """Spark collects garbage after each task, and looks at all modules each time. Those that the
    first tasks have left behind stay anyway."""
    global _freezes_left
    if _freezes_left:
        _freezes_left -= 1
        gc.freeze()


def _run_as_frame(
    spark: SparkSession, work: Callable[[Job], Result], jobs: list[Job]
) -> Iterator[str]:
    """For Spark Connect, which knows nothing but frames."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = json.dumps(work(jobs[number]))
                yield pa.RecordBatch.from_pydict({"job": [number], "result": [result]})

    # One number in each partition: one job for each task.
    numbers = spark.range(0, len(jobs), 1, len(jobs))
    rows = numbers.mapInArrow(run, "job BIGINT, result STRING").collect()
    by_number = {row["job"]: row["result"] for row in rows}
    return (by_number[number] for number in range(len(jobs)))


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once. On a cluster whose executors are coming, waits for them."""
    context = _context(spark)
    if context is None:
        return task_slots(_cluster_behind_connect(spark))
    application = str(context.applicationId)
    if application in _waited:
        return task_slots(_cluster(context))
    _waited.add(application)
    return task_slots(_settled(lambda: _cluster(context)))


def is_local(spark: SparkSession) -> bool:
    """Whether all tasks run on one machine, in one process of Spark."""
    context = _context(spark)
    # The settings of a session load the classes of SQL.
    get = spark.conf.get if context is None else context.getConf().get
    return Cluster(_settings(get)).is_local


def _settled(
    look: Callable[[], Cluster],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Cluster:
    """The cluster when no more executors come, or after a bounded time."""
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
    # The driver has an entry as well.
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
    """Spark's default parallelism, as Spark Connect shows it: the parts of a frame."""
    from pyspark.sql.functions import spark_partition_id

    parts = spark.range(_PROBE_ROWS).select(spark_partition_id().alias("part")).distinct()
    return parts.count()
