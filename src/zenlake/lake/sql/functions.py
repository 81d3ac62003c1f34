"""SQL functions that zenlake adds to the engines, and errors in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from zenlake.errors import KeyExprError
from zenlake.keyexpr.canonical import validate
from zenlake.keyexpr.matching import includes, intersects
from zenlake.lake.errors import LakeError
from zenlake.lake.schema.table import BINARY, BOOLEAN, STRING
from zenlake.lake.sql.function import Function
from zenlake.lake.sql.ros_functions import ROS_FUNCTIONS, check_calls
from zenlake.limits import EXPLAIN_BYTES_MAX, EXPLAIN_CHARACTERS_MAX

# Rows repeat their keys, and a query has few key expressions, so results are cached.
PAIRS_REMEMBERED: Final = 1 << 16
EXPLANATIONS_REMEMBERED: Final = 256
READ_ONLY: Final = "a lake is only read here: SELECT, DESCRIBE, EXPLAIN and the like"
_CALL: Final = re.compile(r"\bke_(?:intersects|includes)\s*\(([^()]*)\)", re.IGNORECASE)
_LITERAL: Final = re.compile(r"'((?:[^']|'')*)'")


@lru_cache(PAIRS_REMEMBERED)
def ke_intersects(a: str | None, b: str | None) -> bool | None:
    """Whether a key matches both; null if one is null or not a key expression."""
    return None if a is None or b is None or not _are_valid(a, b) else intersects(a, b)


@lru_cache(PAIRS_REMEMBERED)
def ke_includes(a: str | None, b: str | None) -> bool | None:
    """Whether every key of `b` matches `a`; null if one is null or not a key expression."""
    return None if a is None or b is None or not _are_valid(a, b) else includes(a, b)


def _are_valid(a: str, b: str) -> bool:
    """Invalid keys in a lake were sent by some node, and must not fail a query."""
    try:
        validate(a)
        validate(b)
    except KeyExprError:
        return False
    return True


def check_literals(sql: str) -> None:
    """Raises for an invalid key expression in the query itself, which would match nothing.

    It also raises if a package that a function needs is not installed.
    """
    check_calls(sql)
    for call in _CALL.finditer(sql):
        for literal in _LITERAL.findall(call[1]):
            try:
                validate(literal.replace("''", "'"))
            except KeyExprError as error:
                raise LakeError(str(error), "SQL") from None


class Result(NamedTuple):
    """The result of a query: rows are tuples, and can be read once."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]


@lru_cache(EXPLANATIONS_REMEMBERED)
def zenoh_explain(data: bytes | None) -> str | None:
    """The output of `zenlake explain` for a message or batch, of the kind that decodes farthest."""
    from zenlake.wire.explain import explain
    from zenlake.wire.explain_text import lines

    if data is None:
        return None
    if len(data) > EXPLAIN_BYTES_MAX:
        return f"{len(data)} bytes: more than {EXPLAIN_BYTES_MAX} are left to zenlake explain"
    text, room = [], EXPLAIN_CHARACTERS_MAX
    for line in lines(explain(bytes(data))):
        room -= len(line) + 1
        if room < 0:
            text.append(f"(more than {EXPLAIN_CHARACTERS_MAX} characters: use zenlake explain)")
            break
        text.append(line)
    return "\n".join(text)


FUNCTIONS: Final = {
    "ke_intersects": Function(ke_intersects, (STRING, STRING), BOOLEAN),
    "ke_includes": Function(ke_includes, (STRING, STRING), BOOLEAN),
    "zenoh_explain": Function(zenoh_explain, (BINARY,), STRING),
    **ROS_FUNCTIONS,
}


def sql_error(cause: str, line: int = 0, column: int = 0) -> LakeError:
    """An engine's error in one line."""
    place = f"SQL line {line}, column {column}" if line else "SQL"
    return LakeError(" ".join(cause.split()), place)
