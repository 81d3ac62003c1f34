"""zenlake sql: queries the tables of a lake or of captures."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from zenlake.cli.capture_options import CAPTURE_ENDINGS
from zenlake.cli.cells import CELL_CHARACTERS_MAX
from zenlake.cli.decode.selection import refuse_an_input
from zenlake.cli.extras import needs_extra
from zenlake.cli.interrupts import ending_immediately
from zenlake.cli.output import print_lines, safe
from zenlake.cli.sql_file import AnswerFile
from zenlake.cli.sql_process import bounded
from zenlake.cli.sql_prompt import run_prompt
from zenlake.cli.sql_rows import csv_lines, json_lines, text_lines
from zenlake.cli.table_source import opened_captures, opened_lake, start_quickly
from zenlake.errors import LocalError
from zenlake.lake.address import is_stored
from zenlake.limits import SQL_BYTES_MAX, SQL_SECONDS_MAX

if TYPE_CHECKING:
    from zenlake.lake.publish import Snapshot
    from zenlake.lake.sql.functions import Result

MEMORY_MIB_MIN = 64
"""The memory that DuckDB needs for a row group."""
_DIGITS_MAX = 10
EXAMPLES = """examples:
  zenlake sql robot.pcapng "SELECT kind, count(*) AS n FROM messages GROUP BY kind ORDER BY n DESC"
  zenlake sql monday.pcapng 'tuesday*.pcapng' "SELECT capture, count(*) FROM queries GROUP BY 1"
  zenlake sql s3://bucket/captures "SELECT kind, count(*) FROM messages GROUP BY kind"
  zenlake sql --lake DIR "SELECT key, payload FROM samples WHERE ke_intersects(key, 'robot/**')"
  zenlake sql --lake DIR --json "SELECT * FROM queries WHERE verdict = 'timeout'" | jq .key
  zenlake sql --lake DIR -o sessions.parquet "FROM sessions"
  zenlake sql robot.pcapng
  zenlake sql --lake DIR "SHOW TABLES"
  zenlake sql --lake DIR "DESCRIBE samples"
  zenlake sql --lake DIR --master 'local[4]' - < long_query.sql

-o writes a file: .csv, .json (one object per line) or .parquet, which keeps the types. Without a
query, a prompt is shown on a terminal.

Captures are read into tables of a temporary folder (TMPDIR), by DuckDB, without Spark and Java:
only the tables that the query names; for a prompt, all. For many queries, or captures of gigabytes,
make a lake once: zenlake pipeline.

A query only reads these tables. On DuckDB its memory and time are bounded (--memory, --timeout); on
Spark only functions that compute are allowed.

ke_intersects(a, b) is true if some key belongs to both, ke_includes(a, b) if every key of b belongs
to a; zenoh_explain(bytes) is the output of zenlake explain for a message. ros_gid, ros_sequence and
ros_source_ns read attachments of ROS 2, ros_json(key or type, payload) its messages. Bytes are
shown as "text" if they are printable, else as 0x and hexadecimal; --json and --csv always write
them in hexadecimal without 0x. With --csv, text that a spreadsheet would run as a formula begins
with '; --json does not change it. Without --master, DuckDB runs the query, in the dialect of
PostgreSQL; with it, Spark does, in its own dialect.
exit codes: 0 done; 1 done, but a capture is damaged and was read as far as possible; 2 no such lake
or capture, or a wrong query, with the place
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.usage = "zenlake sql [options] (CAPTURE... | --lake DIR) [SQL]"
    parser.set_defaults(words_go_to="words")
    add = parser.add_argument
    add(
        "words",
        nargs="*",
        metavar="CAPTURE SQL",
        help="captures, folders or patterns, unless there is a lake; then one query, "
        "or - to read it from standard input",
    )
    add("--lake", metavar="DIR", help="the lake's folder")
    add(
        "--master", metavar="MASTER", help="run the query on Spark: local[4], spark://..., sc://..."
    )
    add("-o", "--output", metavar="FILE", help="write the rows to FILE: .csv, .json or .parquet")
    add("--full", action="store_true", help=f"do not shorten cells to {CELL_CHARACTERS_MAX}")
    add(
        "--timeout",
        type=_seconds,
        default=SQL_SECONDS_MAX,
        metavar="SECONDS",
        help=f"time limit of a query on DuckDB (default {SQL_SECONDS_MAX}; 0: never)",
    )
    add(
        "--memory",
        type=_mebibytes,
        default=SQL_BYTES_MAX >> 20,
        metavar="MIB",
        help=f"memory limit of a query on DuckDB (default {SQL_BYTES_MAX >> 20})",
    )
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="one JSON object per line")
    formats.add_argument("--csv", action="store_true", help="comma-separated, with a header")


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"not a number of seconds: {text!r}")
    return found


def _mebibytes(text: str) -> int:
    found = int(text) if text.isdecimal() and len(text) < _DIGITS_MAX else 0
    if found < MEMORY_MIB_MIN:
        raise argparse.ArgumentTypeError(f"not a number of MiB from {MEMORY_MIB_MIN} on: {text!r}")
    return found


def run(args: argparse.Namespace) -> int:
    start_quickly(args)
    # Spark is a separate process, which must not be left running. A prompt survives Ctrl-C.
    is_ended = args.master is not None and bool(args.words)
    with ending_immediately() if is_ended else nullcontext():
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    captures, query = _captures_and_query(args)
    if query is None and not _is_at_terminal(args):
        query = sys.stdin.read()
    if args.output is not None:
        refuse_an_input(args.output, captures)
    file = None if args.output is None else AnswerFile(args)
    try:
        if args.lake is None:
            source = opened_captures("sql", args, captures, query)
        else:
            named = None if query is None else _tables_in(query)
            source = opened_lake("sql", args.lake, named, is_copied=args.master is None)
        with source as (tables, is_damaged):
            _answer_all(tables.snapshot(), query, file, args)
            return 1 if is_damaged else 0
    finally:
        if file is not None:
            file.file.discard()


def _tables_in(query: str) -> frozenset[str]:
    with needs_extra("sql", "sql"):
        from zenlake.lake.direct.needed import tables_in
    return tables_in(query)


def _is_at_terminal(args: argparse.Namespace) -> bool:
    """Whether input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty() and args.output is None


def _answer_all(
    snapshot: Snapshot, query: str | None, file: AnswerFile | None, args: argparse.Namespace
) -> None:
    ask = partial(_answer, args, snapshot)
    if query is None:
        run_prompt(snapshot, ask, partial(_formatted, args), lambda work: bounded(work, args))
    elif file is not None:
        rows = bounded(lambda: file.write(snapshot, query, ask), args)
        print(f"{rows:,} rows written to {safe(args.output)}")
    else:
        bounded(lambda: _show(args, ask(query)), args)


def _show(args: argparse.Namespace, answer: AbstractContextManager[Result]) -> int:
    with answer as result:
        print_lines(_formatted(args, result))
    return 0


def _captures_and_query(args: argparse.Namespace) -> tuple[list[str], str | None]:
    """The captures and the query, which is last; None if the last word is or looks like a file."""
    words = list(args.words)
    query = None
    if words and not _is_capture(words[-1]):
        query = words.pop()
        query = sys.stdin.read() if query == "-" else query
    if args.lake is not None:
        if words:
            raise LocalError(f"expected one query, and no captures with --lake: {words[0]}")
        return [], query
    if args.master is not None:
        raise LocalError("--master is for a lake: captures are read without Spark")
    if not words:
        raise LocalError("nothing to query: name captures before the query, or --lake DIR")
    for word in words:
        if " " in word and not os.path.lexists(word) and not is_stored(word):
            raise LocalError(f"{word}: no such capture; the query comes last, after the captures")
    return words, query


def _is_capture(word: str) -> bool:
    return os.path.lexists(word) or word.endswith(CAPTURE_ENDINGS) or is_stored(word)


def _answer(
    args: argparse.Namespace, snapshot: Snapshot, query: str
) -> AbstractContextManager[Result]:
    with needs_extra("sql", "lake" if args.master else "sql"):
        if args.master is None:
            from zenlake.lake.sql import on_duckdb

            return on_duckdb.query(snapshot, query, args.timeout or None, args.memory << 20)
        from zenlake.lake.sql import on_spark

        return on_spark.query(snapshot, query, args.master)


def _formatted(args: argparse.Namespace, result: Result) -> Iterator[str]:
    if args.json:
        return json_lines(result)
    if args.csv:
        return csv_lines(result, sys.stdout.isatty())
    return text_lines(result, None if args.full else CELL_CHARACTERS_MAX)
