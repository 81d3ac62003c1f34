"""Dialect: a statement of Spark's in DuckDB's words.

`sqlglot` knows both. Here is what it leaves alone, and what the steps would otherwise get in
another meaning. The statements of `lake/derive/steps` are translated once, by `make generate`: see
`statements.py`.
"""

from __future__ import annotations

from typing import Final

import sqlglot
from sqlglot import expressions as exp

_INTEGERS: Final = (exp.DataType.Type.INT, exp.DataType.Type.BIGINT)


def translate(text: str) -> str:
    """One statement; names of frames are in it already."""
    tree = sqlglot.parse_one(text, read="spark")
    return tree.transform(_translated).sql(dialect="duckdb", comments=False)


def _translated(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.Last):
        # As an aggregate `last` takes nulls along, whatever it is told.
        return exp.IgnoreNulls(this=exp.LastValue(this=node.this.this))
    if isinstance(node, exp.Anonymous) and node.name.lower() == "xxhash64":
        # Any good hash of 64 bits will do; it is in no table.
        return exp.Anonymous(this="hash", expressions=node.expressions)
    if isinstance(node, exp.SafeAdd):
        return exp.Anonymous(
            this="try", expressions=[exp.Add(this=node.this, expression=node.expression)]
        )
    if isinstance(node, exp.Cast) and node.to.this in _INTEGERS:
        # Spark cuts fractions off, DuckDB rounds.
        return exp.TryCast(this=exp.Anonymous(this="trunc", expressions=[node.this]), to=node.to)
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star) and node.args.get("db"):
        # All fields of a value within a value.
        inner = exp.column(node.args["table"], table=node.args["db"])
        return exp.Anonymous(this="unnest", expressions=[inner])
    return node
