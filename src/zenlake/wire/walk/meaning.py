"""What bits and values mean, in a few words, as far as the layout says it."""

from __future__ import annotations

from zenlake.wire.layout import Bits, Condition, KeyRow, Layout, Row, condition_of
from zenlake.wire.values.choices import CloseReason
from zenlake.wire.values.timestamp import Timestamp


def bits_meaning(layout: Layout, bits: Bits, value: int) -> str:
    """Of one named group of bits."""
    if bits.name == "X":
        return "reserved"
    if bits.name == "id":
        return layout.name
    if bits.name == "Z":
        return "extensions follow" if value else "no extensions"
    if bits.name == "ENC":
        return ("no body", "the body is a number", "the body is bytes", "reserved")[value]
    if bits.name == "zid_len":
        return f"the ZID has {value + 1} bytes"
    stored = layout.stored_bits().get(bits.name)
    if stored is not None:
        return f"{stored.attribute}: {'yes' if value else 'no'}"
    for row in layout.rows:
        if isinstance(row, KeyRow):
            if bits.name == row.suffix_if:
                return "a key suffix follows" if value else "no key suffix"
            if bits.name == row.sender_if:
                return f"the scope is the {'sender' if value else 'receiver'}'s"
    return _presence(layout, bits.name, value)


def _presence(layout: Layout, name: str, value: int) -> str:
    rows = layout.dependents(name)
    conditions = [condition_of(row) for row in rows]
    there = (value != 0) != any(isinstance(c, Condition) and c.unless for c in conditions)
    names = " and ".join(row.attribute for row in rows)
    return f"{names} follow{'s' if len(rows) == 1 else ''}" if there else f"no {names}"


def value_meaning(layout: Layout, row: Row, value: object) -> str:
    """What a value says beyond itself; empty where it speaks for itself."""
    if isinstance(value, Timestamp):
        return value.to_rfc3339()
    if layout.name == "CLOSE" and row.attribute == "reason":
        assert isinstance(value, int)
        return str(CloseReason(value)) if value < len(CloseReason) else "unknown reason"
    if row.attribute == "lease":
        return "in the unit that T says"
    if row.attribute == "version":
        return "the current one" if value == 9 else "not 9, the current one"
    return ""
