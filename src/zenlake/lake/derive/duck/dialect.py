"""Dialect: translates a statement of Spark to DuckDB.

`sqlglot` knows both dialects. This module handles what it does not translate, or translates with
another meaning. The statements of `lake/derive/steps` are translated once, by `make generate`: see
`statements.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import sqlglot
from sqlglot import expressions as exp

_INTEGERS: Final = (exp.DataType.Type.INT, exp.DataType.Type.BIGINT)
_TEXTS: Final = frozenset(
    {
        *("capture", "session", "link", "kind", "key", "encoding", "timestamp", "parameters"),
        *("target", "consolidation", "owner", "entity", "identity", "key_identity"),
        *("zid", "source"),
        *("sender_zid", "receiver_zid", "source_zid", "requester_zid", "responder_zid"),
    }
)
_BINARIES: Final = frozenset({"payload", "attachment"})
_NUMBERS: Final = frozenset(
    {
        *("source_eid", "source_sn", "side", "request_id", "timeout_ms", "budget"),
        *("content", "question", "stamper", "place", "before", "number"),
        *("spot", "topic", "sender", "stamp"),
    }
)
"""Columns that statements hash, and their types."""
_CUTS: Final = (2, 5)
"""Texts are hashed again from these positions (counted from 1), so that other words begin."""
_BYTES_MAX: Final = 2**31 - 1


def translate(text: str) -> str:
    """Translates one statement, in which names of frames are already inserted."""
    tree = sqlglot.parse_one(text, read="spark")
    return tree.transform(_translated).sql(dialect="duckdb", comments=False)


def _translated(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.Last):
        # DuckDB's aggregate `last` does not support IGNORE NULLS; `last_value` does.
        return exp.IgnoreNulls(this=exp.LastValue(this=node.this.this))
    if isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64":
        return exp.Anonymous(this="hash", expressions=[*_hashed(node.expressions)])
    if isinstance(node, exp.SafeAdd):
        return exp.Anonymous(
            this="try", expressions=[exp.Add(this=node.this, expression=node.expression)]
        )
    if isinstance(node, exp.Cast) and node.to.this in _INTEGERS:
        # Spark truncates fractions, DuckDB rounds them.
        return exp.TryCast(this=exp.Anonymous(this="trunc", expressions=[node.this]), to=node.to)
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) and node.args.get("db"):
        # DuckDB writes all fields of a nested struct in another way.
        inner = exp.column(node.args["table"], table=node.args["db"])
        return exp.Anonymous(this="unnest", expressions=[inner])
    return node


def _hashed(arguments: list[exp.Expression]) -> Iterator[exp.Expression]:
    """Arguments of `hash` for those of `xxhash64`. Any good hash will do: no table has it.

    DuckDB's hash of a text or of bytes is not good: it combines words of 8 bytes so that equal
    changes of the last byte of two words cancel out. Of 20,000 texts with the same number at two
    places 2,000 have the hash of another one. So words are cut at three places.
    """
    for argument in arguments:
        name = argument.name if isinstance(argument, exp.Column) else None
        if name in _BINARIES:
            yield argument
            for start in _CUTS:
                # `substring` takes no bytes.
                ends = [exp.Literal.number(start), exp.Literal.number(_BYTES_MAX)]
                yield exp.Anonymous(this="array_slice", expressions=[argument.copy(), *ends])
        elif name in _TEXTS or isinstance(argument, exp.SplitPart):
            yield argument
            for start in _CUTS:
                yield exp.Substring(this=argument.copy(), start=exp.Literal.number(start))
        elif name is None or name in _NUMBERS:
            yield argument
        else:
            raise ValueError(f"xxhash64: name the type of column {name} in dialect.py")
