"""The lines that -v and --hex add: every field by its name in filters, and the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from zenlake.cli.decode.text import preview
from zenlake.cli.output import safe
from zenlake.errors import LocalError
from zenlake.trace.events import MessageSeen
from zenlake.trace.fields import FIELDS
from zenlake.wire.message import Message

_INDENT: Final = " " * 20
_BYTES_PER_LINE: Final = 16
_PREVIEW_BYTES: Final = 256
_ITEMS_SHOWN_MAX: Final = 64
# Bytes 0x00 to 0xff as in the text column of a hex dump.
_VISIBLE: Final = bytes(byte if 0x20 <= byte < 0x7F else 0x2E for byte in range(256))
_MESSAGES_OF_A_FRAME: Final = "message.messages"


def field_lines(event: MessageSeen) -> Iterator[str]:
    """The fields that the message has, then the message as it was sent."""
    for field in FIELDS.values():
        value = field.value_of(event)
        if value is not None:
            yield f"{_INDENT}{field.name} = {value_text(value)}"
    yield from _wire_lines("message", event.message)


def _wire_lines(path: str, message: Message) -> Iterator[str]:
    for name in message.FIELDS:
        value: Any = getattr(message, name)
        inner = f"{path}.{name}"
        if value is None or value is False or value == () or inner == _MESSAGES_OF_A_FRAME:
            continue
        if isinstance(value, Message):
            yield from _wire_lines(inner, value)
        elif isinstance(value, tuple) and isinstance(value[0], Message):
            for index, item in enumerate(value[:_ITEMS_SHOWN_MAX]):
                yield from _wire_lines(f"{inner}[{index}]", item)
            if len(value) > _ITEMS_SHOWN_MAX:
                yield f"{_INDENT}{inner}: {len(value)} in all"
        else:
            yield f"{_INDENT}{inner} = {value_text(value)}"


def value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return preview(value, _PREVIEW_BYTES)
    if isinstance(value, tuple):
        return ", ".join(value_text(item) for item in value[:_ITEMS_SHOWN_MAX])
    return safe(str(value))


def hex_lines(event: MessageSeen) -> Iterator[str]:
    """The bytes of the message, sixteen a line."""
    try:
        data = bytes(event.message)
    except LocalError as error:
        yield f"{_INDENT}{safe(str(error))}"
        return
    for start in range(0, len(data), _BYTES_PER_LINE):
        piece = data[start : start + _BYTES_PER_LINE]
        column = piece.hex(" ").ljust(_BYTES_PER_LINE * 3 - 1)
        yield f"{_INDENT}{start:04x}  {column}  {piece.translate(_VISIBLE).decode('ascii')}"
