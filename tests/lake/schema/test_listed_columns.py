"""Columns and reasons that are listed outside the schema are declared there."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from zenlake.lake.fast_reader.assemble import reasons
from zenlake.lake.fast_reader.scan import statuses
from zenlake.lake.parquet import parquet_files, statistics
from zenlake.lake.publish.manifest import COUNTS
from zenlake.lake.schema import TABLES, published, written
from zenlake.lake.schema.spanning import SPANNING
from zenlake.lake.schema.staged import STAGED
from zenlake.lake.schema.table import BIGINT, STRING, TIMESTAMP, Column
from zenlake.lake.source import options

COLUMNS = [
    column
    for table in (*TABLES.values(), *STAGED.values(), *SPANNING.values())
    for column in table.columns
]
LISTS: dict[str, tuple[Collection[str], tuple[str, ...]]] = {
    "texts that rarely repeat": (parquet_files._EACH_DIFFERENT, (STRING,)),
    "numbers that repeat": (parquet_files._FEW_NUMBERS, (BIGINT,)),
    "ascending numbers": (parquet_files._ASCENDING, (BIGINT, TIMESTAMP)),
    "texts with bounds": (statistics.TEXTS, (STRING,)),
    "durations": (published._DURATIONS, (BIGINT,)),
    "references": (written._REFERENCES, (STRING,)),
    "times of rows": ([name for pair in options._TIMES for name in pair], (BIGINT,)),
}


@pytest.mark.parametrize("which", LISTS)
def test_every_listed_column_is_declared_with_its_type(which: str) -> None:
    names, types = LISTS[which]
    declared = {column.name for column in COLUMNS if column.type in types}
    assert [name for name in names if name not in declared] == []


def test_captures_has_a_column_for_each_counted_table() -> None:
    assert set(COUNTS) <= set(TABLES)
    assert set(COUNTS.values()) <= set(TABLES["captures"].names)


@pytest.mark.parametrize("name", [name for name in TABLES if "kind" in TABLES[name].names])
def test_column_kind_declares_its_values(name: str) -> None:
    """Only the kinds of messages come from the protocol."""
    kind: Column = TABLES[name].column("kind")
    assert bool(kind.values) == (name != "messages")


def test_every_reason_has_a_text() -> None:
    numbers = {
        name: value for name, value in vars(reasons).items() if name.isupper() and name != "WORDS"
    }
    assert sorted(numbers.values()) == list(range(len(reasons.WORDS)))


def test_every_status_that_refuses_a_file_has_a_cause() -> None:
    numbers = {
        name: value for name, value in vars(statuses).items() if name.isupper() and name != "CAUSES"
    }
    goes_on = {"END", "FULL", "SPECIAL", "CUT"}
    assert {numbers[name] for name in numbers.keys() - goes_on} == set(statuses.CAUSES)
