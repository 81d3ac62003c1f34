"""Vocabulary: the names that conditions of rules may use, and their code in the kernel.

A condition may also name every column of `zenlake.columnar`, and `has.FIELD` for every field. The
code uses variables of the kernel and functions of `condition_functions.py`.
"""

from __future__ import annotations

import ast
from typing import Final

from zenlake.columnar.fields import STRETCHES, columns, fields, presence_bits

WORDS: Final = {
    "agreed.batch_size": "batch_size",
    "agreed.patch": "patch",
    "agreed.qos": "qos",
    "agreed.request_id_bits": "request_id_bits",
    "channel.is_known": "is_in_channel",
    "channel.is_reliable": "is_reliable",
    "channel.priority": "priority",
    "frame.is_empty": "is_empty_frame(table, room, count, row)",
    "is_put": "kind == PUSH_PUT",
    "key.is_bad": "key_flags & BAD",
    "key.is_empty": "key_flags & EMPTY",
    "key.is_missing": "is_key_missing(table, room, row, key_code)",
    "key.is_wide": "key_flags & WIDE",
    "qos_byte": "qos_byte(table, room, row, present)",
    "schema.is_ascii": "is_schema_ascii(buf, table, room, row)",
    "stamp.ns": "stamp_ns(table, room, row)",
    "time_ns": "time_ns",
    "unit.bytes": "unit_bytes",
    "unit.is_low_latency": "is_low_latency",
    "unit.messages": "messages",
}
"""Words besides columns, and their code in the kernel."""

_ALLOWED: Final = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Invert),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.RShift),
    *(ast.Name, ast.Attribute, ast.Load),
)


class UnknownWord(Exception):
    """A condition uses a word that is not in the vocabulary."""


def in_kernel(condition: str) -> str:
    """A condition compiled to an expression of the kernel."""
    tree = ast.parse(condition, mode="eval")
    for node in ast.walk(tree):
        is_number = isinstance(node, ast.Constant) and type(node.value) is int
        if not is_number and not isinstance(node, _ALLOWED):
            raise UnknownWord(f"{type(node).__name__} in {condition!r}")
    return ast.unparse(_Reader().visit(tree))


class _Reader(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _read(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return _read(ast.unparse(node))


def _read(word: str) -> ast.expr:
    owner, _, field = word.partition(".")
    if word in WORDS:
        text = WORDS[word]
    elif owner == "has" and field in fields():
        text = _presence(field)
    elif word in columns():
        text = cell(word)
    else:
        raise UnknownWord(f"{word!r} is no column, and no word of the vocabulary")
    return ast.parse(text, mode="eval").body


def _presence(field: str) -> str:
    if fields()[field].shape in STRETCHES:
        return f"{cell(f'{field}_offset')} != 0"
    return f"present & {presence_bits()[field]} != 0"


def cell(column: str) -> str:
    """The expression that reads a cell of the decoded table (`columnar.memory`)."""
    width = {1: "small", 4: "word", 8: "long"}[columns()[column].width]
    return f"get_{width}(table, room, {column.upper()}_COLUMN, row)"
