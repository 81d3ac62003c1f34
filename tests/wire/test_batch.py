"""The content of one transport unit (the wire reference §6.1, §6.4, §9)."""

from __future__ import annotations

import pytest

from tests.vectors import ALL, UNITS
from tests.vectors.vector import Unit
from zenlake.wire import (
    Close,
    Frame,
    KeepAlive,
    Message,
    NetworkMessage,
    Push,
    Put,
    TransportMessage,
    WireExpr,
    decode_batch,
    decode_low_latency,
    encode,
    encode_messages,
)

PUSH = Push(WireExpr(0, "k/a"), Put(b"v1"))
PUSH_HEX = "7d 00 03 6b 2f 61 01 02 76 31"


@pytest.mark.parametrize("unit", [u for u in UNITS if u.kind == "batch"], ids=str)
def test_batch_vectors(unit: Unit) -> None:
    batch = decode_batch(unit.data)
    assert tuple(batch.messages) == unit.messages
    assert batch.error is None
    assert encode_messages(list(unit.messages)) == unit.data


def test_all_transport_vectors_fit_one_batch() -> None:
    """All except FRAGMENT, which extends to the end of its batch."""
    messages: list[Message] = [
        vector.message
        for vector in ALL
        if vector.layer == "transport" and vector.message.NAME != "FRAGMENT"
    ]
    batch = decode_batch(encode_messages(messages))
    assert batch.messages == messages
    assert batch.error is None


def test_all_network_vectors_fit_one_frame() -> None:
    messages = [v.message for v in ALL if isinstance(v.message, NetworkMessage)]
    batch = decode_batch(encode(Frame(7, messages)))
    assert batch.messages == [Frame(7, messages)]


def test_empty_batch_has_no_messages() -> None:
    batch = decode_batch(b"")
    assert batch.messages == []
    assert batch.error is None


def test_messages_before_a_bad_one_are_kept() -> None:
    data = bytes.fromhex(f"04 25 64 {PUSH_HEX} {PUSH_HEX} 7d 00 03 6b 2f 61 06 04")
    batch = decode_batch(data)
    assert batch.messages == [KeepAlive(), Frame(100, [PUSH, PUSH])]
    assert batch.error is not None
    assert (batch.error.message, batch.error.field, batch.error.offset) == ("PUSH", "body", 29)
    assert batch.error.cause == "0x06 is not PUT or DEL"


def test_frame_with_bad_fields_delivers_nothing() -> None:
    batch = decode_batch(bytes.fromhex("04 a5 64 31"))
    assert batch.messages == [KeepAlive()]
    assert batch.error is not None
    assert (batch.error.message, batch.error.field, batch.error.offset) == ("FRAME", "qos", 3)


def test_fragment_extends_to_the_end_of_the_batch() -> None:
    batch = decode_batch(bytes.fromhex("26 66 dd 04 04"))
    (fragment,) = batch.messages
    assert bytes(fragment) == bytes.fromhex("26 66 dd 04 04")


@pytest.mark.parametrize("unit", [u for u in UNITS if u.kind == "ll"], ids=str)
def test_low_latency_vectors_after_their_prefix(unit: Unit) -> None:
    found = decode_low_latency(unit.data[4:])
    assert tuple(found.messages) == unit.messages
    assert found.error is None


def test_low_latency_unit_is_read_to_its_end() -> None:
    found = decode_low_latency(bytes.fromhex(f"{PUSH_HEX} 04 {PUSH_HEX} 03 00"))
    assert found.messages == [PUSH, KeepAlive(), PUSH, Close(0)]
    assert found.error is None
    assert decode_low_latency(b"").messages == []


@pytest.mark.parametrize("vector", [v for v in ALL if v.layer == "transport"], ids=str)
def test_low_latency_unit_has_no_other_transport_message(vector: object) -> None:
    message = vector.message  # type: ignore[attr-defined]  # a Vector
    assert isinstance(message, TransportMessage)
    data = bytes.fromhex(PUSH_HEX) + encode(message)
    found = decode_low_latency(data)
    if message.NAME in ("CLOSE", "KEEP_ALIVE"):
        assert found.messages == [PUSH, message]
        assert found.error is None
    else:
        assert found.messages == [PUSH]
        assert found.error is not None
        assert (found.error.message, found.error.offset) == ("low-latency unit", 10)
