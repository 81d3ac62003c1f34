"""Extension chains: unknown and invalid extensions, and the limit of their number (§2.1)."""

from __future__ import annotations

import time

import pytest

from tests.wire.both_codecs import Failure, message_of, outcome_of_class
from tests.wire.minimal_messages import MINIMAL, chain_offset, with_chain
from zenlake.limits import EXTENSIONS_PER_MESSAGE_MAX
from zenlake.wire import Extension, Message, Push
from zenlake.wire.definitions import LAYOUTS

UNKNOWN = {0x0E: b"", 0x2E: b"\xac\x02", 0x4E: b"\x02hi"}
BODIES: dict[int, int | bytes | None] = {0x0E: None, 0x2E: 300, 0x4E: b"hi"}


def test_the_table_of_minimal_messages_has_every_message() -> None:
    assert set(MINIMAL) == {name for name, layout in LAYOUTS.items() if layout.id is not None}


def extensions_of(message: Message) -> tuple[Extension, ...]:
    kept: tuple[Extension, ...] = message.extensions  # type: ignore[attr-defined]  # all have it
    return kept


@pytest.mark.parametrize("name", MINIMAL)
@pytest.mark.parametrize("header", UNKNOWN)
def test_unknown_optional_extension_is_kept(name: str, header: int) -> None:
    data = with_chain(name, bytes([header]) + UNKNOWN[header])
    message = message_of(outcome_of_class(data, name))
    assert extensions_of(message) == (Extension(header, BODIES[header]),)
    assert bytes(message) == data


@pytest.mark.parametrize("name", MINIMAL)
@pytest.mark.parametrize("header", UNKNOWN)
def test_unknown_mandatory_extension_makes_the_message_unreadable(name: str, header: int) -> None:
    data = with_chain(name, bytes([header | 0x10]) + UNKNOWN[header])
    outcome = outcome_of_class(data, name)
    if name in ("Scout", "Hello"):  # deployed nodes ignore them
        kept = Extension(header | 0x10, BODIES[header])
        assert extensions_of(message_of(outcome)) == (kept,)
        return
    assert isinstance(outcome, Failure)
    assert (outcome.field, outcome.offset) == ("extensions", chain_offset(name))
    assert outcome.cause == f"unknown extension {header | 0x10:#04x} is mandatory"


@pytest.mark.parametrize("name", MINIMAL)
@pytest.mark.parametrize("header", [0x6E, 0x7E, 0x61, 0x71])
def test_reserved_extension_encoding_is_refused_everywhere(name: str, header: int) -> None:
    outcome = outcome_of_class(with_chain(name, bytes([header])), name)
    assert isinstance(outcome, Failure)
    assert (outcome.field, outcome.offset) == ("extensions", chain_offset(name))
    assert outcome.cause == f"extension {header & 0x0F:#x} has the reserved encoding 0b11"


@pytest.mark.parametrize("name", [name for name in MINIMAL if LAYOUTS[name].extensions])
def test_known_id_with_another_m_bit_is_an_unknown_extension(name: str) -> None:
    headers = {ext.header for ext in LAYOUTS[name].extensions}
    for ext in LAYOUTS[name].extensions:
        other = ext.header ^ 0x10
        assert other not in headers
        outcome = outcome_of_class(
            with_chain(name, bytes([other]) + UNKNOWN[ext.enc << 5 | 0x0E]), name
        )
        if other & 0x10:
            assert isinstance(outcome, Failure)
            assert outcome.cause == f"unknown extension {other:#04x} is mandatory"
        else:
            (kept,) = extensions_of(message_of(outcome))
            assert kept.header == other


@pytest.mark.parametrize("name", MINIMAL)
def test_ten_thousand_extensions_are_refused_at_the_limit(name: str) -> None:
    data = with_chain(name, b"\x8e" * 10_000 + b"\x0e")
    start = time.thread_time()
    outcome = outcome_of_class(data, name)
    assert time.thread_time() - start < 0.05
    assert isinstance(outcome, Failure)
    assert outcome.field == "extensions"
    assert outcome.offset == chain_offset(name) + EXTENSIONS_PER_MESSAGE_MAX
    assert outcome.cause == f"more than {EXTENSIONS_PER_MESSAGE_MAX} extensions"


def test_chain_that_never_ends_within_an_extension_is_refused() -> None:
    auth = b"\x82" * 100
    outcome = outcome_of_class(with_chain("Init", b"\x43" + bytes([len(auth)]) + auth), "Init")
    assert isinstance(outcome, Failure)
    assert (outcome.field, outcome.cause) == ("auth", "more than 32 extensions")


def test_last_of_repeated_extensions_wins() -> None:
    message = message_of(
        outcome_of_class(with_chain("Push", bytes.fromhex("a1 08 a1 09 21 0a")), "Push")
    )
    assert isinstance(message, Push)
    assert message.qos is not None
    assert message.qos.byte == 0x0A


def test_extensions_are_read_in_any_order() -> None:
    one = with_chain("Request", bytes.fromhex("a1 0d b4 01 26 e8 07"))
    two = with_chain("Request", bytes.fromhex("a6 e8 07 b4 01 21 0d"))
    assert message_of(outcome_of_class(one, "Request")) == message_of(
        outcome_of_class(two, "Request")
    )


def test_surplus_bytes_of_a_known_zbuf_are_ignored() -> None:
    exact = with_chain("Push", bytes.fromhex("42 03 07 01 aa"))
    surplus = with_chain("Push", bytes.fromhex("42 05 07 01 aa ff ff"))
    assert message_of(outcome_of_class(surplus, "Push")) == message_of(
        outcome_of_class(exact, "Push")
    )


@pytest.mark.parametrize(
    ("name", "chain", "field", "cause"),
    [
        ("Request", "34 03", "target", "query target 3 does not exist"),
        ("Request", "25 00", "budget", "0 is not allowed here"),
        ("Request", "25 80 80 80 80 10", "budget", "4294967296 is more than 4294967295"),
        ("Push", "33 80 80 04", "node_id", "65536 is more than 65535"),
        ("Push", "21 80 02", "qos", "256 is more than 255"),
        ("Push", "47 02 00 00", "points", "0 is not allowed here"),
        ("Open", "27 02", "remote_bound", "bound 2 does not exist"),
        ("Init", "48 00", "region", "0 bytes, 1 to 32 are possible"),
        ("Init", "48 21" + " 61" * 33, "region", "33 bytes, 1 to 32 are possible"),
        ("Init", "27 80 02", "patch", "256 is more than 255"),
        ("Init", "43 00", "auth", "the bytes end inside this field"),
        ("DeclareQueryable", "21 81 80 80 08", "info", "distance 65536 does not fit 16 bits"),
        ("Join", "51 0f" + " 01" * 15, "best_effort", "the bytes end inside this field"),
        ("Put", "41 02 00 00", "zid", "the id is zero"),
        ("Response", "43 01 f0", "zid", "the bytes end inside this field"),
    ],
)
def test_extension_value_that_does_not_exist(name: str, chain: str, field: str, cause: str) -> None:
    outcome = outcome_of_class(with_chain(name, bytes.fromhex(chain)), name)
    assert isinstance(outcome, Failure)
    assert outcome.field == field
    assert outcome.cause.startswith(cause)
