"""Needed: which tables a query asks, and what must be read for them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from zenlake.lake.derive.duck.build import BUILDS
from zenlake.lake.exact_reader.row_tables import WRITTEN
from zenlake.lake.schema import TABLES

_WORD: Final = re.compile(r"\w+")
_BY_TEXT: Final = re.compile(r"\bquery(?:_table)?\s*\(", re.IGNORECASE)
"""Functions of DuckDB that take the name of a table, or a whole query, as a text."""


def tables_in(sql: str) -> frozenset[str]:
    """Tables that the query may ask: all whose name is in its text, wherever it is.

    A table too many costs time. One too few would be empty, which looks like an answer: where a
    name may be put together from parts, all tables are meant.
    """
    if _BY_TEXT.search(sql):
        return frozenset(TABLES)
    words = {word.lower() for word in _WORD.findall(sql)}
    return frozenset(name for name in TABLES if name in words)


def read_for(tables: Collection[str]) -> list[str]:
    """What reading has to give: these tables, and what others of them are put together from."""
    builds = [build for build in BUILDS if not build.gives.isdisjoint(tables)]
    wanted = set(tables).union(*(build.reads for build in builds))
    return [name for name in WRITTEN if name in wanted]
