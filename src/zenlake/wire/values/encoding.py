"""Encoding: the type of a payload, as a number and an optional schema (wire reference §1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake._mypyc import mypyc_attr
from zenlake.errors import LocalError
from zenlake.wire.primitives import read_bytes_z8, read_tail, to_utf8, write_bytes_z8, write_vle
from zenlake.wire.writer import BytesWriter

if TYPE_CHECKING:
    from mypy_extensions import i64

# The position is the id.
ENCODING_NAMES: Final = (
    "zenoh/bytes",
    "zenoh/string",
    "zenoh/serialized",
    "application/octet-stream",
    "text/plain",
    "application/json",
    "text/json",
    "application/cdr",
    "application/cbor",
    "application/yaml",
    "text/yaml",
    "text/json5",
    "application/python-serialized-object",
    "application/protobuf",
    "application/java-serialized-object",
    "application/openmetrics-text",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/bmp",
    "image/webp",
    "application/xml",
    "application/x-www-form-urlencoded",
    "text/html",
    "text/xml",
    "text/css",
    "text/javascript",
    "text/markdown",
    "text/csv",
    "application/sql",
    "application/coap-payload",
    "application/json-patch+json",
    "application/json-seq",
    "application/jsonpath",
    "application/jwt",
    "application/mp4",
    "application/soap+xml",
    "application/yang",
    "audio/aac",
    "audio/flac",
    "audio/mp4",
    "audio/ogg",
    "audio/vorbis",
    "video/h261",
    "video/h263",
    "video/h264",
    "video/h265",
    "video/h266",
    "video/mp4",
    "video/ogg",
    "video/raw",
    "video/vp8",
    "video/vp9",
)
CUSTOM_ID: Final = 0xFFFF
_IDS: Final = {name: id for id, name in enumerate(ENCODING_NAMES)}


@mypyc_attr(acyclic=True)
class Encoding:
    """A numbered media type, with an optional schema.

    The schema is bytes on the wire, nearly always UTF-8; deployed nodes do not check it.
    A name without a number is sent as the schema of id 0xFFFF.
    """

    __slots__ = ("id", "schema")

    def __init__(self, id: int, schema: bytes | None = None) -> None:
        if not 0 <= id <= 0xFFFF:
            raise LocalError(f"an encoding's id is 0 to 65535, not {id}")
        if schema is not None and len(schema) > 255:
            raise LocalError(f"a schema of {len(schema)} bytes, at most 255 are possible")
        self.id = id
        self.schema = schema

    @staticmethod
    def parse(text: str) -> Encoding:
        """The encoding of a text `name` or `name;schema`."""
        name, _, schema = text.partition(";")
        id = _IDS.get(name) if text else 0
        if id is None:
            return Encoding(CUSTOM_ID, to_utf8(text))
        return Encoding(id, to_utf8(schema) if schema else None)

    def __str__(self) -> str:
        schema = "" if self.schema is None else self.schema.decode(errors="backslashreplace")
        if self.id == CUSTOM_ID and self.schema is not None:
            return schema
        known = self.id < len(ENCODING_NAMES)
        name = ENCODING_NAMES[self.id] if known else f"unknown({self.id})"
        return name if self.schema is None else f"{name};{schema}"

    def __repr__(self) -> str:
        return f"Encoding({self.id}, {self.schema!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and (self.id, self.schema) == (other.id, other.schema)

    def __hash__(self) -> int:
        return hash((self.id, self.schema))


# Encodings are values: the predefined ones without a schema exist once.
_PREDEFINED: Final = [Encoding(id) for id in range(len(ENCODING_NAMES))]
_PREDEFINED_WORDS: Final = len(ENCODING_NAMES) << 1
_WORD_MAX: Final = 0xFFFF << 1 | 1


def read_encoding(buf: bytes, pos: i64, end: i64) -> tuple[Encoding, i64]:
    """`id << 1 | has schema`, then the schema."""
    if pos >= end:
        raise IndexError
    word: i64 = buf[pos]
    pos += 1
    if word >= 0x80:
        word, pos = read_tail(buf, pos, end, word, _WORD_MAX)
    if word & 1:
        schema, pos = read_bytes_z8(buf, pos, end)
        return Encoding(word >> 1, schema), pos
    if word < _PREDEFINED_WORDS:
        return _PREDEFINED[word >> 1], pos
    return Encoding(word >> 1), pos


def write_encoding(out: BytesWriter, encoding: Encoding) -> None:
    schema = encoding.schema
    if schema is None:
        word = encoding.id << 1
        if word < 0x80:
            out.append(word)
        else:
            write_vle(out, word)
    else:
        write_vle(out, encoding.id << 1 | 1)
        write_bytes_z8(out, schema)
