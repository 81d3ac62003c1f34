"""Fuzz targets: invariants for any bytes. A target raises if an invariant does not hold.

A decoder may only raise WireError (or KeyExprError); the generated decoder and the one that
interprets layouts must agree on the message or on the error; a decoded message must encode, and
decode again to the same message.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from zlib import crc32

import capture_targets

from zenlake.errors import KeyExprError, WireError
from zenlake.keyexpr import KeyExpr
from zenlake.keyexpr.key_format import KeyFormat
from zenlake.keyexpr.selector import Selector
from zenlake.keyexpr.time_range import TimeRange
from zenlake.keyexpr.tree import KeyTree
from zenlake.wire import decode, decode_batch, decode_link_states, decode_low_latency
from zenlake.wire.codec import Layer
from zenlake.wire.compression import compress_batch, decompress_batch
from zenlake.wire.framing import StreamDeframer
from zenlake.wire.message import Message
from zenlake.wire.walk import decode_by_layout, decode_structure_by_layout, encode_by_layout


def scouting(data: bytes) -> None:
    one_message(data, "scouting")


def transport(data: bytes) -> None:
    one_message(data, "transport")


def network(data: bytes) -> None:
    one_message(data, "network")


def one_message(data: bytes, layer: Layer) -> None:
    found = outcome(lambda: decode(data, layer))
    if isinstance(found, Message):
        encoded = bytes(found)
        again = decode(encoded, layer)
        assert again == found
        assert bytes(again) == encoded
    if is_sampled(data):
        second = outcome(lambda: decode_exactly(data, layer))
        assert found == second, f"{found!r} != {second!r}"
        if isinstance(found, Message):
            assert bytes(found) == encode_by_layout(found)
        outcome(lambda: decode(data, layer, dialect="pages"))


def is_sampled(data: bytes) -> bool:
    """One input in eight also goes through the layout walker, which is that much slower."""
    return crc32(data) % 8 == 0


def decode_exactly(data: bytes, layer: str) -> Message:
    """Decode by the layouts; like `decode`, refuse bytes after the message."""
    message, pos = decode_by_layout(data, layer)
    if pos < len(data) and layer != "scouting":
        raise WireError(message.NAME, "end", pos, f"{len(data) - pos} bytes are left over")
    return message


def outcome(read: Callable[[], Message]) -> Message | tuple[str, str, int, str]:
    """The message, or the fields of the WireError."""
    try:
        return read()
    except WireError as error:
        return error.message, error.field, error.offset, error.cause


def batch(data: bytes) -> None:
    found = decode_batch(data)
    encoded = b"".join(map(bytes, found.messages))
    again = decode_batch(encoded)
    assert again.error is None
    assert again.messages == found.messages
    decode_low_latency(data)
    stream = StreamDeframer()
    with suppress(WireError):
        for start in range(0, len(data), 7):
            stream.receive(data[start : start + 7])
    assert decompress_batch(compress_batch(data), len(data) or 1) == data
    with suppress(WireError):
        assert len(decompress_batch(data, 4096)) <= max(4096, len(data))


def link_state(data: bytes) -> None:
    found = outcome(lambda: decode_link_states(data))
    if isinstance(found, Message):
        assert decode_link_states(bytes(found)) == found
    if is_sampled(data):
        second = outcome(lambda: decode_structure_by_layout("LinkStateList", data))
        assert found == second, f"{found!r} != {second!r}"
        outcome(lambda: decode_link_states(data, dialect="pages"))


def key_expression(data: bytes) -> None:
    """Two texts, separated by a line feed, parsed as everything that has a text form."""
    text = data.decode(errors="replace")
    first, _, second = text.partition("\n")
    for parse in (KeyFormat, TimeRange.parse, Selector):
        with suppress(KeyExprError):
            parse(first)
    try:
        a, b = KeyExpr.autocanonize(first), KeyExpr.autocanonize(second)
    except KeyExprError:
        return
    assert KeyExpr(str(a)) == a
    assert a.intersects(b) == b.intersects(a)
    assert a.intersects(a)
    assert a.includes(a)
    if a.includes(b):
        assert a.intersects(b)
    tree: KeyTree[str] = KeyTree()
    tree.insert(str(a), str(a))
    assert bool(tree.intersecting(str(b))) == a.intersects(b)
    if not b.is_wild:
        assert bool(tree.match_key(str(b))) == a.intersects(b)
    assert tree.remove(str(a)) == str(a)
    assert len(tree) == 0


TARGETS: dict[str, Callable[[bytes], None]] = {
    "scouting": scouting,
    "transport": transport,
    "network": network,
    "batch": batch,
    "link_state": link_state,
    "key_expression": key_expression,
    **capture_targets.TARGETS,
}
