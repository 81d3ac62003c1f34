"""R19: files that lack a column, or have an undeclared one."""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

from tests.lake.comparison import counts
from tests.lake.faults.captures import A, B
from tests.lake.faults.rough import LOST, NEW, RoughRun
from zenlake import lake as lakes_api
from zenlake.cli.main import main
from zenlake.lake.publish import Store
from zenlake.lake.schema import TABLES
from zenlake.lake.summary import summarise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")


def ask(rough: RoughRun, text: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["sql", "--lake", str(rough.lake), "--json", text]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_missing_columns_are_null(rough: RoughRun, capsys: pytest.CaptureFixture[str]) -> None:
    """The later run reads captures into a lake with old files."""
    for table, column in LOST.items():
        rows = rough.before[table]
        # Every run rewrites `captures`, with the declared columns.
        extra = "0" if table == "captures" else f"count({NEW})"
        text = f'SELECT count(*) AS n, count("{column}") AS known, {extra} AS extra'
        found = ask(rough, f"{text} FROM {table} WHERE capture = '{A}'", capsys)
        assert found == {"n": rows, "known": 0, "extra": 0 if table == "captures" else rows}
        found = ask(rough, f"{text} FROM {table} WHERE capture = '{B}'", capsys)
        assert found["extra"] == 0
        assert found["known"] > 0
    found = summarise(Store(rough.lake).snapshot(), [A, B]).one("messages")
    assert found["messages"] > rough.before["messages"]


def test_frames_have_the_declared_columns(rough: RoughRun, spark: SparkSession) -> None:
    """Two statements count all tables, because each statement takes Spark a second."""
    opened = lakes_api.open(rough.plain, spark)
    counted, asked = [], []
    for table, column in LOST.items():
        frame = opened.table(table)
        assert frame.columns == TABLES[table].names
        old = frame.where(frame.capture == A)
        counted.append(old.selectExpr(f"'{table}' AS name", f"`{column}` IS NULL AS is_null"))
        asked.append(f"SELECT '{table}' AS name, count(*) AS n, count(`{column}`) FROM {table}")
    found = (
        reduce(lambda one, other: one.unionAll(other), counted)
        .groupBy("name", "is_null")
        .count()
        .collect()
    )
    assert sorted(map(tuple, found)) == sorted((name, True, rough.before[name]) for name in LOST)
    rows = counts(rough.lake)
    for name, all_rows, known in opened.sql(" UNION ALL ".join(asked)).collect():
        assert all_rows == rows[name]
        assert 0 < known <= all_rows - rough.before[name]
