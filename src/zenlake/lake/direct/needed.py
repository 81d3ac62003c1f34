"""Needed: which tables a query uses, and which tables must be read for them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from zenlake.lake.derive.duck.build import BUILDS
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.written import WRITTEN

_WORD: Final = re.compile(r"\w+")
_BY_TEXT: Final = re.compile(r"\bquery(?:_table)?\s*\(", re.IGNORECASE)
"""Functions of DuckDB that take the name of a table, or a query, as text."""


def tables_in(sql: str) -> frozenset[str]:
    """Tables that the query may use: all whose name is anywhere in its text.

    A table too many costs time. A missing one would be empty and give a wrong result: if the query
    can compute the name of a table, all tables are returned.
    """
    if _BY_TEXT.search(sql):
        return frozenset(TABLES)
    words = {word.lower() for word in _WORD.findall(sql)}
    return frozenset(name for name in TABLES if name in words)


def read_for(tables: Collection[str]) -> list[str]:
    """The tables that reading must give: these, and those that others are derived from."""
    builds = [build for build in BUILDS if not build.gives.isdisjoint(tables)]
    wanted = set(tables).union(*(build.reads for build in builds))
    return [name for name in WRITTEN if name in wanted]
