"""Explains bytes: what every bit of them is, and where they break if they do.

`explain` reads bytes as one of `FORMS`, or as the form that reads farthest, and returns a tree of
spans. `explain_text.py` formats it as text, `to_json` as JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zenlake.errors import LocalError, WireError
from zenlake.limits import BATCH_BYTES_MAX, LOW_LATENCY_UNIT_BYTES_MAX
from zenlake.wire.compression import decompress_batch
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.headers import ID_BITS, NETWORK_ID_MIN
from zenlake.wire.primitives import FIELD_ERRORS, wire_error
from zenlake.wire.walk import BitSpan, Reader, Span
from zenlake.wire.walk.functions import runtime_name
from zenlake.wire.walk.meaning import leaf_meaning, value_text

REST = "rest"


@dataclass
class Explanation:
    """The form that `data` was read as, its spans, and the error that ended reading, if any.

    `content` explains the content of a compressed batch; its offsets count from the start of the
    decompressed bytes.
    """

    form: str
    data: bytes
    root: Span
    error: WireError | None = None
    content: Explanation | None = None

    @property
    def failure(self) -> WireError | None:
        return self.error or (self.content.failure if self.content else None)

    @property
    def is_whole(self) -> bool:
        """Whether every byte has a meaning."""
        return self.failure is None and all(span.name != REST for span in self.root.children)

    @property
    def has_reserved_bits(self) -> bool:
        """Whether bits are set that no conforming sender sets."""
        return any(_has_reserved_bits(span) for span in self.root.children)

    @property
    def read_bytes(self) -> int:
        """The number of bytes read before the error, if any."""
        if self.failure is None:
            return self.root.stop
        return 1 if self.error is None else self.error.offset


def _has_reserved_bits(span: Span) -> bool:
    if any(bits.name == "X" and bits.value for bits in span.bits):
        return True
    return any(_has_reserved_bits(child) for child in span.children)


def explain(data: bytes, form: str = "auto", dialect: str = "deployed") -> Explanation:
    """Reads `data` as `form`; "auto" chooses the form that reads farthest."""
    if form == "auto":
        tried = [explain(data, guess, dialect) for guess in GUESSES]
        return max(
            tried, key=lambda found: (found.is_whole, not found.has_reserved_bits, found.read_bytes)
        )
    if form not in FORMS:
        raise LocalError(f"there is no form {form!r}: {', '.join(FORMS)}")
    reader = Reader(data, dialect)
    found = Explanation(form, data, reader.root)
    try:
        found.content = FORMS[form](reader)
    except WireError as error:
        found.error = error
    reader.root.stop = max((child.stop for child in reader.root.children), default=0)
    return found


# --- forms ----------------------------------------------------------------------------------


def _read_one(layer: str) -> Callable[[Reader], None]:
    """Exactly one message of a layer."""

    def read(reader: Reader) -> None:
        message, pos = reader.read_message(layer, 0)
        _refuse_rest(reader, message.NAME, pos)

    return read


def _read_scouting(reader: Reader) -> None:
    _, pos = reader.read_message("scouting", 0)
    if pos < len(reader.buf):
        rest = reader.root.add(REST, pos, "bytes")
        rest.value, rest.stop = reader.buf[pos:], len(reader.buf)
        rest.meaning = "ignored by deployed nodes"


def _read_batch(reader: Reader) -> None:
    _read_messages(reader, 0, len(reader.buf))


def _read_stream(reader: Reader) -> None:
    """Batches after their two-byte lengths."""
    _read_units(reader, 2, BATCH_BYTES_MAX)


def _read_low_latency(reader: Reader) -> None:
    """Low-latency units after their four-byte lengths."""
    _read_units(reader, 4, LOW_LATENCY_UNIT_BYTES_MAX)


def _read_units(reader: Reader, prefix: int, limit: int) -> None:
    buf, pos = reader.buf, 0
    while pos < len(buf):
        length = reader.root.add("length", pos, f"u{prefix * 8}")
        size = int.from_bytes(buf[pos : pos + prefix], "little")
        start = pos + prefix
        if start > len(buf) or size > limit or size > len(buf) - start:
            raise WireError("batch", "length", pos, f"{size} bytes, {len(buf) - pos} are left")
        length.value, length.stop = size, start
        pos = start + size
        _read_messages(reader, start, pos, bare_network=prefix == 4)


def _read_messages(reader: Reader, pos: int, end: int, bare_network: bool = False) -> None:
    """Messages back to back up to `end`, which they treat as the end of the buffer."""
    whole = reader.buf
    reader.buf = whole[:end]
    try:
        while pos < end:
            network = bare_network and whole[pos] & ID_BITS >= NETWORK_ID_MIN
            _, pos = reader.read_message("network" if network else "transport", pos)
    finally:
        reader.buf = whole


def _read_compressed(reader: Reader) -> Explanation:
    """The header byte of a batch on a link with compression, and the batch itself."""
    data = reader.buf
    if not data:
        raise WireError("batch", "compression header", 0, "there are no bytes")
    header = reader.root.add("compression header", 0, "u8")
    header.value, header.stop = data[0], 1
    header.meaning = "an LZ4 block follows" if data[0] & 1 else "stored as it is"
    content = decompress_batch(data)
    block = reader.root.add("content", 1, "bytes")
    block.stop = len(data)
    block.meaning = f"{len(content)} bytes after decompression"
    return explain(content, "batch", reader.dialect)


def _read_structure(name: str) -> Callable[[Reader], None]:
    def read(reader: Reader) -> None:
        _, pos = reader.read_layout(LAYOUTS[name], 0, len(reader.buf), reader.root)
        _refuse_rest(reader, name, pos)

    return read


def _read_leaf(name: str, function: str) -> Callable[[Reader], None]:
    """A primitive, such as one variable-length integer."""

    def read(reader: Reader) -> None:
        span = reader.root.add(name, 0, name)
        try:
            span.value, span.stop = runtime_name(function)(reader.buf, 0, len(reader.buf))
        except FIELD_ERRORS as error:
            raise wire_error(name, "value", 0, error) from None
        span.meaning = leaf_meaning(span.value)
        _refuse_rest(reader, name, span.stop)

    return read


def _read_vle(reader: Reader) -> None:
    """A variable-length integer, byte by byte."""
    _read_leaf("vle", "read_z64")(reader)
    (span,) = reader.root.children
    for place in range(span.stop):
        byte = span.add(f"byte {place}", place, "u8")
        byte.value, byte.stop = reader.buf[place], place + 1
        low = 7 * place
        if place == 8:
            byte.bits = [BitSpan("bits", 0xFF, reader.buf[8], "63 to 56 of the number, whole")]
            continue
        more = reader.buf[place] >> 7
        byte.bits = [
            BitSpan("more", 0x80, more, "another byte follows" if more else "the last byte"),
            BitSpan("bits", 0x7F, reader.buf[place] & 0x7F, f"{low + 6} to {low} of the number"),
        ]


def _refuse_rest(reader: Reader, name: str, pos: int) -> None:
    left = len(reader.buf) - pos
    if left:
        raise WireError(name, "end", pos, f"{left} bytes are left over")


FORMS: dict[str, Callable[[Reader], Explanation | None]] = {
    "scouting": _read_scouting,
    "transport": _read_one("transport"),
    "network": _read_one("network"),
    "data": _read_one("data"),
    "declaration": _read_one("declare"),
    "batch": _read_batch,
    "stream": _read_stream,
    "compressed": _read_compressed,
    "low-latency": _read_low_latency,
    "link-state": _read_structure("LinkStateList"),
    "vle": _read_vle,
    "timestamp": _read_leaf("timestamp", "read_timestamp"),
    "encoding": _read_leaf("encoding", "read_encoding"),
}

# Forms in order of preference where several fit.
GUESSES = ("network", "batch", "scouting", "stream", "low-latency", "compressed")


# --- for programs ---------------------------------------------------------------------------


def to_json(found: Explanation) -> dict[str, Any]:
    """A tree of plain values."""
    error = found.error
    return {
        "as": found.form,
        "bytes": len(found.data),
        "spans": [_span_json(span) for span in found.root.children],
        "error": error
        and {
            "message": error.message,
            "field": error.field,
            "offset": error.offset,
            "cause": error.cause,
        },
        "content": to_json(found.content) if found.content else None,
    }


def _span_json(span: Span) -> dict[str, Any]:
    return {
        "name": span.name,
        "start": span.start,
        "stop": span.stop,
        "type": span.type,
        "value": value_text(span.value),
        "meaning": span.meaning,
        "bits": [vars(bits) for bits in span.bits],
        "children": [_span_json(child) for child in span.children],
    }
