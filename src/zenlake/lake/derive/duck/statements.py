"""Statements of `lake/derive/steps` in DuckDB's dialect.

Importing `sqlglot` and translating them takes longer than reading a small capture. So translations
are in a generated file, by the hash of each statement; a missing one is translated when it runs.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from zenlake.lake.derive.duck._generated.statements import STATEMENTS


@lru_cache(maxsize=256)
def to_duckdb(text: str) -> str:
    """Translates one statement, in which names of frames are already inserted."""
    known = STATEMENTS.get(digest(text))
    if known is not None:
        return known
    from zenlake.lake.derive.duck.dialect import translate

    return translate(text)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
