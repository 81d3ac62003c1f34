"""A column that is declared and not filled, or filled and not declared, is named in an error.

Each test changes a declaration in memory, as if the other places had been forgotten.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tests.lake.fast_reader.captures import plain, surveyed
from tests.lake.schema.fill_places import fill_places, problems
from tests.trace.sidecar import PATHS
from zenlake.lake.exact_reader.row_tables import check_records
from zenlake.lake.fast_reader.columns.columnar_reader import _BUILDERS
from zenlake.lake.merge.split import Split, read_split
from zenlake.lake.schema import generate_records
from zenlake.lake.schema.filled import SchemaError
from zenlake.lake.schema.table import STRING, Column, Table
from zenlake.lake.schema.written import WRITTEN
from zenlake.trace.rows._generated.records import RECORDS

# Tables that the fast reader builds in columns, each with a capture that has rows in it.
IN_COLUMNS = {
    "batches": "queries",
    "messages": "queries",
    "samples": "metadata",
    "exchange_events": "queries",
    "declare_events": "liveliness",
    "interest_events": "liveliness",
}


def with_column(table: Table) -> Table:
    return Table(table.name, table.comment, (*table.columns, Column("added", STRING, "new")))


def without_last(table: Table) -> tuple[Table, str]:
    """The table without its last column, and the name of that column."""
    columns = table.base.columns
    return Table(table.name, table.comment, columns[:-1]), columns[-1].name


def read_on_the_fast_reader(table: str, folder: Path) -> None:
    path = plain(PATHS[IN_COLUMNS[table]], folder)
    survey = surveyed(path)
    assert survey.regular.all(), "the exact reader would read a part of it"
    read_split(Split(path, path, survey, only=frozenset({table})), lambda tables: None)


def test_records_are_what_the_declarations_say() -> None:
    text = generate_records.TARGET.read_text("utf-8")
    assert text == generate_records.module_source(), "run `make generate`"


@pytest.mark.parametrize("name", WRITTEN)
def test_a_record_has_the_declared_columns_in_their_order(name: str) -> None:
    record = RECORDS[name]
    assert name == record.TABLE
    assert ["capture", *record.COLUMNS] == WRITTEN[name].base.names


def test_every_row_of_the_exact_reader_names_all_columns() -> None:
    assert problems(WRITTEN.values()) == []


@pytest.mark.parametrize("name", WRITTEN)
def test_a_new_column_is_missing_in_the_exact_reader(name: str) -> None:
    changed = with_column(WRITTEN[name])
    with pytest.raises(SchemaError, match=f"^{name}: the exact reader does not fill 'added'$"):
        check_records([changed])
    places = [place.where for place in fill_places() if place.table == name]
    assert places
    assert problems([changed]) == [
        f"{name}.added: the exact reader does not fill it, {where}" for where in places
    ]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_removed_column_is_undeclared_in_the_exact_reader(name: str) -> None:
    changed, column = without_last(WRITTEN[name])
    with pytest.raises(
        SchemaError, match=f"^{name}: the exact reader fills '{column}', which is not declared$"
    ):
        check_records([changed])
    places = [place.where for place in fill_places() if place.table == name]
    assert problems([changed]) == [
        f"{name}.{column}: the exact reader fills it, not declared, {where}" for where in places
    ]


def test_a_table_without_a_record_is_named() -> None:
    table = Table("unread", "made by no reader", (Column("capture", STRING, "file"),))
    with pytest.raises(SchemaError, match=r"^unread: the exact reader does not fill 'capture'$"):
        check_records([table])
    assert problems([table]) == ["unread: the exact reader makes no rows"]


def test_a_record_asks_for_a_new_column_by_name() -> None:
    """Without a default, so that the type checker names each place that forgets it."""
    source = generate_records.module_source([with_column(WRITTEN["samples"])])
    [made] = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    assert [argument.arg for argument in made.args.args] == ["self"]
    assert made.args.kwonlyargs[-1].arg == "added"
    assert made.args.kw_defaults == [None] * len(made.args.kwonlyargs)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_record_is_made_of_its_columns_and_no_others(name: str) -> None:
    make: Any = RECORDS[name]
    columns = dict.fromkeys(make.COLUMNS)
    make(**columns)
    with pytest.raises(TypeError, match="keyword argument"):
        make(**columns, added=None)
    for forgotten in columns:
        with pytest.raises(TypeError, match=forgotten):
            make(**{column: None for column in columns if column != forgotten})


def test_all_tables_in_columns_are_tried() -> None:
    assert set(IN_COLUMNS) == {"batches", *_BUILDERS}


@pytest.mark.parametrize("name", IN_COLUMNS)
def test_a_new_column_is_missing_in_the_fast_reader(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_on_the_fast_reader(name, tmp_path)
    monkeypatch.setitem(WRITTEN, name, with_column(WRITTEN[name]))
    with pytest.raises(SchemaError, match=f"^{name}: the fast reader does not fill 'added'$"):
        read_on_the_fast_reader(name, tmp_path)


@pytest.mark.parametrize("name", IN_COLUMNS)
def test_a_removed_column_is_undeclared_in_the_fast_reader(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed, column = without_last(WRITTEN[name])
    monkeypatch.setitem(WRITTEN, name, changed)
    with pytest.raises(
        SchemaError, match=f"^{name}: the fast reader fills '{column}', which is not declared$"
    ):
        read_on_the_fast_reader(name, tmp_path)
