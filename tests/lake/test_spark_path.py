"""Python processes of Spark import the installed PySpark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="needs zenlake[lake]")

from zenlake.lake import spark_path
from zenlake.lake.pipeline.tasks import run_tasks
from zenlake.lake.spark_path.sitecustomize import without_archives

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARCHIVES = [
    "/spark/python/lib/pyspark.zip",
    "/spark/python/lib/py4j-0.10.9.9-src.zip",
    "/spark/jars/spark-core_2.13-4.3.0.jar",
]
OTHERS = ["/jobs/pyspark_helpers.zip", "/jobs/py4j-tools.zip", "/jobs"]


def test_archives_of_spark_are_removed_from_the_path() -> None:
    assert without_archives([*ARCHIVES, *OTHERS, *sys.path]) == [*OTHERS, *sys.path]


def test_archives_stay_if_pyspark_is_not_installed(tmp_path: Path) -> None:
    path = [*ARCHIVES, str(tmp_path)]
    assert without_archives(path) == path


def test_python_imports_the_other_sitecustomize_too(tmp_path: Path) -> None:
    archive = tmp_path / "pyspark.zip"
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.other = __name__")
    path = os.pathsep.join([str(archive), spark_path.FOLDER, str(tmp_path)])
    shown = subprocess.run(
        [sys.executable, "-c", "import sys; print(sys.other, sys.path)"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.startswith("sitecustomize [")
    assert str(tmp_path) in shown
    assert str(archive) not in shown
    assert spark_path.FOLDER not in shown


def modules(job: dict[str, Any]) -> dict[str, Any]:
    import pyspark

    return {"pyspark": str(pyspark.__file__), "daemon": sys.argv[0], "pid": os.getpid()}


def test_workers_have_the_pyspark_of_the_driver(spark: SparkSession) -> None:
    import pyspark

    found = run_tasks(spark, modules, [{}, {}])
    assert {one["pyspark"] for one in found} == {pyspark.__file__}
    assert all(one["daemon"].endswith("spark_daemon.py") for one in found)


def test_process_that_plans_reads_has_the_pyspark_of_the_driver(
    spark: SparkSession, tmp_path: Path
) -> None:
    import pyspark
    from pyspark.sql.datasource import DataSource

    class Module(DataSource):
        """A source whose schema is the path of PySpark where it is planned."""

        @classmethod
        def name(cls) -> str:
            return "module"

        def schema(self) -> str:
            import pyspark

            return f"`{pyspark.__file__}` int"

    spark.dataSource.register(Module)
    assert spark.read.format("module").load().columns == [pyspark.__file__]
