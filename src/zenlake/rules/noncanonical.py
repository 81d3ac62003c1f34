"""Noncanonical encodings: where a batch differs from the canonical encoding of its messages.

Most batches do not differ. One that does is decoded again by the codec that labels every bit, to
name the difference: reserved bits, integers that are too long, repeated extensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from zenlake.errors import LocalError
from zenlake.wire.batch import encode_messages
from zenlake.wire.message import Message
from zenlake.wire.values.zenoh_id import ZenohId

if TYPE_CHECKING:
    from zenlake.wire.walk import Span

RESERVED: Final = "reserved"
OVERLONG: Final = "overlong"
REPEATED: Final = "repeated"
EMPTY_SUFFIX: Final = "empty suffix"
ZID_ZEROS: Final = "zid zeros"

_PRIORITY_CARRIERS: Final = ("FRAME", "FRAGMENT", "TRANSPORT_OAM")
_ENCODING: Final = 0x60
_UNIT: Final = 0x00


class Deviation(NamedTuple):
    kind: str
    text: str


def deviations(content: bytes, messages: list[Message], form: str) -> list[Deviation]:
    """The differences in a unit that was decoded to its end as `messages`.

    `form` is `batch`, `low-latency` or `scouting`.
    """
    try:
        if encode_messages(messages) == content:
            return []
    except LocalError:
        pass  # decodable, but not encodable
    data = content
    if form == "low-latency":
        data = len(content).to_bytes(4, "little") + content
    # Imported late: the labelling codec takes longer to load than most captures to check.
    from zenlake.wire.explain import explain

    found = explain(data, form)
    if found.error is not None:
        return []
    return [one for span in found.root.children for one in _span_deviations(span, data, "")]


def _span_deviations(span: Span, data: bytes, owner: str) -> Iterator[Deviation]:
    if span.kind == "message":
        owner = span.name
        yield from _repeated(span)
    for bits in span.bits:
        if bits.name == "X" and bits.value:
            yield Deviation(
                RESERVED, f"{owner}, {span.name}: reserved bits {bits.mask:#04x} are set"
            )
    yield from _value_deviations(span, data, owner)
    for child in span.children:
        yield from _span_deviations(child, data, owner)


def _repeated(span: Span) -> Iterator[Deviation]:
    names = [one.name for one in span.children if one.kind == "extension"]
    for name in dict.fromkeys(names):
        if name != "unknown" and names.count(name) > 1:
            yield Deviation(
                REPEATED, f"{span.name}: extension {name} comes {names.count(name)} times"
            )


def _value_deviations(span: Span, data: bytes, owner: str) -> Iterator[Deviation]:
    start, place = span.start, f"{owner}, {span.name}"
    if span.kind == "extension":
        if data[start] & _ENCODING == _UNIT:
            return
        start += 1
        number = _number(data, start)
        if number & _reserved_bits(span.name, owner):
            yield Deviation(RESERVED, f"{place}: reserved bits of {number:#04x} are set")
    elif isinstance(span.value, ZenohId):
        if span.stop - span.start > 1 and data[span.stop - 1] == 0:
            yield Deviation(ZID_ZEROS, f"{place}: zeros at the high end of {span.value}")
        return
    elif span.name == "key_suffix":
        if span.value == "":
            yield Deviation(EMPTY_SUFFIX, f"{owner}: the suffix is empty although N announces one")
            return
    elif span.name == "resolution":
        if data[start] & 0xF0:
            yield Deviation(RESERVED, f"{place}: reserved bits of {data[start]:#04x} are set")
        return
    elif not _begins_with_number(span):
        return
    size = _overlong(data, start)
    if size:
        yield Deviation(OVERLONG, f"{place}: {_number(data, start)} is written in {size} bytes")


def _reserved_bits(extension: str, owner: str) -> int:
    """Reserved bits in the low byte of a numeric extension (§2.4)."""
    if extension == "qos":
        return 0xF8 if owner in _PRIORITY_CARRIERS else 0xC0
    return 0xFE if extension == "info" else 0


def _begins_with_number(span: Span) -> bool:
    return span.type.startswith("z") or ";z" in span.type or span.type in ("timestamp", "encoding")


def _number(data: bytes, at: int) -> int:
    value = 0
    for index, byte in enumerate(data[at : at + 9]):
        if index == 8:
            return value | byte << 56
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    return value


def _overlong(data: bytes, at: int) -> int:
    """The number of bytes of an integer if fewer suffice, else 0."""
    for index, byte in enumerate(data[at : at + 9]):
        if index == 8 or byte < 0x80:
            return index + 1 if index and byte == 0 else 0
    return 0
