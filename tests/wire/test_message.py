"""Behaviour of all messages, and the errors of `encode` and `decode`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.vectors import ALL
from tests.vectors.vector import zid
from tests.wire.both_codecs import Failure, outcome_of_both
from zenlake.errors import LocalError, WireError
from zenlake.wire import (
    Close,
    Declare,
    DeclareKeyExpr,
    Del,
    Extension,
    Frame,
    Init,
    Interest,
    InterestMode,
    Join,
    JoinQoS,
    KeepAlive,
    LaneSn,
    LinkState,
    Message,
    Oam,
    Push,
    Put,
    Query,
    Request,
    TimestampStack,
    WhatAmI,
    WireExpr,
    decode,
    encode,
)
from zenlake.wire.walk import decode_by_layout, encode_by_layout

A = zid("a")


def test_messages_are_equal_by_value_and_class() -> None:
    assert Close(0) == Close(0)
    assert Close(0) != Close(1)
    assert Close(0) != 0
    assert Put(b"") != Del()
    assert len({Close(0), Close(0), Close(1), Frame(1, [Push(WireExpr(1), Del())])}) == 3
    messages = [vector.message for vector in ALL]
    for index, message in enumerate(messages):
        assert [other for other in messages if other == message] == [messages[index]]


def test_repr_leaves_out_what_is_absent() -> None:
    assert repr(KeepAlive()) == "KeepAlive()"
    assert repr(Close(0)) == "Close(reason=0)"
    assert repr(Push(WireExpr(9), Put(b"x"))) == (
        "Push(key=WireExpr(9, '', sender=True), body=Put(payload=b'x'))"
    )


@pytest.mark.parametrize(
    ("header", "body"),
    [(0x0E, 1), (0x0E, b""), (0x2E, None), (0x2E, b""), (0x4E, None), (0x4E, 1), (0x6E, None)],
)
def test_extension_header_must_agree_with_its_body(header: int, body: int | bytes | None) -> None:
    with pytest.raises(LocalError, match="does not go with"):
        Extension(header, body)


@pytest.mark.parametrize("header", [-1, 0x80, 0x8E])
def test_extension_header_is_without_z(header: int) -> None:
    with pytest.raises(LocalError):
        Extension(header)


def test_extension_has_the_properties_of_its_header() -> None:
    extension = Extension(0x5F, b"x")
    assert (extension.id, extension.mandatory) == (0x0F, True)
    assert (Extension(0x2E, 5).id, Extension(0x2E, 5).mandatory) == (0x0E, False)
    assert len({extension, Extension(0x5F, b"x"), Extension(0x5F, b"y")}) == 2


UNSENDABLE: list[tuple[str, Callable[[], Message]]] = [
    ("go together|goes together", lambda: Init(WhatAmI.PEER, A, batch_size=5)),
    ("not sent in this mode", lambda: Interest(InterestMode.FINAL, 1, tokens=True)),
    ("not sent in this mode", lambda: Interest(InterestMode.FINAL, 1, key=WireExpr(1))),
    ("lanes", lambda: Join(WhatAmI.PEER, A, 1, 1, 1, qos=JoinQoS((LaneSn(1, 1),) * 7))),
    ("weights", lambda: LinkState(0, 0, (1, 2), weights=(1,))),
    ("budget cannot be 0", lambda: Request(1, WireExpr(1), Query(), budget=0)),
    ("points cannot be 0", lambda: Push(WireExpr(1), Del(), stamps=TimestampStack(0, ()))),
    ("cannot be empty", lambda: Init(WhatAmI.PEER, A, auth=())),
    ("INIT: region", lambda: Init(WhatAmI.PEER, A, region="")),
    ("INIT: region", lambda: Init(WhatAmI.PEER, A, region="é" * 17)),
    ("sender's", lambda: Declare(DeclareKeyExpr(1, WireExpr(5, "/a", sender=True)))),
    ("does not fit u8", lambda: Close(256)),
    ("does not fit z32", lambda: Frame(1 << 32, [])),
    ("does not fit z16", lambda: Oam(1 << 16)),
    ("does not fit z64", lambda: Oam(1, body=1 << 64)),
    ("does not fit z64", lambda: KeepAlive((Extension(0x2E, -1),))),
    ("UTF-8", lambda: Push(WireExpr(0, "\ud800"), Del())),
    ("65536", lambda: Push(WireExpr(0, "a" * 65536), Del())),
]


@pytest.mark.parametrize(("cause", "build"), UNSENDABLE)
def test_message_that_cannot_be_encoded_is_a_local_error(
    cause: str, build: Callable[[], Message]
) -> None:
    with pytest.raises(LocalError, match=cause):
        encode(build())
    with pytest.raises(LocalError):
        encode_by_layout(build())


def test_bytes_left_over_are_an_error_but_not_after_scouting() -> None:
    for data, layer in ((b"\x04\x04", "transport"), (b"\x1a\x01\x00", "network")):
        with pytest.raises(WireError, match="1 bytes are left over") as caught:
            decode(data, layer)  # type: ignore[arg-type]  # a Layer
        assert caught.value.field == "end"
    whole = bytes.fromhex("01 09 07")
    assert decode(whole + b"\xff\xff", "scouting") == decode(whole, "scouting")


def test_unknown_layer_is_a_local_error() -> None:
    with pytest.raises(LocalError, match="no layer"):
        decode(b"\x04", "session")  # type: ignore[arg-type]  # wrong on purpose


def test_slices_in_shared_memory_have_two_kinds() -> None:
    outcome = outcome_of_both(bytes.fromhex("5d 09 81 12 01 02 00"), "network")
    assert isinstance(outcome, Failure)
    assert (outcome.message, outcome.field) == ("PUT", "payload")
    assert outcome.cause.startswith("slice kind 2 does not exist")


def test_unknown_dialect_is_a_local_error() -> None:
    unknown: Any = "klingon"
    with pytest.raises(LocalError, match="there is no dialect 'klingon'"):
        decode(b"\x04", "transport", dialect=unknown)
    with pytest.raises(LocalError, match="there is no dialect 'klingon'"):
        encode(KeepAlive(), dialect=unknown)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_kind_of_buffer_is_read_into_bytes(kind: Callable[[bytes], Any]) -> None:
    push = decode(kind(bytes.fromhex("7d 00 01 61 01 01 31")), "network")
    assert isinstance(push, Push)
    assert isinstance(push.body, Put)
    assert type(push.body.payload) is bytes


def test_marker_of_shared_memory_after_its_body_is_refused() -> None:
    """It could not be encoded again in that order (the wire reference §2.2)."""
    late = bytes.fromhex("5c 01 09 83 c3 05 08 62 6f 64 79 04")
    with pytest.raises(WireError, match=r"QUERY\.extensions at byte 11: it must stand before"):
        decode(late, "network")
    with pytest.raises(WireError, match=r"QUERY\.extensions at byte 11: it must stand before"):
        decode_by_layout(late, "network")


def test_a_copy_has_everything_and_is_another_message() -> None:
    for vector in ALL:
        original = vector.message
        copy = original.copy()
        assert copy == original
        assert copy is not original
        for name in original.FIELDS:
            value = getattr(original, name)
            # In compiled code, each read of a number creates another object.
            copied = getattr(copy, name)
            assert copied == value if isinstance(value, int) else copied is value
