"""`Encoding`: the format of a payload, as `type/subtype[;schema]` (behaviour reference §2.12)."""

from __future__ import annotations

import re
from typing import ClassVar, Final, Self, final

from zenlake import wire
from zenlake.api.final_classes import no_subclasses
from zenlake.errors import LocalError
from zenlake.wire.values.encoding import CUSTOM_ID, ENCODING_NAMES


@final
@no_subclasses
class Encoding:
    """A media type with an optional schema; equals and hashes like its text."""

    __slots__ = ("_wire",)
    _wire: wire.Encoding

    # The encodings with a number, in the order of their numbers; set below.
    ZENOH_BYTES: ClassVar[Encoding]
    ZENOH_STRING: ClassVar[Encoding]
    ZENOH_SERIALIZED: ClassVar[Encoding]
    APPLICATION_OCTET_STREAM: ClassVar[Encoding]
    TEXT_PLAIN: ClassVar[Encoding]
    APPLICATION_JSON: ClassVar[Encoding]
    TEXT_JSON: ClassVar[Encoding]
    APPLICATION_CDR: ClassVar[Encoding]
    APPLICATION_CBOR: ClassVar[Encoding]
    APPLICATION_YAML: ClassVar[Encoding]
    TEXT_YAML: ClassVar[Encoding]
    TEXT_JSON5: ClassVar[Encoding]
    APPLICATION_PYTHON_SERIALIZED_OBJECT: ClassVar[Encoding]
    APPLICATION_PROTOBUF: ClassVar[Encoding]
    APPLICATION_JAVA_SERIALIZED_OBJECT: ClassVar[Encoding]
    APPLICATION_OPENMETRICS_TEXT: ClassVar[Encoding]
    IMAGE_PNG: ClassVar[Encoding]
    IMAGE_JPEG: ClassVar[Encoding]
    IMAGE_GIF: ClassVar[Encoding]
    IMAGE_BMP: ClassVar[Encoding]
    IMAGE_WEBP: ClassVar[Encoding]
    APPLICATION_XML: ClassVar[Encoding]
    APPLICATION_X_WWW_FORM_URLENCODED: ClassVar[Encoding]
    TEXT_HTML: ClassVar[Encoding]
    TEXT_XML: ClassVar[Encoding]
    TEXT_CSS: ClassVar[Encoding]
    TEXT_JAVASCRIPT: ClassVar[Encoding]
    TEXT_MARKDOWN: ClassVar[Encoding]
    TEXT_CSV: ClassVar[Encoding]
    APPLICATION_SQL: ClassVar[Encoding]
    APPLICATION_COAP_PAYLOAD: ClassVar[Encoding]
    APPLICATION_JSON_PATCH_JSON: ClassVar[Encoding]
    APPLICATION_JSON_SEQ: ClassVar[Encoding]
    APPLICATION_JSONPATH: ClassVar[Encoding]
    APPLICATION_JWT: ClassVar[Encoding]
    APPLICATION_MP4: ClassVar[Encoding]
    APPLICATION_SOAP_XML: ClassVar[Encoding]
    APPLICATION_YANG: ClassVar[Encoding]
    AUDIO_AAC: ClassVar[Encoding]
    AUDIO_FLAC: ClassVar[Encoding]
    AUDIO_MP4: ClassVar[Encoding]
    AUDIO_OGG: ClassVar[Encoding]
    AUDIO_VORBIS: ClassVar[Encoding]
    VIDEO_H261: ClassVar[Encoding]
    VIDEO_H263: ClassVar[Encoding]
    VIDEO_H264: ClassVar[Encoding]
    VIDEO_H265: ClassVar[Encoding]
    VIDEO_H266: ClassVar[Encoding]
    VIDEO_MP4: ClassVar[Encoding]
    VIDEO_OGG: ClassVar[Encoding]
    VIDEO_RAW: ClassVar[Encoding]
    VIDEO_VP8: ClassVar[Encoding]
    VIDEO_VP9: ClassVar[Encoding]

    def __init__(self, encoding: str | None = None) -> None:
        if encoding is not None and not isinstance(encoding, str):
            raise TypeError(f"an encoding is a str, not {type(encoding).__name__}")
        self._wire = wire.Encoding.parse(encoding or "")

    @classmethod
    def from_wire(cls, encoding: wire.Encoding | None) -> Self:
        """The encoding in the field of a message; an absent one is `zenoh/bytes`."""
        if encoding is None:
            encoding = _BYTES
        made = cls.__new__(cls)
        made._wire = encoding
        return made

    @property
    def wire(self) -> wire.Encoding:
        """The encoding as messages carry it."""
        return self._wire

    def with_schema(self, schema: str) -> Self:
        """This encoding with another schema; a custom name keeps its part before `;`."""
        old = self._wire
        if old.id != CUSTOM_ID:
            return self.from_wire(wire.Encoding(old.id, schema.encode()))
        name = (old.schema or b"").partition(b";")[0]
        parts = [part for part in (name, schema.encode()) if part]
        return self.from_wire(wire.Encoding(CUSTOM_ID, b";".join(parts)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Encoding):
            return self._wire == other._wire
        if isinstance(other, str):
            return self._wire == _parsed(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(str(self._wire))

    def __str__(self) -> str:
        return str(self._wire)

    def __repr__(self) -> str:
        return f"Encoding({str(self)!r})"


_BYTES: Final = wire.Encoding(0)


def _parsed(text: str) -> wire.Encoding | None:
    try:
        return wire.Encoding.parse(text)
    except LocalError:
        return None  # longer than an encoding can be, so equal to none


def into_encoding(value: Encoding | str) -> Encoding:
    """Convert an argument named `encoding`."""
    return value if isinstance(value, Encoding) else Encoding(value)


for _id, _name in enumerate(ENCODING_NAMES):
    setattr(Encoding, re.sub(r"\W", "_", _name).upper(), Encoding.from_wire(wire.Encoding(_id)))
