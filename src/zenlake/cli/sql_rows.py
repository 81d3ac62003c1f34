"""The rows of a result as lines: a text table, JSON or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from zenlake.cli.cells import cell_json, cell_text
from zenlake.cli.output import safe
from zenlake.cli.table import table_lines

if TYPE_CHECKING:
    from zenlake.lake.sql.functions import Result

_LINE_END = "\r\n"
# The characters may also follow white space, or be full-width characters.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def text_lines(result: Result, characters_max: int | None) -> Iterator[str]:
    first = next(result.rows, None)
    columns = [cell_text(name, characters_max) for name in result.columns]
    right = [_is_number(value) for value in first or [None] * len(columns)]
    rows = (
        [cell_text(value, characters_max) for value in row] for row in _again(first, result.rows)
    )
    return table_lines(columns, rows, right)


def _again(first: Any, rest: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    if first is not None:
        yield first
        yield from rest


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def json_lines(result: Result) -> Iterator[str]:
    names = _different(result.columns)
    for row in result.rows:
        yield json.dumps(dict(zip(names, map(cell_json, row), strict=True)), ensure_ascii=True)


def _different(columns: list[str]) -> list[str]:
    """Unique names, which JSON objects need: the second `a` becomes `a_2`."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def csv_lines(result: Result, on_terminal: bool = False) -> Iterator[str]:
    line = _OneLine()
    # Before Python 3.13 `csv` quotes only the characters of its own line terminator.
    writer = csv.writer(line, lineterminator=_LINE_END)
    writer.writerow(map(_no_formula, result.columns))
    yield safe(line.text) if on_terminal else line.text
    for values in result.rows:
        cells = [_csv_cell(value) for value in values]
        # Unprintable characters are escaped on a terminal only.
        writer.writerow([safe(cell) for cell in cells] if on_terminal else cells)
        yield line.text


def _csv_cell(value: Any) -> str:
    is_text = isinstance(value, str)
    value = cell_json(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if is_text:
        return _no_formula(value)
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def _no_formula(text: str) -> str:
    """Spreadsheets run text that begins like this as a formula, and payloads are untrusted."""
    return f"'{text}" if text.startswith(_FORMULA) else text


class _OneLine:
    """A file for `csv` that keeps the last line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text.removesuffix(_LINE_END)
