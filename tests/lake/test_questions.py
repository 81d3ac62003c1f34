"""The statements of docs/questions.md run as written, and both engines return the same rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lake.conftest import generated_code
from tests.paths import DOCS
from tests.trace.sidecar import PATHS
from zenlake.lake import open as open_lake
from zenlake.lake import read
from zenlake.lake.publish import Store
from zenlake.lake.schema import generate
from zenlake.lake.sql import on_duckdb

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

_TEXT = (DOCS / "questions.md").read_text()
QUESTIONS = dict(re.findall(r"## (\d+)\. .*?```sql\n(.*?)```", _TEXT, re.DOTALL))
_WITHOUT_ANSWER = {"2"}
"""No bundled capture has a reply after the final response; tests of the tables make one."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    place = tmp_path_factory.mktemp("questions") / "lake"
    names = ("impaired", "liveliness", "peers_gossip", "pubsub_router", "queries", "routers_ring")
    read([str(PATHS[name]) for name in names], place, spark)
    return place


def test_page_has_ten_questions() -> None:
    assert [*QUESTIONS] == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize("number", QUESTIONS)
def test_both_engines_return_the_same_rows(number: str, lake: Path, spark: SparkSession) -> None:
    with on_duckdb.query(Store(lake).snapshot(), QUESTIONS[number]) as result:
        columns, by_duckdb = result.columns, [_plain(row) for row in result.rows]
    with generated_code(spark):
        frame = open_lake(lake, spark).sql(QUESTIONS[number])
        on_spark = [_plain(row) for row in frame.collect()]
    assert frame.columns == columns
    assert on_spark == by_duckdb
    assert bool(by_duckdb) == (number not in _WITHOUT_ANSWER)


def _plain(row: Any) -> tuple[Any, ...]:
    """Figures rounded to the digits that both engines compute equally."""
    return tuple(
        round(float(value), 6) if isinstance(value, float) or hasattr(value, "is_signed") else value
        for value in row
    )


def test_lake_opens_as_frames(lake: Path, spark: SparkSession) -> None:
    opened = open_lake(lake, spark)
    assert opened.queries.where("verdict = 'timeout'").count() > 0
    assert opened.version == 1
    comments = {field.name: field.metadata.get("comment") for field in opened.queries.schema}
    assert comments["reason"] == "the verdict in words, with figures"
    with pytest.raises(AttributeError, match="no table 'querys'"):
        _ = opened.querys


def test_data_dictionary_is_that_of_the_schemas() -> None:
    printed = DOCS / "reference" / "tables.md"
    assert printed.read_text("utf-8") == generate.page()
