"""WRITTEN: the tables that a capture is read into. All others are derived from them."""

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
_WRITTEN_AT_END: Final = frozenset(("sessions",))
"""Tables whose rows are made at the end of their session, when nothing changes it any more."""


def references_of(table: Table) -> dict[str, str]:
    """Columns with the id of a SESSION or a NODE, which a later packet may reveal.

    The exact reader keeps a reference in such a column until it writes the row.
    """
    if SESSION not in table.names or table.name in _WRITTEN_AT_END:
        return {}
    return {name: _REFERENCES[name] for name in table.names if name in _REFERENCES}
