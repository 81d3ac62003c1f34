"""These tests need what `pip install 'zenlake[lake]'` brings."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

collect_ignore_glob = [] if find_spec("pyspark") else ["*"]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One for all tests of a process; starting it takes seconds."""
    from zenlake.lake.spark import session

    started = session("local[2]", app="zenlake tests", **{"spark.sql.shuffle.partitions": "2"})
    yield started
    started.stop()
