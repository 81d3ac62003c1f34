"""Dialect: translates a statement of Spark to DuckDB.

`sqlglot` knows both dialects. This module handles what it does not translate, or translates with
another meaning. The statements of `lake/derive/steps` are translated once, by `make generate`: see
`statements.py`.
"""

from __future__ import annotations

from typing import Final

import sqlglot
from sqlglot import expressions as exp

_INTEGERS: Final = (exp.DataType.Type.INT, exp.DataType.Type.BIGINT)


def translate(text: str) -> str:
    """Translates one statement, in which names of frames are already inserted."""
    tree = sqlglot.parse_one(text, read="spark")
    return tree.transform(_translated).sql(dialect="duckdb", comments=False)


def _translated(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.Last):
        # DuckDB's aggregate `last` does not support IGNORE NULLS; `last_value` does.
        return exp.IgnoreNulls(this=exp.LastValue(this=node.this.this))
    if isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64":
        # Any good hash of 64 bits is enough: no table has it.
        return exp.Anonymous(this="hash", expressions=node.expressions)
    if isinstance(node, exp.SafeAdd):
        return exp.Anonymous(
            this="try", expressions=[exp.Add(this=node.this, expression=node.expression)]
        )
    if isinstance(node, exp.Cast) and node.to.this in _INTEGERS:
        # Spark truncates fractions, DuckDB rounds them.
        return exp.TryCast(this=exp.Anonymous(this="trunc", expressions=[node.this]), to=node.to)
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) and node.args.get("db"):
        # All fields of a nested struct.
        inner = exp.column(node.args["table"], table=node.args["db"])
        return exp.Anonymous(this="unnest", expressions=[inner])
    return node
