"""Compares the two codecs: generated code, and the one that interprets layouts.

They share leaf functions and nothing else, so wherever they agree a slip would have to be made
twice. Every helper here checks both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from zenlake.errors import WireError
from zenlake.wire import Layer, Message, encode
from zenlake.wire._generated import data as data_codecs
from zenlake.wire._generated import declare, network, scouting, structures, transport
from zenlake.wire._generated.network import decode_network
from zenlake.wire._generated.scouting import decode_scouting
from zenlake.wire._generated.transport import decode_transport
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.generate.names import snake
from zenlake.wire.walk import Reader, decode_by_layout, encode_by_layout


@dataclass(frozen=True)
class Failure:
    """All fields of a WireError."""

    message: str
    field: str
    offset: int
    cause: str
    partial: object = None


T = TypeVar("T")
Outcome = tuple[Message, int] | Failure


def decode_generated(data: bytes, layer: Layer) -> tuple[Message, int]:
    """The first message in `data` and where it ends."""
    if layer == "network":
        return decode_network(data, 0)
    if layer == "transport":
        return decode_transport(data, 0)
    return decode_scouting(data, 0)


def outcome_of(decode: Callable[[], T]) -> T | Failure:
    """What is decoded, or all fields of the error."""
    try:
        return decode()
    except WireError as error:
        return Failure(error.message, error.field, error.offset, error.cause, error.partial)


def outcome_generated(data: bytes, layer: Layer) -> Outcome:
    return outcome_of(lambda: decode_generated(data, layer))


def outcome_of_both(data: bytes, layer: Layer) -> Outcome:
    """The result of both decoders, which must not differ."""
    generated = outcome_generated(data, layer)
    by_layout = outcome_of(lambda: decode_by_layout(data, layer))
    assert generated == by_layout, f"{layer} {data.hex(' ')}"
    return generated


_MODULES = (structures, data_codecs, declare, network, scouting, transport)


def decoder_of(class_name: str) -> Callable[..., Any]:
    """The generated decoder of one class."""
    name = f"decode_{snake(class_name)}"
    module = next(module for module in _MODULES if hasattr(module, name))
    decoder: Callable[..., Any] = getattr(module, name)
    return decoder


def outcome_of_class(data: bytes, class_name: str) -> Outcome:
    """The result of both decoders of one class of any layer."""
    layout = LAYOUTS[class_name]
    bounds = () if layout.header else (len(data),)
    generated: Outcome = outcome_of(lambda: decoder_of(class_name)(data, 0, *bounds))
    reader = Reader(data)
    by_layout = outcome_of(lambda: reader.read_layout(layout, 0, len(data), reader.root))
    assert generated == by_layout, f"{class_name} {data.hex(' ')}"
    return generated


def message_of(outcome: Outcome) -> Message:
    """The decoded message; an error fails the test."""
    assert not isinstance(outcome, Failure), outcome
    return outcome[0]


def encode_with_both(message: Message) -> bytes:
    generated = encode(message)
    assert encode_by_layout(message) == generated, message
    return generated


def check_both_directions(data: bytes, layer: Layer, message: Message) -> None:
    """Check that the bytes, and only these, decode to the message.

    They are decoded whole, with bytes after them, and truncated at every length.
    """
    assert encode_with_both(message) == data
    assert outcome_of_both(data, layer) == (message, len(data))
    check_with_trailing_bytes(data, layer, message)
    for size in range(len(data)):
        check_truncated(data[:size], layer, message)


def check_with_trailing_bytes(data: bytes, layer: Layer, message: Message) -> None:
    """Bytes after a message are not part of it, unless it extends to the end of the buffer.

    No network message begins with the bytes added, so a FRAME ends before them too.
    """
    for more in (b"\x00", b"\x08" + b"\xff" * 20):
        outcome = outcome_of_both(data + more, layer)
        if takes_the_rest(message):
            assert outcome != (message, len(data))
        else:
            assert outcome == (message, len(data))


def takes_the_rest(message: Message) -> bool:
    return message.NAME == "FRAGMENT"


def check_truncated(data: bytes, layer: Layer, whole: Message) -> None:
    """A truncated message is an error within the bytes, or another valid message."""
    outcome = outcome_of_both(data, layer)
    if isinstance(outcome, Failure):
        assert 0 <= outcome.offset <= len(data)
        assert outcome.field
    else:
        message, stop = outcome
        assert message != whole
        assert stop <= len(data)
