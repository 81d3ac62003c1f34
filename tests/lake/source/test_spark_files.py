"""Files are selected as in Spark's own sources: compared with `binaryFile` and Hadoop's globs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from tests.lake.plan.glob_cases import CASES
from zenlake.lake.plan.file_search import name_filter
from zenlake.lake.plan.inputs import inputs_of
from zenlake.lake.source.options import read_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

FILES = (
    *("a.pcap", "b.pcap", "c.pcap", "ab.pcap", "_x.pcap", ".y.pcap", "_k=1.pcap"),
    *("z.pcap._COPYING_", "sub/d.pcap", "sub/_e.pcap", "sub/deep/f.pcap", "_sub/g.pcap"),
    *("x{1}.pcap", "x[1].pcap"),
)
OLD = "b.pcap"
QUESTIONS: list[tuple[str, dict[str, str]]] = [
    ("", {"pathGlobFilter": "?.pcap"}),
    ("", {"pathGlobFilter": "{a,b}*"}),
    ("", {"pathGlobFilter": "[^a-b]*"}),
    ("", {"pathGlobFilter": r"x\{1\}*"}),
    ("", {"recursiveFileLookup": "true"}),
    ("", {"recursiveFileLookup": "true", "pathGlobFilter": "[b-f]*"}),
    ("", {"modifiedBefore": "2001-01-01T00:00:00"}),
    ("", {"modifiedAfter": "2001-01-01T00:00:00"}),
    ("*.pcap", {}),
    ("[a-b].pcap", {}),
    ("{a,sub/d}.pcap", {}),
    ("s*/{d,nothing}.pcap", {}),
    ("?ub", {"recursiveFileLookup": "true"}),
    (r"x\[1\].pcap", {}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("files")
    for name in FILES:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).touch()
    os.utime(place / OLD, (0, 0))
    return place


@pytest.mark.parametrize(("path", "options"), QUESTIONS, ids=str)
def test_files_are_those_of_a_spark_source(
    path: str, options: dict[str, str], folder: Path, spark: SparkSession
) -> None:
    given = f"{folder}/{path}"
    frame = spark.read.format("binaryFile").options(**options).load(given)
    expected = {unquote(file).removeprefix("file://") for file in frame.inputFiles()}
    asked = read_options({"path": given, **options})
    assert {one.path for one in inputs_of(asked.paths, asked.files)} == expected
    assert expected


def test_patterns_match_the_names_of_hadoop(spark: SparkSession) -> None:
    assert spark._jvm is not None
    pattern_of = spark._jvm.org.apache.hadoop.fs.GlobPattern
    for pattern, names, others in CASES:
        theirs = pattern_of(pattern)
        for name in names + others:
            ours = any(one.matches(name) for one in name_filter(pattern))
            assert ours == theirs.matches(name), (pattern, name)
