"""Database: views of the selected part of a lake's tables, for all sections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import duckdb

from zenlake.exit_cleanups import temporary_folder
from zenlake.lake.errors import LakeError
from zenlake.lake.publish import Snapshot
from zenlake.lake.sql import on_duckdb
from zenlake.lake.sql.functions import sql_error
from zenlake.report.selection import Selection

# Each table, the columns that name its nodes, and whether its rows have a key.
_TABLES: Final = {
    "batches": ((), False),
    "messages": (("sender_zid", "receiver_zid"), True),
    "queries": (("requester_zid", "responder_zid"), True),
    "replies": (("requester_zid", "responder_zid"), True),
    "declarations": (("sender_zid", "receiver_zid"), True),
    "interests": ((), False),
    "sessions": (("opener_zid", "acceptor_zid"), False),
    "nodes": ((), False),
    "adjacencies": (("zid", "neighbour_zid"), False),
    "losses": (("sender_zid", "receiver_zid"), False),
    "violations": (("sender_zid",), False),
}
SAMPLES: Final = "samples"
"""The table of samples, for the stories, which do not need `trace_id`."""
TABLES_READ: Final = ("captures", *_TABLES, SAMPLES)
LOADED_BYTES_MAX: Final = 8 << 20
"""Size of compressed files; the rows of smaller tables are loaded into memory."""
_ROWS_AT_ONCE: Final = 256
"""Rows of one INSERT, which takes about as long as an INSERT of one row."""
_KEYED: Final = ("messages", "queries", "replies", "declarations")
_NODE: Final = "(SELECT node FROM selection)"
_WHOLE_STORY: Final = f"""(t.capture, coalesce(t.trace_id, -t.seq)) IN (
    SELECT (w.capture, coalesce(w.trace_id, -w.seq)) FROM queries w
    WHERE w.requester_zid = {_NODE} OR w.responder_zid = {_NODE})"""
"""A query is shown with all its hops, wherever the node stands among them."""


class Tables(Protocol):
    """A lake, or the tables of captures that were read without one."""

    @property
    def directory(self) -> Path: ...

    def snapshot(self) -> Snapshot: ...


class Database:
    """Runs queries; the views are named after the tables, with the prefix `chosen_`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, version: int, selection: Selection
    ) -> None:
        self.connection = connection
        """The connection, for queries on the tables themselves."""
        self.version = version
        self.selection = selection

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        on_duckdb.execute(self.connection, sql, values)
        return self.connection.fetchall()

    def records(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """The rows by column."""
        rows = self.rows(sql, *values)
        columns = [column[0] for column in self.connection.description or []]
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def one(self, sql: str, *values: Any) -> tuple[Any, ...]:
        """The only row of a result."""
        return self.rows(sql, *values)[0]

    def count(self, table: str) -> int:
        """The number of rows of a table, which a condition (`... WHERE ...`) may follow."""
        return int(self.one(f"SELECT count(*) FROM {table}")[0])

    def run(self, sql: str, *values: Any) -> None:
        on_duckdb.execute(self.connection, sql, values)

    def keep(self, name: str, columns: str, rows: list[tuple[Any, ...]]) -> None:
        """Creates a small temporary table."""
        self.run(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
        marks = f"({', '.join('?' * (columns.count(',') + 1))})"
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            several = rows[start : start + _ROWS_AT_ONCE]
            values = [value for row in several for value in row]
            self.run(f"INSERT INTO {name} VALUES {', '.join([marks] * len(several))}", *values)


@contextmanager
def opened(store: Tables, selection: Selection) -> Iterator[Database]:
    """A database with the views. Errors of DuckDB are raised as LakeError."""
    snapshot = store.snapshot()
    captures = snapshot.manifest.captures
    if not captures:
        raise LakeError("the lake is empty: read captures into it first", store.directory)
    for table in TABLES_READ:
        if table not in snapshot.manifest.tables:
            cause = f"the lake has no table {table!r}: read its captures again"
            raise LakeError(cause, store.directory)
    with (
        temporary_folder() as spill,
        on_duckdb.opened(
            snapshot, spill, only=TABLES_READ, is_loaded=_is_small(snapshot)
        ) as connection,
    ):
        try:
            zids = [zid for (zid,) in connection.execute("SELECT zid FROM nodes").fetchall()]
            checked = selection.checked(captures, zids, store.directory)
            database = Database(connection, snapshot.version, checked)
            _choose(database)
            yield database
        except duckdb.Error as error:
            raise sql_error(str(error)) from None


def _is_small(snapshot: Snapshot) -> bool:
    try:
        return snapshot.size(TABLES_READ) < LOADED_BYTES_MAX
    except OSError:
        return False  # a file is missing: the error of DuckDB names it


def _choose(database: Database) -> None:
    selection = database.selection
    database.keep("selection", "key VARCHAR, node VARCHAR, capture VARCHAR", [tuple(selection)])
    if selection.key is not None:
        # Keys are compared once each, not once for each row.
        every = " UNION ".join(f"SELECT key FROM {table}" for table in _KEYED)
        database.run(f"""CREATE TEMP TABLE selected_keys AS SELECT key FROM ({every})
            WHERE ke_intersects(key, (SELECT key FROM selection))""")
    for table in _KEYED:
        _make_view(database, table)
    if selection.is_by_message:
        database.run("CREATE TEMP TABLE fitting AS SELECT DISTINCT capture FROM chosen_messages")
    for table in _TABLES.keys() - set(_KEYED):
        _make_view(database, table)
    # If nothing matches, all captures: the page needs a time axis.
    _make_view(database, "captures")
    if not database.count("chosen_captures"):
        where = "capture = (SELECT capture FROM selection)" if selection.capture else "true"
        database.run(f"CREATE OR REPLACE TEMP VIEW chosen_captures AS FROM captures WHERE {where}")


def _make_view(database: Database, table: str) -> None:
    where = " AND ".join(_conditions(table, database.selection)) or "true"
    database.run(f"CREATE TEMP VIEW chosen_{table} AS SELECT * FROM {table} t WHERE {where}")


def _conditions(table: str, selection: Selection) -> Iterator[str]:
    zids, has_key = _TABLES.get(table, ((), False))
    if selection.capture is not None:
        yield "t.capture = (SELECT capture FROM selection)"
    if selection.is_by_message and table not in _KEYED:
        yield "t.capture IN (SELECT capture FROM fitting)"
    if selection.key is not None and has_key:
        yield "t.key IN (SELECT key FROM selected_keys)"
    if selection.node is None:
        return
    if table == "queries":
        yield _WHOLE_STORY
    elif zids:
        yield f"({' OR '.join(f't.{zid} = {_NODE}' for zid in zids)})"
