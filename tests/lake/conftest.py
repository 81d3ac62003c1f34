"""These tests need the dependencies of `pip install 'zenlake[lake]'`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.chance import IS_FULL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

collect_ignore_glob = [] if find_spec("pyspark") else ["*"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that need Java, so that `make test` runs them only once (`-m "not spark"`)."""
    for item in items:
        groups = [mark.args for mark in item.iter_markers("xdist_group")]
        needs_java = {("spark",), ("streams",), ("faults",)} & set(groups)
        if needs_java or "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
            if not groups:
                item.add_marker(pytest.mark.xdist_group("spark"))


GENERATED = {"spark.sql.codegen.factoryMode": "FALLBACK", "spark.sql.codegen.wholeStage": "true"}
INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""For few rows, generating and compiling Java takes four times as long as interpreting."""


@contextmanager
def generated_code(spark: SparkSession) -> Iterator[None]:
    """Spark as users have it: it may not compute what a condition of the query excludes."""
    before = {name: str(spark.conf.get(name)) for name in INTERPRETED}
    for name in INTERPRETED:
        spark.conf.set(name, GENERATED[name])
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests of a process, because starting it takes seconds."""
    from zenlake.lake.spark import QUICK_START, session

    settings = {**QUICK_START, "spark.sql.shuffle.partitions": "2"}
    if not IS_FULL:
        settings |= INTERPRETED
    started = session("local[2]", app="zenlake tests", **settings)
    yield started
    started.stop()
