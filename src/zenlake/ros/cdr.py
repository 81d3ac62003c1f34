"""Payloads to JSON: messages of known types in CDR, as ROS serializes them.

Numbers have the fewest digits that keep their precision; NaN and infinities, which JSON lacks, are
strings (`"nan"`, `"inf"`, `"-inf"`). Arrays of bytes, such as images, are one base64 string. Known
types are nested at most seven deep, so the depth needs no limit; the size has one.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from zenlake.limits import ROS_PAYLOAD_BYTES_MAX
from zenlake.ros.definitions import Definition, find

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

_BYTES: Final = {"uint8", "byte", "char"}
_NOTHING: Final = "structure_needs_at_least_one_member"
"""The field that rosbags gives to a message without fields."""


class Read(NamedTuple):
    """The JSON of a payload, or the reason why there is none."""

    text: str | None
    reason: str | None


def payload_json(meant: str, payload: bytes) -> str | None:
    """The message as JSON; None if it cannot be decoded: `why_no_json` returns the reason.

    `meant` is the name or hash of a type, or the rmw_zenoh key on which the message was sent.
    """
    return _read(meant, payload).text


def why_no_json(meant: str, payload: bytes) -> str | None:
    """Why `payload_json` returns None; None if it does not."""
    return _read(meant, payload).reason


def _read(meant: str, payload: bytes) -> Read:
    definition = find(meant)
    if isinstance(definition, str):
        return Read(None, definition)
    if len(payload) > ROS_PAYLOAD_BYTES_MAX:
        return Read(None, f"{len(payload)} bytes, above the limit of {ROS_PAYLOAD_BYTES_MAX}")
    try:
        message = definition.store.deserialize_cdr(payload, definition.name)
        return Read(_message(message, definition), None)
    except Exception as error:  # rosbags raises many types of exceptions on invalid bytes
        return Read(None, f"not a valid {definition.name}: {' '.join(str(error).split())}")


def _message(message: Any, definition: Definition) -> str:
    fields = definition.store.fielddefs[definition.name][1]
    return _object(
        (name, _field(getattr(message, name), described, definition.store))
        for name, described in fields
        if name != _NOTHING
    )


def _field(value: Any, described: Any, store: Typestore) -> str:
    """`described` is a field type of rosbags: a kind of node and its content."""
    from rosbags.interfaces import Nodetype

    node, of = described
    if node == Nodetype.NAME:
        return _message(value, Definition(store, of))
    if node == Nodetype.BASE:
        return _scalar(value, of[0])
    inner, _ = of
    if inner[0] == Nodetype.BASE:
        return _array(value, inner[1][0])
    return _list(_field(one, inner, store) for one in value)


def _array(values: Any, kind: str) -> str:
    if kind in _BYTES:
        return json.dumps(b64encode(bytes(values)).decode())
    if kind.startswith("float"):
        return _list(map(_float, values))
    if kind == "string":
        return _list(map(json.dumps, values))
    return json.dumps(values.tolist())


def _scalar(value: Any, kind: str) -> str:
    if kind == "float32":
        from numpy import float32

        value = float32(value)
    return _float(value) if kind.startswith("float") else json.dumps(value)


def _float(value: Any) -> str:
    """The shortest decimal text that keeps the precision of the value."""
    return str(value) if isfinite(value) else f'"{value!s}"'


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"


def _object(fields: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in fields) + "}"
