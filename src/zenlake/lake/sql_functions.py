"""What SQL over a lake has beyond the engines: key expressions, and errors in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from zenlake.errors import KeyExprError
from zenlake.keyexpr.canonical import validate
from zenlake.keyexpr.matching import includes, intersects
from zenlake.lake.store import LakeError

# Rows repeat their keys, and a query asks about a few expressions.
PAIRS_REMEMBERED: Final = 1 << 16
READ_ONLY: Final = "a lake is only read here: SELECT, DESCRIBE, EXPLAIN and the like"
_CALL: Final = re.compile(r"\bke_(?:intersects|includes)\s*\(([^()]*)\)", re.IGNORECASE)
_LITERAL: Final = re.compile(r"'((?:[^']|'')*)'")


@lru_cache(PAIRS_REMEMBERED)
def ke_intersects(a: str | None, b: str | None) -> bool | None:
    """Whether some key belongs to both; null where one is null or no key expression."""
    return None if a is None or b is None or not _are_valid(a, b) else intersects(a, b)


@lru_cache(PAIRS_REMEMBERED)
def ke_includes(a: str | None, b: str | None) -> bool | None:
    """Whether every key of `b` belongs to `a`; null where one is null or no key expression."""
    return None if a is None or b is None or not _are_valid(a, b) else includes(a, b)


def _are_valid(a: str, b: str) -> bool:
    """Keys of a lake were sent by someone, and must not stop those who ask."""
    try:
        validate(a)
        validate(b)
    except KeyExprError:
        return False
    return True


def check_literals(sql: str) -> None:
    """What a person wrote as a key expression must be one, or they wait for rows in vain."""
    for call in _CALL.finditer(sql):
        for literal in _LITERAL.findall(call[1]):
            try:
                validate(literal.replace("''", "'"))
            except KeyExprError as error:
                raise LakeError(str(error), "SQL") from None


class Result(NamedTuple):
    """The answer of an engine: rows are tuples, read once."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


FUNCTIONS: Final = {"ke_intersects": ke_intersects, "ke_includes": ke_includes}


def sql_error(cause: str, line: int = 0, column: int = 0) -> LakeError:
    """One line of what an engine said at length."""
    place = f"SQL line {line}, column {column}" if line else "SQL"
    return LakeError(" ".join(cause.split()), place)
