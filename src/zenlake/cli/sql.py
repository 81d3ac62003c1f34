"""zenlake sql: questions to the tables of a lake."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from zenlake.cli.cells import CELL_CHARACTERS_MAX, cell_json, cell_text
from zenlake.cli.output import Lines, safe
from zenlake.cli.table import table_lines
from zenlake.errors import LocalError
from zenlake.lake.store import Snapshot, Store
from zenlake.limits import SQL_SECONDS_MAX

if TYPE_CHECKING:
    from zenlake.lake.sql_functions import Result

_LINE_END = "\r\n"
# Also after white space, and as wide letters of East Asian scripts.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")

EXAMPLES = """examples:
  zenlake sql --lake DIR "SELECT kind, count(*) AS n FROM messages GROUP BY kind ORDER BY n DESC"
  zenlake sql --lake DIR "SELECT key, payload FROM samples WHERE ke_intersects(key, 'robot/**')"
  zenlake sql --lake DIR --json "SELECT * FROM queries WHERE verdict = 'timeout'" | jq .key
  zenlake sql --lake DIR --csv "FROM sessions" > sessions.csv
  zenlake sql --lake DIR "SHOW TABLES"
  zenlake sql --lake DIR "DESCRIBE samples"
  zenlake sql --lake DIR --master 'local[4]' - < long_query.sql

ke_intersects(a, b) is true where some key belongs to both, ke_includes(a, b) where every key of
b belongs to a; zenoh_explain(bytes) is what zenlake explain says of a message. ros_gid,
ros_sequence and ros_source_ns read attachments of ROS 2, ros_json(key or type, payload) its
messages. Bytes are shown as "text" where they are one, else as 0x and hexadecimal; --json and
--csv always write them in hexadecimal without 0x. In --csv a text that a spreadsheet would take
for a formula has a ' before it; --json gives it as it is. Without --master DuckDB answers, which
reads the dialect of PostgreSQL; with it Spark, in its own.
exit codes: 0 done; 2 no lake there, or a wrong query, with the place
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("query", metavar="SQL", help="one query; - reads it from standard input")
    add("--lake", required=True, metavar="DIR", help="the lake's folder")
    add("--master", metavar="MASTER", help="ask Spark: local[4], spark://..., sc://...")
    add("--full", action="store_true", help=f"cells longer than {CELL_CHARACTERS_MAX}, whole")
    add(
        "--timeout",
        type=_seconds,
        default=SQL_SECONDS_MAX,
        metavar="SECONDS",
        help=f"DuckDB ends a query after this (default {SQL_SECONDS_MAX}; 0: never)",
    )
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="one JSON object a line")
    formats.add_argument("--csv", action="store_true", help="comma-separated, with a header")


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"not a number of seconds: {text!r}")
    return found


def run(args: argparse.Namespace) -> int:
    query = sys.stdin.read() if args.query == "-" else args.query
    snapshot = Store(args.lake).snapshot()
    with _answer(snapshot, query, args.master, args.timeout) as result:
        lines = Lines(sys.stdout)
        try:
            for line in _formatted(result, args):
                lines.add(line)
        finally:
            lines.flush()
    return 0


def _answer(
    snapshot: Snapshot, query: str, master: str | None, seconds_max: float
) -> AbstractContextManager[Result]:
    try:
        if master is None:
            from zenlake.lake import sql_duckdb

            return sql_duckdb.query(snapshot, query, seconds_max or None)
        from zenlake.lake import sql_spark

        return sql_spark.query(snapshot, query, master)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("zenlake"):
            raise
        wanted = "zenlake sql needs the lake extra: pip install 'zenlake[lake]'"
        raise LocalError(wanted) from None


def _formatted(result: Result, args: argparse.Namespace) -> Iterator[str]:
    if args.json:
        return _json_lines(result)
    if args.csv:
        return _csv_lines(result)
    return _text_lines(result, None if args.full else CELL_CHARACTERS_MAX)


def _text_lines(result: Result, characters_max: int | None) -> Iterator[str]:
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


def _json_lines(result: Result) -> Iterator[str]:
    names = _different(result.columns)
    for row in result.rows:
        yield json.dumps(dict(zip(names, map(cell_json, row), strict=True)), ensure_ascii=True)


def _different(columns: list[str]) -> list[str]:
    """An object has each name once: the second `a` is `a_2`."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def _csv_lines(result: Result) -> Iterator[str]:
    on_terminal = sys.stdout.isatty()
    line = _OneLine()
    # Before Python 3.13 only what ends a line is quoted, so it must be said here.
    writer = csv.writer(line, lineterminator=_LINE_END)
    writer.writerow(map(_no_formula, result.columns))
    yield safe(line.text) if on_terminal else line.text
    for values in result.rows:
        cells = [_csv_cell(value) for value in values]
        # Programs get the text itself, terminals only what can be seen.
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
    """Keys and payloads are from strangers, and spreadsheets run what begins like this."""
    return f"'{text}" if text.startswith(_FORMULA) else text


class _OneLine:
    """Where `csv` writes: it holds the last line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text.removesuffix(_LINE_END)
