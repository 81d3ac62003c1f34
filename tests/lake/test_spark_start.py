"""Starting Spark leaves no files if a signal ends the process."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NoReturn

import pytest

pytest.importorskip("pyspark", reason="needs zenlake[lake]")

from zenlake.lake import spark
from zenlake.lake.errors import LakeError


def test_spark_creates_its_folders_in_the_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.conf import SparkConf
    from pyspark.core.context import SparkContext
    from pyspark.errors import PySparkException

    made = []

    def launch(conf: Any, output: Any) -> NoReturn:
        made.append(tempfile.mkdtemp())
        raise PySparkException("no Java today")

    before = tempfile.gettempdir()
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launch)
    with pytest.raises(LakeError, match="no Java today"):
        spark._start(SparkConf(loadDefaults=False))
    assert [Path(one).parent for one in made] == [Path(spark._temporary_folder())]
    assert tempfile.gettempdir() == before
