"""Rows: what was read and is not written yet, one list of tuples for each table.

A row names its session and nodes by reference until it is taken: a handshake tells who the
nodes are after its first message, and a link may turn out to belong to a session that is open.
Rows of a session that is not settled yet wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from zenlake.trace.session import Session

Row = tuple[Any, ...]

WITHOUT_REFERENCES: Final = ("sessions", "node_events")
"""Tables whose rows name nothing that may still change."""


class Rows:
    """Append to `tables[name]` a tuple of all columns but `capture`, in the declared order.

    A table that is not there is one that nobody wants.
    """

    __slots__ = ("capture", "tables")

    def __init__(self, capture: str, names: Iterable[str]) -> None:
        self.capture = capture
        self.tables: dict[str, list[Row]] = {name: [] for name in names}

    def __len__(self) -> int:
        return sum([len(rows) for rows in self.tables.values()])

    def take(self, is_end: bool) -> dict[str, list[Row]]:
        """The rows that can be written; at the end, all."""
        found: dict[str, list[Row]] = {}
        for name, rows in self.tables.items():
            if not rows:
                continue
            ready, waiting = rows, []
            if not is_end and name not in WITHOUT_REFERENCES:
                waiting = [row for row in rows if not is_settled(row[0])]
                if waiting:
                    ready = [row for row in rows if is_settled(row[0])]
            self.tables[name] = waiting
            if ready:
                found[name] = ready
        return found


def is_settled(session: Session | None) -> bool:
    """Whether all that a handshake tells of a session is told."""
    if session is None or session.is_multicast or not session.seen_start:
        return True
    return session.is_open or session.closed_ns is not None
