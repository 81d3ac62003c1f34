"""zenlake sql: questions to the tables of a lake or of captures."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from zenlake.cli.cells import CELL_CHARACTERS_MAX
from zenlake.cli.output import Lines
from zenlake.cli.sql_rows import csv_lines, json_lines, text_lines
from zenlake.cli.table_source import needs_extra, opened_captures, opened_lake
from zenlake.errors import LocalError
from zenlake.limits import SQL_SECONDS_MAX

if TYPE_CHECKING:
    from zenlake.lake.sql_functions import Result
    from zenlake.lake.store import Snapshot

_CAPTURE_ENDINGS = (".pcap", ".pcapng", ".cap", ".gz", ".zst")
EXAMPLES = """examples:
  zenlake sql robot.pcapng "SELECT kind, count(*) AS n FROM messages GROUP BY kind ORDER BY n DESC"
  zenlake sql monday.pcapng 'tuesday*.pcapng' "SELECT capture, count(*) FROM queries GROUP BY 1"
  zenlake sql --lake DIR "SELECT key, payload FROM samples WHERE ke_intersects(key, 'robot/**')"
  zenlake sql --lake DIR --json "SELECT * FROM queries WHERE verdict = 'timeout'" | jq .key
  zenlake sql --lake DIR --csv "FROM sessions" > sessions.csv
  zenlake sql --lake DIR "SHOW TABLES"
  zenlake sql --lake DIR "DESCRIBE samples"
  zenlake sql --lake DIR --master 'local[4]' - < long_query.sql

Captures are read into tables of a temporary folder (TMPDIR), by DuckDB, without Spark and Java:
only the tables that the query names. For many queries, or captures of gigabytes, make a lake once:
zenlake pipeline.

ke_intersects(a, b) is true where some key belongs to both, ke_includes(a, b) where every key of
b belongs to a; zenoh_explain(bytes) is what zenlake explain says of a message. ros_gid,
ros_sequence and ros_source_ns read attachments of ROS 2, ros_json(key or type, payload) its
messages. Bytes are shown as "text" where they are one, else as 0x and hexadecimal; --json and
--csv always write them in hexadecimal without 0x. In --csv a text that a spreadsheet would take
for a formula has a ' before it; --json gives it as it is. Without --master DuckDB answers, which
reads the dialect of PostgreSQL; with it Spark, in its own.
exit codes: 0 done; 1 done, but a capture is damaged and was read as far as possible; 2 no lake or
capture there, or a wrong query, with the place
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.usage = "zenlake sql [options] (CAPTURE... | --lake DIR) SQL"
    parser.set_defaults(words_go_to="words")
    add = parser.add_argument
    add(
        "words",
        nargs="+",
        metavar="CAPTURE SQL",
        help="captures, folders or patterns, unless there is a lake; then one query, "
        "or - to read it from standard input",
    )
    add("--lake", metavar="DIR", help="the lake's folder")
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
    if args.lake is None:
        captures, query = _captures_and_query(args)
        source = opened_captures("sql", args, captures, query)
    else:
        query = _query_of(args)
        source = opened_lake("sql", args.lake)
    with source as (tables, is_damaged):
        with _answer(tables.snapshot(), query, args.master, args.timeout) as result:
            lines = Lines(sys.stdout)
            try:
                for line in _formatted(result, args):
                    lines.add(line)
            finally:
                lines.flush()
        return 1 if is_damaged else 0


def _query_of(args: argparse.Namespace) -> str:
    *others, query = args.words
    if others:
        raise LocalError(f"one query at a time; a lake has its captures already: {others[0]}")
    return sys.stdin.read() if query == "-" else str(query)


def _captures_and_query(args: argparse.Namespace) -> tuple[list[str], str]:
    """The query comes last. Whatever is a file, or is named like a capture, is none."""
    if args.master is not None:
        raise LocalError("--master is for a lake: captures are read without Spark")
    *captures, query = args.words
    if query == "-":
        query = sys.stdin.read()
    elif os.path.lexists(query) or query.endswith(_CAPTURE_ENDINGS):
        raise LocalError(f"{query}: what is asked of it? the query comes last, after the captures")
    if not captures:
        raise LocalError("what is asked? give captures before the query, or --lake DIR")
    return captures, query


def _answer(
    snapshot: Snapshot, query: str, master: str | None, seconds_max: float
) -> AbstractContextManager[Result]:
    with needs_extra("sql", "lake" if master else "sql"):
        if master is None:
            from zenlake.lake import sql_duckdb

            return sql_duckdb.query(snapshot, query, seconds_max or None)
        from zenlake.lake import sql_spark

        return sql_spark.query(snapshot, query, master)


def _formatted(result: Result, args: argparse.Namespace) -> Iterator[str]:
    if args.json:
        return json_lines(result)
    if args.csv:
        return csv_lines(result, sys.stdout.isatty())
    return text_lines(result, None if args.full else CELL_CHARACTERS_MAX)
