"""Names and conditions that the emitted decoders and encoders share."""

from __future__ import annotations

import re

from zenlake.wire.layout import Condition, KeyRow, Layout, Row, WireType, default_of


def snake(class_name: str) -> str:
    """DeclareKeyExpr to declare_key_expr, JoinQoS to join_qos."""
    return re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", class_name).lower()


def labels(layout: Layout) -> list[str]:
    """The names of fields in errors: the header, then the rows; a key has two."""
    found = ["header"]
    for row in layout.rows:
        found += ["key_scope", "key_suffix"] if isinstance(row, KeyRow) else [row.attribute]
    return found


def bits_expression(layout: Layout, name: str) -> str:
    """Non-zero if any of the named bits is set."""
    byte, bits = layout.bits_by_name[name]
    return f"{byte} & {bits.mask:#04x}"


def bits_value(layout: Layout, name: str) -> str:
    """The number that the named bits hold."""
    byte, bits = layout.bits_by_name[name]
    shifted = f"{byte} >> {bits.shift}" if bits.shift else byte
    if bits.shift + bits.width == 8:
        return shifted
    return f"{shifted} & {(1 << bits.width) - 1:#x}"


def test_of(layout: Layout, condition: Condition | None) -> str | None:
    """The condition as an expression of the decoder."""
    if condition is None:
        return None
    expression = bits_expression(layout, condition.bits)
    return f"{expression} == 0" if condition.unless else expression


def typed(row: Row) -> str:
    """A parameter of the constructor."""
    default = default_of(row)
    return f"{row.attribute}: {row.annotation}" + ("" if default is None else f" = {default}")


def converted(type: WireType, expression: str) -> str:
    """An expression that converts the number on the wire to the value of a message."""
    if type.inline_of:
        return type.inline_of.format(expression)
    return f"{type.of}({expression})" if type.of else expression


def unconverted(type: WireType, expression: str) -> str:
    if type.inline_to:
        return type.inline_to.format(expression)
    return f"{type.to}({expression})" if type.to else expression
