"""Short descriptions of bits and values, as far as the layout has them."""

from __future__ import annotations

from zenlake.wire.layout import Bits, Condition, KeyRow, Layout, Row, condition_of
from zenlake.wire.values.choices import CloseReason
from zenlake.wire.values.timestamp import Timestamp


def bits_meaning(layout: Layout, bits: Bits, value: int) -> str:
    """The meaning of one named group of bits."""
    if bits.name == "X":
        return "reserved"
    if bits.name == "id":
        return layout.name
    if bits.name == "Z":
        return "with extensions" if value else "no extensions"
    if bits.name == "ENC":
        return ("no body", "the body is a number", "the body is bytes", "reserved")[value]
    if bits.name == "zid_len":
        return f"the ZID has {value + 1} bytes"
    stored = layout.stored_bits.get(bits.name)
    if stored is not None:
        return f"{stored.attribute}: {'yes' if value else 'no'}"
    for row in layout.rows:
        if isinstance(row, KeyRow):
            if bits.name == row.suffix_if:
                return "with a key suffix" if value else "no key suffix"
            if bits.name == row.sender_if:
                return f"the scope is the {'sender' if value else 'receiver'}'s"
    return _presence(layout, bits.name, value)


def _presence(layout: Layout, name: str, value: int) -> str:
    rows = layout.dependents(name)
    conditions = [condition_of(row) for row in rows]
    there = (value != 0) != any(isinstance(c, Condition) and c.unless for c in conditions)
    names = " and ".join(row.attribute for row in rows)
    return f"with {names}" if there else f"no {names}"


def value_meaning(layout: Layout, row: Row, value: object) -> str:
    """The meaning of a value; empty if the value needs no description."""
    if layout.name == "CLOSE" and row.attribute == "reason":
        assert isinstance(value, int)
        return str(CloseReason(value)) if value < len(CloseReason) else "unknown reason"
    if row.attribute == "lease":
        return "seconds if T is set, else milliseconds"
    if row.attribute == "version":
        return "the current one" if value == 9 else "not 9, the current one"
    return leaf_meaning(value)


def leaf_meaning(value: object) -> str:
    """The meaning of a value that is not part of a message."""
    return value.to_rfc3339() if isinstance(value, Timestamp) else ""


def value_text(value: object) -> str:
    """A value as one line of printable text: control characters of a peer are escaped."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return _bytes_text(value)
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"{len(value)} items" if value else "none"
    text = str(value)
    return text if text.isprintable() else repr(text)


def _bytes_text(value: bytes) -> str:
    """Text in quotes where it is text, otherwise the size."""
    if not value:
        return "empty"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return f"{len(value)} bytes"
    if len(text) > 60 or not text.isprintable():
        return f"{len(value)} bytes"
    return repr(text)
