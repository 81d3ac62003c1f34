"""WRITTEN: the tables that reading a capture gives; all others are derived from these."""

from __future__ import annotations

from typing import Final

from zenlake.lake.schema.published import TABLES
from zenlake.lake.schema.staged import STAGED
from zenlake.lake.schema.table import Table

WRITTEN: Final[dict[str, Table]] = {
    name: TABLES[name]
    for name in ("batches", "messages", "samples", "sessions", "losses", "violations")
} | STAGED

SESSION: Final = "session"
NODE: Final = "node"

_REFERENCES: Final = {
    "session": SESSION,
    "sender_zid": NODE,
    "receiver_zid": NODE,
    "requester_zid": NODE,
    "responder_zid": NODE,
}
_SETTLED: Final = frozenset(("sessions",))
"""Tables whose rows are made when nothing can change their session any more."""


def references_of(table: Table) -> dict[str, str]:
    """Columns that name a SESSION or a NODE, whose id a later packet may tell.

    The exact reader keeps a reference in such a column until it writes the row.
    """
    if SESSION not in table.names or table.name in _SETTLED:
        return {}
    return {name: _REFERENCES[name] for name in table.names if name in _REFERENCES}
