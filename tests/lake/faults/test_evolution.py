"""R19: files that lack a column, or have one that nobody knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.lake.faults.captures import A, B
from tests.lake.faults.comparison import counts
from tests.lake.faults.rough import LOST, NEW, RoughRun
from zenlake import lake as lakes_api
from zenlake.cli.main import main
from zenlake.lake.schema import TABLES
from zenlake.lake.store import Store
from zenlake.lake.summary import summarise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")


def ask(rough: RoughRun, text: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["sql", "--lake", str(rough.lake), "--json", text]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_what_is_missing_is_null(rough: RoughRun, capsys: pytest.CaptureFixture[str]) -> None:
    """The later run has read captures beside old files."""
    for table, column in LOST.items():
        rows = rough.before[table]
        text = f'SELECT count(*) AS n, count("{column}") AS known, count({NEW}) AS extra'
        found = ask(rough, f"{text} FROM {table} WHERE capture = '{A}'", capsys)
        assert found == {"n": rows, "known": 0, "extra": rows}
        found = ask(rough, f"{text} FROM {table} WHERE capture = '{B}'", capsys)
        assert found["extra"] == 0
        assert found["known"] > 0
    found = summarise(Store(rough.lake).snapshot(), [A, B]).one("messages")
    assert found["messages"] > rough.before["messages"]


def test_frames_have_the_declared_columns(rough: RoughRun, spark: SparkSession) -> None:
    opened = lakes_api.open(rough.plain, spark)
    for table, column in LOST.items():
        frame = opened.table(table)
        assert frame.columns == TABLES[table].names
        old = frame.where(frame.capture == A)
        assert old.where(f"`{column}` IS NULL").count() == rough.before[table] == old.count()
        assert opened.sql(f"SELECT `{column}` FROM {table}").count() == counts(rough.lake)[table]
