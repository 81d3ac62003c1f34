"""Values of messages as JSON values."""

from __future__ import annotations

from typing import Any

from zenlake.wire.message import Extension, Message


def to_json(value: Any) -> Any:
    """Bytes become hexadecimal, messages become objects without absent fields, all else text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if type(value) is int:
        return value
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    if isinstance(value, Extension):
        return {"header": value.header, "body": to_json(value.body)}
    if isinstance(value, Message):
        fields = ((name, getattr(value, name)) for name in value.FIELDS)
        return {name: to_json(inner) for name, inner in fields if not _is_absent(inner)}
    return str(value)


def _is_absent(value: Any) -> bool:
    """Uses `is`, not `==`: 0 is a value, unlike False."""
    return value is None or value is False or value == ()
