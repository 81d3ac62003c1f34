"""SQL over a snapshot of a lake, on DuckDB.

The database is in memory and can open only the files of the snapshot. It could still overwrite
those, so anything but a query is refused before it runs.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import duckdb
from duckdb.func import FunctionNullHandling

from zenlake.exit_cleanups import temporary_folder
from zenlake.lake.errors import LakeError
from zenlake.lake.path_safety import check_files, check_table_name
from zenlake.lake.publish import Snapshot
from zenlake.lake.publish.local_copy import on_this_machine
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import DUCKDB_TYPES
from zenlake.lake.sql.bounded_process import engine_bytes, too_much_memory
from zenlake.lake.sql.functions import FUNCTIONS, READ_ONLY, Result, check_literals, sql_error
from zenlake.lake.sql.time_limit import TimeLimit
from zenlake.limits import SQL_BYTES_MAX, SQL_SPILL_BYTES_MAX

_ROWS_AT_ONCE: Final = 4_096
_JOIN_S: Final = 1.0
_EXPLAIN: Final = re.compile(
    r"""(?:\s|--[^\r\n]*\n)* explain\s+ (?:analyze\s+)? (?:\((?:[\w\s,]|'\w*')*\)\s*)?""",
    re.IGNORECASE | re.VERBOSE,
)
"""EXPLAIN with its options, without comments of the kind `/* */`, which may hide a bracket."""
_ADVICE: Final = "\nPossible solutions"
"""Start of DuckDB's advice to change settings, which are locked here."""
_PLACE: Final = re.compile(r"\n+LINE (\d+): (.*)\n( *)\^", re.DOTALL)
_UNKNOWN_TABLE: Final = re.compile(r"Table with name (\w+) does not exist")
_GLOB: Final = re.compile(r"[*?\[]")
_SELECT: Final = "SELECT"
_PIVOT: Final = "MULTI"
"""PIVOT first queries its columns."""
_CHANGES: Final = re.compile(r"\b(?:copy|insert|update|delete|merge)\b", re.IGNORECASE)
"""A query may have statements that change something: `WITH x AS (COPY ...) SELECT ...`."""
_QUERY_NODES: Final = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
"""Nodes of DuckDB's syntax tree for queries; others are such as COPY_QUERY_NODE."""

_DESCRIBE: Final = re.compile(r"\s*desc(?:ribe)?\s+(?:table\s+)?\"?(\w+)\"?\s*;?\s*", re.IGNORECASE)


@contextmanager
def query(
    snapshot: Snapshot,
    sql: str,
    seconds_max: float | None = None,
    bytes_max: int = SQL_BYTES_MAX,
) -> Iterator[Result]:
    """Runs one query; its rows can be read inside the `with`.

    It fails when DuckDB has worked for `seconds_max`, or needs more than its part of `bytes_max`.
    Only `bounded_process` limits memory that DuckDB does not count.
    """
    limit = TimeLimit(seconds_max)
    with _opened_for(sql, snapshot, bytes_max) as connection:
        try:
            sql = _describe_query(sql) or sql
            with limit.watching(connection.interrupt):
                execute(connection, sql)
            description = connection.description or []
            yield Result([column[0] for column in description], _rows(connection, limit))
        except duckdb.Error as error:
            raise _limit_error(error, limit, bytes_max) or _query_error(error) from None


def write_parquet(
    snapshot: Snapshot,
    sql: str,
    path: Path,
    seconds_max: float | None = None,
    bytes_max: int = SQL_BYTES_MAX,
) -> int:
    """Runs one query and writes its rows; returns their number. OSError if the disk is full."""
    limit = TimeLimit(seconds_max)
    with _opened_for(sql, snapshot, bytes_max, (str(path),)) as connection:
        try:
            # The query is on lines of its own, because it may end in a comment.
            inner = connection.extract_statements(sql)[0].query.strip().rstrip(";")
            how = "FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false"
            with limit.watching(connection.interrupt):
                execute(connection, f"COPY (\n{inner}\n) TO {quoted(str(path))} ({how})")
            return int((connection.fetchone() or (0,))[0])
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) and str(path) in str(error):
                raise OSError(" ".join(str(error).split())) from None
            raise _limit_error(error, limit, bytes_max) or _query_error(error, 1) from None


def check(snapshot: Snapshot, sql: str, seconds_max: float) -> None:
    """Error if `sql` is not a valid query of the tables, which have no rows here.

    The query runs, because DuckDB reports the position of an error only then.
    """
    limit = TimeLimit(seconds_max, is_error=False)
    with _opened_for(sql, snapshot, SQL_BYTES_MAX) as connection:
        try:
            [statement] = connection.extract_statements(sql)
            # PIVOT needs values for its columns, of which there are none.
            if statement.type.name == "SELECT":
                with limit.watching(connection.interrupt):
                    execute(connection, sql)
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            return  # the statement is valid up to this limit
        except duckdb.Error as error:
            raise _query_error(error) from None


@contextmanager
def _opened_for(
    sql: str, snapshot: Snapshot, bytes_max: int, writable: Sequence[str] = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database for one query; error if `sql` is anything else."""
    check_literals(sql)
    with (
        temporary_folder() as spill,
        opened(snapshot, spill, engine_bytes(bytes_max), writable) as connection,
    ):
        try:
            _check_reads_only(connection, sql)
        except duckdb.Error as error:
            raise _query_error(error) from None
        yield connection


@contextmanager
def opened(
    snapshot: Snapshot,
    spill: str | Path,
    bytes_max: int | None = None,
    writable: Sequence[str] = (),
    only: Collection[str] | None = None,
    is_loaded: bool = False,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the tables as views. It writes only to memory, to the folder `spill` and to
    the paths in `writable`.

    `bytes_max` limits its memory, by default to a share of the machine's. `only` has the tables to
    open; with `is_loaded` they are copied into the database, so that no query opens the files
    again.
    """
    with (
        on_this_machine(snapshot, only) as here,
        duckdb.connect(":memory:") as connection,
    ):
        files_by_table = _checked_files(here, only)
        # DuckDB would draw its progress bar on standard output if Python runs no file (`-c`).
        connection.execute("SET enable_progress_bar = false")
        paths = list(writable)
        broken: dict[str, LakeError] = {}
        kind = "TABLE" if is_loaded else "VIEW"
        for table, files in files_by_table.items():
            source = _source(table, files)
            try:
                columns = _columns(connection, table, source, snapshot)
                connection.execute(f'CREATE {kind} "{table}" AS SELECT {columns} FROM {source}')
            except duckdb.Error as error:
                # An error only for queries of this table.
                broken[table] = LakeError(_damage(error, files), snapshot.directory / table)
            paths += {*files, *map(_literal, files)}
        for name, function in FUNCTIONS.items():
            arguments: Any = [DUCKDB_TYPES[kind] for kind in function.argument_types]
            result = DUCKDB_TYPES[function.result_type]
            special = FunctionNullHandling.SPECIAL  # the result may be null
            connection.create_function(
                name, function.call, arguments, result, null_handling=special
            )
        connection.execute(f"SET temp_directory = {quoted(str(spill))}")
        connection.execute(f"SET max_temp_directory_size = '{SQL_SPILL_BYTES_MAX}B'")
        if bytes_max is not None:
            connection.execute(f"SET memory_limit = '{bytes_max}B'")
        connection.execute("SET TimeZone = 'UTC'")
        # Otherwise the name of an unknown table could be one of our variables.
        connection.execute("SET python_enable_replacements = false")
        connection.execute(f"SET allowed_paths = {_list(paths)}")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        try:
            yield connection
        except (duckdb.Error, LakeError) as error:
            unknown = _UNKNOWN_TABLE.search(str(error))
            if unknown is not None and unknown[1].lower() in broken:
                raise broken[unknown[1].lower()] from None
            raise


def _source(table: str, files: Sequence[str]) -> str:
    """The rows of a table. DuckDB reads no list without a file, which other writers may leave."""
    if files or table not in TABLES:
        return f"read_parquet({_list(map(_literal, files))}, union_by_name=true)"
    columns = (
        f'CAST(NULL AS {DUCKDB_TYPES[one.type]}) AS "{one.name}"' for one in TABLES[table].columns
    )
    return f"(SELECT {', '.join(columns)} WHERE false)"


def _damage(error: duckdb.Error, files: Sequence[str]) -> str:
    """Why a table cannot be opened, with the name of a missing file."""
    for file in files:
        if not os.path.exists(file):
            return f"the file {os.path.basename(file)} is missing"
    return " ".join(_PLACE.split(str(error))[0].split())


def _checked_files(snapshot: Snapshot, only: Collection[str] | None) -> dict[str, list[str]]:
    """The files by table; error if the metadata leads outside the lake."""
    found = {}
    for table in snapshot.manifest.tables:
        if only is None or table in only:
            check_table_name(table, snapshot.directory)
            files = snapshot.files(table)
            check_files(snapshot.directory, files)
            found[table] = [str(file) for file in files]
    return found


def _columns(
    connection: duckdb.DuckDBPyConnection, table: str, source: str, snapshot: Snapshot
) -> str:
    """The columns of all files; a declared column that no file has is null.

    TIMESTAMPs are computed for rows that were written without them.
    """
    # Opening the files for their columns takes as long as many queries.
    manifest = snapshot.manifest
    if table not in TABLES or manifest.is_just_read:
        return "*"
    has_older_rows = manifest.has_older_rows
    found = {row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    replaced, added = [], []
    for one in TABLES[table].columns:
        value = f"CAST(NULL AS {DUCKDB_TYPES[one.type]})"
        if has_older_rows and one.computed_from in found:
            value = f"make_timestamp(\"{one.computed_from}\" // 1000) AT TIME ZONE 'UTC'"
        if one.name not in found:
            added.append(f', {value} AS "{one.name}"')
        elif has_older_rows and one.computed_from:
            replaced.append(f'{value} AS "{one.name}"')
    return (
        f"* REPLACE ({', '.join(replaced)}){''.join(added)}" if replaced else f"*{''.join(added)}"
    )


def _describe_query(sql: str) -> str | None:
    """DESCRIBE of a declared table with the meaning of columns, which DuckDB's own lacks."""
    match = _DESCRIBE.fullmatch(sql)
    table = None if match is None else TABLES.get(match[1].lower())
    if table is None:
        return None
    rows = ", ".join(f"({quoted(one.name)}, {quoted(one.comment)})" for one in table.columns)
    return f"""
        SELECT column_name, column_type, comment
        FROM (SELECT *, row_number() OVER () AS place FROM (DESCRIBE "{table.name}"))
        LEFT JOIN (VALUES {rows}) AS declared (name, comment) ON column_name = name
        ORDER BY place"""


def _check_reads_only(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise LakeError(f"expected one query, not {len(statements)}", "SQL")
    [statement] = statements
    text = sql
    if statement.type.name == "EXPLAIN":
        # EXPLAIN ANALYZE runs the statement.
        prefix = _EXPLAIN.match(sql)
        text = "" if prefix is None else sql[prefix.end() :]
        statements = connection.extract_statements(text)
    if len(statements) != 1 or not _is_query(connection, statements[0].type.name, text):
        raise LakeError(READ_ONLY, "SQL")


def _is_query(connection: duckdb.DuckDBPyConnection, kind: str, sql: str) -> bool:
    if kind not in (_SELECT, _PIVOT):
        return False
    if not _CHANGES.search(sql):
        return True
    if kind == _PIVOT:
        return False  # DuckDB has no syntax tree of it
    row = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone() or ("{}",)
    try:
        tree = json.loads(row[0])
    except RecursionError:
        return False
    return tree.get("error") is False and _node_types(tree) <= _QUERY_NODES


def _node_types(tree: Any) -> set[str]:
    found: set[str] = set()
    pending = [tree]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            kind = one.get("type")
            if isinstance(kind, str) and kind.endswith("_NODE"):
                found.add(kind)
            pending += one.values()
        elif isinstance(one, list):
            pending += one
    return found


def execute(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any] = ()) -> None:
    """Runs a statement in a thread of its own, so that the caller can be interrupted."""
    failures: list[BaseException] = []
    is_done = Event()

    def work() -> None:
        try:
            connection.execute(sql, list(values) or None)
        except BaseException as error:
            failures.append(error)
        finally:
            is_done.set()

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        # Not `Thread.join`: before Python 3.13 an interrupt breaks it.
        is_done.wait()
    except KeyboardInterrupt:
        connection.interrupt()
        is_done.wait()
        raise
    # A thread that still holds the connection when Python exits makes DuckDB's binding report
    # leaks.
    thread.join(_JOIN_S)
    if failures:
        raise failures[0]


def _rows(connection: duckdb.DuckDBPyConnection, limit: TimeLimit) -> Iterator[tuple[Any, ...]]:
    """Rows as they are fetched; DuckDB may still be working meanwhile."""
    while True:
        with limit.watching(connection.interrupt):
            rows = connection.fetchmany(_ROWS_AT_ONCE)
        if not rows:
            return
        yield from rows


def _literal(path: str) -> str:
    """A path with escapes, so that it is not read as a pattern."""
    return _GLOB.sub(r"[\g<0>]", path)


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _limit_error(error: duckdb.Error, limit: TimeLimit, bytes_max: int) -> LakeError | None:
    """The error of a statement that exceeded a limit; None for other errors."""
    if limit.is_over and isinstance(error, duckdb.InterruptException):
        return sql_error(limit.cause)
    text = str(error)
    # "MemoryError" comes from our functions, which run in Python.
    if isinstance(error, duckdb.OutOfMemoryException) or "MemoryError" in text:
        return too_much_memory(bytes_max, text.partition(_ADVICE)[0])
    return None


def _query_error(error: duckdb.Error, lines_before: int = 0) -> LakeError:
    text = str(error)
    place = _PLACE.search(text)
    if place is None:
        return sql_error(text)
    line, shown, spaces = int(place[1]), place[2], place[3]
    column = len(spaces) - len(f"LINE {line}: ") + 1
    line -= lines_before
    if shown.startswith("..."):  # DuckDB shows only a part of a long line
        return sql_error(f"{text[: place.start()]} (in line {line})")
    return sql_error(text[: place.start()], line, column)
