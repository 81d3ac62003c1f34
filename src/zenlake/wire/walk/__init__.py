"""A codec that interprets layouts: slow, but it labels bytes and knows both dialects."""

from __future__ import annotations

from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.message import Message
from zenlake.wire.walk.reader import Reader
from zenlake.wire.walk.span import BitSpan, Span
from zenlake.wire.walk.writer import Writer
from zenlake.wire.writer import BytesWriter

__all__ = [
    "BitSpan",
    "Reader",
    "Span",
    "Writer",
    "decode_by_layout",
    "decode_structure_by_layout",
    "encode_by_layout",
]


def encode_by_layout(message: Message, dialect: str = "deployed") -> bytes:
    """The bytes of one message or structure."""
    out = BytesWriter()
    Writer(dialect).write(out, message)
    return out.getvalue()


def decode_by_layout(data: bytes, layer: str, dialect: str = "deployed") -> tuple[Message, int]:
    """The first message in `data`, and where it ends."""
    return Reader(data, dialect).read_message(layer, 0)


def decode_structure_by_layout(name: str, data: bytes, dialect: str = "deployed") -> Message:
    """A structure that fills `data`; surplus bytes are ignored."""
    reader = Reader(data, dialect)
    return reader.read_layout(LAYOUTS[name], 0, len(data), reader.root)[0]
