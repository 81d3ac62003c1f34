"""Statements: those of `lake/derive/steps` in DuckDB's words.

To load `sqlglot` and translate them takes longer than to read a small capture. So the translations
are in a generated file, by the hash of each statement; a statement that is not there is translated
when it is run.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from zenlake.lake.derive.duck._generated.statements import STATEMENTS


@lru_cache(maxsize=256)
def to_duckdb(text: str) -> str:
    """One statement; names of frames are in it already."""
    known = STATEMENTS.get(digest(text))
    if known is not None:
        return known
    from zenlake.lake.derive.duck.dialect import translate

    return translate(text)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
