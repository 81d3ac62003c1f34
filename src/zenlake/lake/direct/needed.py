"""Needed: which tables a query uses."""

from __future__ import annotations

import re
from typing import Final

from zenlake.lake.schema import TABLES

_WORD: Final = re.compile(r"\w+")
_BY_TEXT: Final = re.compile(r"\bquery(?:_table)?\s*\(", re.IGNORECASE)
"""Functions of DuckDB that take the name of a table, or a query, as text."""


def tables_in(sql: str) -> frozenset[str]:
    """Tables that the query may use: all whose name is anywhere in its text.

    An unneeded table only costs time. A missing one would be empty and give a wrong result: if the
    query can compute the name of a table, all tables are returned.
    """
    if _BY_TEXT.search(sql):
        return frozenset(TABLES)
    words = {word.lower() for word in _WORD.findall(sql)}
    return frozenset(name for name in TABLES if name in words)
