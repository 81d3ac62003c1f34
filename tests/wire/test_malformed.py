"""Bytes that are not a message: the error names the rule and the position."""

from __future__ import annotations

import random

import pytest

from tests.wire.both_codecs import Failure, message_of, outcome_of_both, outcome_of_class
from tests.wire.minimal_messages import MINIMAL, chain_offset, with_chain
from zenlake.errors import WireError
from zenlake.wire import Encoding, Interest, Push, Put, WireExpr, decode, decode_batch
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import BodyRow

GARBAGE = 10_000


# --- layers -----------------------------------------------------------------------------------


def test_each_body_accepts_only_its_own_sub_messages() -> None:
    for layout in LAYOUTS.values():
        for row in layout.rows:
            if not isinstance(row, BodyRow):
                continue
            allowed = {LAYOUTS[choice].id for choice in row.choices}
            before = bytearray(bytes.fromhex(MINIMAL[layout.class_name][0]))
            before[0] &= 0x7F
            for id in set(range(32)) - allowed:
                data = bytes(before) + bytes([id]) + b"\x00" * 8
                outcome = outcome_of_class(data, layout.class_name)
                assert isinstance(outcome, Failure)
                assert (outcome.message, outcome.field) == (layout.name, row.attribute)
                assert outcome.offset == len(before)
                assert outcome.cause.startswith(f"{id:#04x} is not ")


@pytest.mark.parametrize("data", ["01 01 31", "02", "03", "04 02", "05 01 21", "00 01 09", "18 00"])
def test_sub_message_or_unknown_id_is_no_network_message(data: str) -> None:
    with pytest.raises(WireError, match="is no network message") as caught:
        decode(bytes.fromhex(data), "network")
    assert (caught.value.message, caught.value.field, caught.value.offset) == (
        "network",
        "header",
        0,
    )


def test_network_message_outside_a_frame_is_an_error() -> None:
    batch = decode_batch(bytes.fromhex("04 7d 00 03 6b 2f 61 02"))
    assert len(batch.messages) == 1
    assert batch.error is not None
    assert (batch.error.offset, batch.error.cause) == (1, "0x1d is no transport message")


def test_transport_message_inside_a_frame_ends_the_frame() -> None:
    batch = decode_batch(bytes.fromhex("25 64 5d 09 02 04 5d 09 02"))
    assert [message.NAME for message in batch.messages] == ["FRAME", "KEEP_ALIVE"]
    assert batch.error is not None
    assert batch.error.offset == 6


def test_second_declaration_in_a_declare_is_an_error() -> None:
    with pytest.raises(WireError, match="1 bytes are left over") as caught:
        decode(bytes.fromhex("1e 1a 1a"), "network")
    assert (caught.value.message, caught.value.field, caught.value.offset) == ("DECLARE", "end", 2)


def test_scouting_has_two_messages_only() -> None:
    for id in set(range(32)) - {1, 2}:
        outcome = outcome_of_both(bytes([id]) + b"\x09" * 8, "scouting")
        assert outcome == Failure("scouting", "header", 0, f"{id:#04x} is no scouting message")


# --- text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "layer", "message", "field"),
    [
        ("7d 00 02 61 ff 02", "network", "PUSH", "key_suffix"),
        ("1e 20 01 00 02 61 ff", "network", "D_KEYEXPR", "key_suffix"),
        ("1e 83 01 5f 04 01 01 61 ff", "network", "UndeclaredKey", "key_suffix"),
        ("39 01 32 00 02 61 ff", "network", "INTEREST", "key_suffix"),
        ("5c 01 09 43 02 61 ff", "network", "QUERY", "parameters"),
        ("22 09 00 07 01 06 74 63 70 2f 61 ff", "scouting", "HELLO", "locators"),
        ("81 09 02 bb 48 02 61 ff", "transport", "INIT", "region"),
    ],
)
def test_text_that_is_not_utf8(data: str, layer: str, message: str, field: str) -> None:
    outcome = outcome_of_both(bytes.fromhex(data), layer)  # type: ignore[arg-type]  # a Layer
    assert isinstance(outcome, Failure)
    assert (outcome.message, outcome.field) == (message, field)
    assert outcome.cause == "the text is not UTF-8"


def test_schema_of_an_encoding_is_bytes_and_kept() -> None:
    data = bytes.fromhex("5d 09 41 09 02 61 ff 01 31")
    message = message_of(outcome_of_both(data, "network"))
    assert message == Push(WireExpr(9), Put(b"1", encoding=Encoding(4, b"a\xff")))
    assert bytes(message) == data


@pytest.mark.parametrize("text", ["a\0b", "\u202eevil", "🤖/é", "a//b", "#?$"])
def test_odd_but_valid_text_survives_byte_for_byte(text: str) -> None:
    raw = text.encode()
    data = b"\x7d\x00" + bytes([len(raw)]) + raw + b"\x02"
    message = message_of(outcome_of_both(data, "network"))
    assert isinstance(message, Push)
    assert message.key.suffix == text
    assert bytes(message) == data


@pytest.mark.parametrize(
    "locator", ["tcp", "tcp/", "/a", "tcp/a#b", "tcp/a?", "tcp/a?b;a", "tcp/a?=1"]
)
def test_locator_that_is_not_canonical_is_refused(locator: str) -> None:
    data = b"\x22\x09\x00\x07\x01" + bytes([len(locator)]) + locator.encode()
    outcome = outcome_of_both(data, "scouting")
    assert isinstance(outcome, Failure)
    assert (outcome.message, outcome.field) == ("HELLO", "locators")


# --- garbage inside ---------------------------------------------------------------------------


NESTED = [
    ("Query", 0x43),
    ("Query", 0x45),
    ("Put", 0x41),
    ("Put", 0x43),
    ("Push", 0x42),
    ("Push", 0x47),
    ("Response", 0x43),
    ("Init", 0x43),
    ("Join", 0x51),
    ("UndeclareToken", 0x5F),
]


@pytest.mark.parametrize(("name", "header"), NESTED)
def test_garbage_inside_an_extension_stays_inside(name: str, header: int) -> None:
    """It is an error or a value; bytes after the extension are not affected."""
    source = random.Random(header)
    for _ in range(GARBAGE // len(NESTED)):
        size = source.choice((0, 1, 2, 5, 20, 100))
        garbage = source.randbytes(size)
        if source.random() < 0.5:  # small numbers are read further before an error
            garbage = bytes(byte & 0x0F for byte in garbage)
        data = with_chain(name, bytes([header, size]) + garbage)
        outcome = outcome_of_class(data, name)
        if isinstance(outcome, Failure):
            assert chain_offset(name) <= outcome.offset <= chain_offset(name) + 2 + size
        else:
            assert outcome[1] == len(data)


def test_interest_final_has_no_options() -> None:
    message = message_of(outcome_of_both(bytes.fromhex("19 01"), "network"))
    assert isinstance(message, Interest)
    assert message.key is None
    assert not message.tokens
