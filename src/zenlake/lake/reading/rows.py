"""Rows: what was read and is not written yet, one list of tuples for each table.

A row names its session and nodes by reference until it is taken: a handshake tells who the
nodes are after its first message, and a link may turn out to belong to a session that is open.
Rows of a session that is not settled yet wait.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from zenlake.lake.schema import STAGED, TABLES
from zenlake.lake.schema.table import BIGINT, Table
from zenlake.trace.session import Session

Row = tuple[Any, ...]

BIGINT_MAX: Final = (1 << 63) - 1
WRITTEN: Final[dict[str, Table]] = {
    name: TABLES[name] for name in ("batches", "messages", "samples", "sessions", "losses")
} | STAGED
"""What reading gives; the other tables are made of these."""

_REFERENCES: Final = {
    "session": "id",
    "sender_zid": "zid",
    "receiver_zid": "zid",
    "requester_zid": "zid",
    "responder_zid": "zid",
}
_WITHOUT_REFERENCES: Final = ("sessions", "node_events")


class Rows:
    """Append to `tables[name]` a tuple of all columns but `capture`, in the declared order."""

    __slots__ = ("capture", "tables")

    def __init__(self, capture: str) -> None:
        self.capture = capture
        self.tables: dict[str, list[Row]] = {name: [] for name in WRITTEN}

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))

    def take(self, is_end: bool = False) -> dict[str, pa.Table]:
        """The rows that can be written; at the end, all."""
        found = {}
        for name, rows in self.tables.items():
            if not rows:
                continue
            ready, waiting = rows, []
            if not is_end and name not in _WITHOUT_REFERENCES:
                waiting = [row for row in rows if not _is_settled(row[0])]
                if waiting:
                    ready = [row for row in rows if _is_settled(row[0])]
            self.tables[name] = waiting
            if ready:
                found[name] = to_arrow(WRITTEN[name], self.capture, ready)
        return found


def _is_settled(session: Session | None) -> bool:
    """Whether all that a handshake tells of a session is told."""
    if session is None or session.is_multicast or not session.seen_start:
        return True
    return session.is_open or session.closed_ns is not None


def to_arrow(table: Table, capture: str, rows: list[Row]) -> pa.Table:
    refers = table.name not in _WITHOUT_REFERENCES
    arrays = [pa.repeat(pa.scalar(capture, pa.string()), len(rows))]
    columns = zip(table.columns[1:], zip(*rows, strict=True), strict=True)
    for column, cells in columns:
        attribute = _REFERENCES.get(column.name) if refers else None
        type = table.arrow.field(column.name).type
        if attribute is not None:
            found = [None if cell is None else getattr(cell, attribute) for cell in cells]
            arrays.append(pa.array(found, type))
        elif column.type == BIGINT:
            arrays.append(pa.array([bounded(cell) for cell in cells], type))
        else:
            arrays.append(pa.array(cells, type))
    return pa.Table.from_arrays(arrays, schema=table.arrow)


def bounded(number: int | None) -> int | None:
    """A number of the wire or of a damaged file may have 64 bits or more: the nearest BIGINT."""
    if number is None or -BIGINT_MAX <= number <= BIGINT_MAX:
        return number
    return BIGINT_MAX if number > 0 else -BIGINT_MAX
