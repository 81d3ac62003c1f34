"""The prompt of `zenlake sql`: runs queries until Ctrl-D."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Final

from zenlake.cli.output import print_error, safe
from zenlake.errors import ZenlakeError

if TYPE_CHECKING:
    from zenlake.lake.publish import Snapshot
    from zenlake.lake.sql.functions import Result

ROWS_MAX: Final = 200
"""The most rows that are shown of a result: about what a terminal can scroll back."""
_FIRST: Final = "zenlake> "
_MORE: Final = "      -> "
_END: Final = ("exit", "quit", r"\q", ".quit", ".exit")
_ASK_HELP: Final = ("help", r"\h", ".help", "?")
_HELP: Final = """\
A query ends with ; or an empty line. Ctrl-C cancels a query, Ctrl-D leaves the prompt.
  SHOW TABLES;            the tables
  DESCRIBE queries;       the columns of a table
  FROM queries LIMIT 5;   its first rows
  help, exit"""
_KEYWORDS: Final = ("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "DESCRIBE")

Ask = Callable[[str], AbstractContextManager["Result"]]
Format = Callable[["Result"], Iterator[str]]
Bounded = Callable[[Callable[[], int]], int]


def run_prompt(snapshot: Snapshot, ask: Ask, form: Format, bounded: Bounded) -> int:
    """`ask` runs a query, `form` formats its rows as lines, `bounded` runs both within limits."""
    _complete_words(snapshot)
    print(f"Tables: {', '.join(snapshot.manifest.tables)}.\nType help for help, exit to leave.")
    while True:
        try:
            query = _typed()
        except KeyboardInterrupt:
            print()
            continue
        except EOFError:
            print()
            return 0
        if query.lower() in _END:
            return 0
        if query.lower() in _ASK_HELP:
            print(_HELP)
        elif query:
            _answer(query, ask, form, bounded)


def _typed() -> str:
    lines = [input(_FIRST)]
    word = lines[0].strip()
    if not word or word.lower() in (*_END, *_ASK_HELP):
        return word
    while lines[-1].strip() and not lines[-1].rstrip().endswith(";"):
        lines.append(input(_MORE))
    return "\n".join(lines).strip()


def _answer(query: str, ask: Ask, form: Format, bounded: Bounded) -> None:
    """Run a query; an error does not end the prompt."""
    try:
        bounded(lambda: _print_answer(query, ask, form))
    except ZenlakeError as error:
        print_error(str(error))
    except KeyboardInterrupt:
        print_error("interrupted")


def _print_answer(query: str, ask: Ask, form: Format) -> int:
    with ask(query) as result:
        shown = result._replace(rows=islice(result.rows, ROWS_MAX))
        for line in form(shown):
            print(line)
        if next(result.rows, None) is not None:
            print(f"... more than {ROWS_MAX} rows: LIMIT them, or write all to a file: sql -o")
    return 0


def _complete_words(snapshot: Snapshot) -> None:
    """Complete names of tables and columns, if Python was built with readline."""
    with suppress(ImportError):
        import readline

        from zenlake.lake.schema import TABLES

        tables = snapshot.manifest.tables
        columns = {name for table in tables if table in TABLES for name in TABLES[table].names}
        words = sorted({*tables, *columns, *_KEYWORDS})

        def complete(typed: str, number: int) -> str | None:
            fitting = [word for word in words if word.lower().startswith(typed.lower())]
            return safe(fitting[number]) + " " if number < len(fitting) else None

        readline.set_completer(complete)
        readline.parse_and_bind("tab: complete")
