"""Finds where the exact reader makes rows: calls of record classes, with the columns they name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.paths import ROOT
from zenlake.lake.schema.generate_records import class_name, record_types
from zenlake.lake.schema.table import Table
from zenlake.lake.schema.written import WRITTEN

SOURCES = ROOT / "src" / "zenlake"
FOLDERS = ("trace/rows", "lake/exact_reader")
TABLES_BY_CLASS = {class_name(name): name for name in WRITTEN}


class FillPlace(NamedTuple):
    table: str
    columns: list[str]
    where: str


def fill_places() -> Iterator[FillPlace]:
    for path in (path for folder in FOLDERS for path in sorted((SOURCES / folder).glob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                table = TABLES_BY_CLASS.get(node.func.id)
                if table is not None:
                    columns = [one.arg or "**" for one in node.keywords]
                    yield FillPlace(table, columns, f"{path.name}:{node.lineno}")


def problems(tables: Iterable[Table]) -> list[str]:
    """One line for each column that a call omits, or that is not declared."""
    places = list(fill_places())
    found = []
    for table in tables:
        declared = list(record_types(table))
        own = [place for place in places if place.table == table.name]
        if not own:
            found.append(f"{table.name}: the exact reader makes no rows")
        for _, columns, where in own:
            found += [
                f"{table.name}.{name}: the exact reader does not fill it, {where}"
                for name in declared
                if name not in columns
            ]
            found += [
                f"{table.name}.{name}: the exact reader fills it, not declared, {where}"
                for name in columns
                if name not in declared
            ]
    return found
