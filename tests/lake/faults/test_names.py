"""Names with special characters of a shell, SQL or Spark, and names that are not text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lake.faults.captures import B
from tests.lake.faults.rough import NO_TEXT_NAME, ODD_NAME, RoughRun
from zenlake import lake as lakes_api
from zenlake.lake.publish import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("faults")


def test_captures_and_lakes_with_odd_names_are_read(rough: RoughRun, spark: SparkSession) -> None:
    entries = Store(rough.lake).manifest().captures
    assert entries[rough.path(ODD_NAME)].rows == entries[B].rows
    assert rough.path(NO_TEXT_NAME) not in entries
    opened = lakes_api.open(rough.plain, spark)
    total = sum(entry.rows.get("messages", 0) for entry in entries.values())
    assert opened.messages.count() == total
    assert opened.sql("SELECT * FROM messages").count() == total
    assert "messages into" in rough.output
