"""Tasks on a real session: results, their order, and the message of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from zenlake.lake.errors import LakeError
from zenlake.lake.pipeline.failures import one_line_spark_errors
from zenlake.lake.pipeline.tasks import is_local, parallelism, run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def double(job: dict[str, Any]) -> dict[str, Any]:
    return {"twice": 2 * job["number"], "text": job["text"]}


def fail(job: dict[str, Any]) -> dict[str, Any]:
    raise ValueError(f"number {job['number']}\nis one too many")


def test_results_are_in_the_order_of_the_jobs(spark: SparkSession) -> None:
    jobs = [{"number": number, "text": "ä\ud83d" if number else ""} for number in range(9)]
    expected = [double(job) for job in jobs]
    assert run_tasks(spark, double, jobs) == expected
    assert run_tasks(spark, double, []) == []


def test_exception_in_a_task_is_an_error_in_one_line(spark: SparkSession) -> None:
    with pytest.raises(LakeError) as raised, one_line_spark_errors():
        run_tasks(spark, fail, [{"number": 3}])
    assert str(raised.value) == "a task of Spark failed: is one too many"


def test_local_session_has_a_slot_for_each_core(spark: SparkSession) -> None:
    assert is_local(spark)
    assert parallelism(spark) == 2
