"""Queries whose objects were lost without `drop`: reported once per queryable, with a count."""

from __future__ import annotations

from typing import Final

from zenlake.session.incoming_query import IncomingQuery

# The count of all queryables that were undeclared.
_UNDECLARED: Final = 0


class LostQuery:
    """A query for the queryable `eid` whose Query object was garbage collected without `drop`."""

    __slots__ = ("eid", "query")

    def __init__(self, query: IncomingQuery, eid: int) -> None:
        self.query = query
        self.eid = eid


class LostQueries:
    """Counts lost queries by queryable, and makes the texts about them for the log."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self, key: str, eid: int, is_live: bool) -> str | None:
        """Count a loss on `key`; returns a text if it is the first of its queryable."""
        counted = eid if is_live else _UNDECLARED
        count = self._counts[counted] = self._counts.get(counted, 0) + 1
        if count > 1:
            return None
        return (
            f"a Query on `{key}` was lost without drop(); its final goes out now. "
            "More of the same queryable are counted and reported at its end"
        )

    def summarize(self, eid: int, key: str) -> str | None:
        """End the queryable on `key`; returns a text if more queries were lost than reported."""
        count = self._counts.pop(eid, 0)
        if count < 2:
            return None
        return f"{count} queries of the queryable on `{key}` were lost without drop()"
