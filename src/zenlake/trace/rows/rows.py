"""Rows: records that are not written yet, one list for each table.

A row refers to its session and nodes as objects until it is written: their ids become known
during the handshake, and a link may then join an open session. So rows wait until the handshake
of their session is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from zenlake.trace.rows.record import Record, SessionRecord
from zenlake.trace.session import Session

R = TypeVar("R", bound=Record)


class Rows:
    """The records of the wanted tables, by the name of the table."""

    __slots__ = ("capture", "tables")

    def __init__(self, capture: str, names: Iterable[str]) -> None:
        self.capture = capture
        self.tables: dict[str, list[Any]] = {name: [] for name in names}

    def __len__(self) -> int:
        return sum([len(rows) for rows in self.tables.values()])

    def wanted(self, record: type[R]) -> list[R] | None:
        """The list for records of this class; None if their table is not wanted."""
        return self.tables.get(record.TABLE)

    def pop_ready(self, is_end: bool) -> dict[str, list[Record]]:
        """Removes and returns the rows that can be written; at the end, all rows."""
        found: dict[str, list[Record]] = {}
        for name, rows in self.tables.items():
            if not rows:
                continue
            ready, waiting = rows, []
            if not is_end and isinstance(rows[0], SessionRecord):
                waiting = [row for row in rows if not is_handshake_over(row.session)]
                if waiting:
                    ready = [row for row in rows if is_handshake_over(row.session)]
            self.tables[name] = waiting
            if ready:
                found[name] = ready
        return found


def is_handshake_over(session: Session | None) -> bool:
    """Whether the ids and terms of a session are final."""
    if session is None or session.is_multicast or not session.seen_start:
        return True
    return session.is_open or session.closed_ns is not None
