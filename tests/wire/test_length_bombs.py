"""Lengths and counts above the available bytes are refused, and no memory is allocated."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from tests.measuring import traced_memory
from tests.vectors import ALL, Vector
from tests.wire.both_codecs import (
    Failure,
    Outcome,
    decoder_of,
    outcome_generated,
    outcome_of_both,
    outcome_of_class,
)
from zenlake.errors import WireError
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import (
    Enc,
    ExtRow,
    FieldRow,
    KeyRow,
    Layout,
    ListRow,
    OamBodyRow,
    Row,
    WireType,
)

ALLOCATED_MAX = 64 * 1024
BOMBS = {
    "2^32-1": "ff ff ff ff 0f",
    "65535": "ff ff 03",
    "2^63": "80 80 80 80 80 80 80 80 80",
    "2^64-1": "ff ff ff ff ff ff ff ff ff",
}

# Class, attribute, and the bytes up to a length or count of it.
LENGTHS = [
    ("Hello", "locators", "22 09 00 07"),
    ("Hello", "locators", "22 09 00 07 01"),
    ("TransportOam", "body", "40 05"),
    ("Init", "cookie", "21 09 00 aa"),
    ("Init", "shm", "81 09 00 aa 42"),
    ("Init", "auth", "81 09 00 aa 43"),
    ("Init", "auth", "81 09 00 aa 43 0a 42"),
    ("Init", "multilink", "81 09 00 aa 44"),
    ("Init", "region", "81 09 00 aa 48"),
    ("Open", "cookie", "02 0a 05"),
    ("Open", "shm_bytes", "a2 0a 05 42"),
    ("Open", "auth", "a2 0a 05 43"),
    ("Open", "multilink", "a2 0a 05 44"),
    ("Join", "qos", "87 09 00 aa 0a 05 06 51"),
    ("Join", "shm", "87 09 00 aa 0a 05 06 52"),
    ("Interest", "key", "39 01 30 00"),
    ("Interest", "timestamp", "99 01 42"),
    ("ResponseFinal", "timestamp", "9a 01 42"),
    ("Response", "key", "7b 01 00"),
    ("Response", "timestamp", "db 01 09 42"),
    ("Response", "responder", "db 01 09 43"),
    ("Response", "stamps", "db 01 09 47"),
    ("Request", "key", "7c 01 00"),
    ("Request", "timestamp", "dc 01 09 42"),
    ("Request", "stamps", "dc 01 09 47"),
    ("Push", "key", "7d 00"),
    ("Push", "timestamp", "dd 09 42"),
    ("Push", "stamps", "dd 09 47"),
    ("Declare", "timestamp", "9e 42"),
    ("Oam", "timestamp", "9f 01 42"),
    ("Oam", "body", "5f 01"),
    ("Put", "timestamp", "21 07"),
    ("Put", "encoding", "41 09"),
    ("Put", "source_info", "81 41"),
    ("Put", "attachment", "81 43"),
    ("Put", "payload", "01"),
    ("Put", "payload", "81 12"),
    ("Put", "payload", "81 12 01 00"),
    ("Del", "timestamp", "22 07"),
    ("Del", "source_info", "82 41"),
    ("Del", "attachment", "82 42"),
    ("Query", "parameters", "43"),
    ("Query", "source_info", "83 41"),
    ("Query", "body", "83 43"),
    ("Query", "body", "83 84 43 05 00"),
    ("Query", "attachment", "83 45"),
    ("Err", "encoding", "45 09"),
    ("Err", "source_info", "85 41"),
    ("Err", "payload", "05"),
    ("DeclareKeyExpr", "key", "20 01 00"),
    ("DeclareSubscriber", "key", "22 01 00"),
    ("DeclareQueryable", "key", "24 01 00"),
    ("DeclareToken", "key", "26 01 00"),
    ("UndeclareSubscriber", "key", "83 01 5f"),
    ("UndeclareQueryable", "key", "85 01 5f"),
    ("UndeclareToken", "key", "87 01 5f"),
    ("QueryBody", "encoding", "09"),
    ("StampRecord", "time", "01"),
    ("TimestampStack", "records", "01"),
    ("LinkState", "zid", "01 00 00"),
    ("LinkState", "locators", "04 00 00"),
    ("LinkState", "links", "00 00 00"),
    ("LinkStateList", "link_states", ""),
]


def has_length(layout: Layout, row: Row) -> bool:
    """Whether a row holds a length or count on the wire."""
    match row:
        case FieldRow():
            return row.type.python in ("bytes", "str", "Timestamp", "Encoding", "ZenohId") and (
                not row.type.read.startswith("read_rest")
            )
        case ExtRow():
            return row.enc is Enc.ZBUF
        case ListRow():
            return isinstance(row.count, WireType)
        case KeyRow():
            return not row.suffix.read.startswith("read_rest")
    return isinstance(row, OamBodyRow)


def test_the_table_has_every_length_of_every_message() -> None:
    wanted = {
        (layout.class_name, row.attribute)
        for layout in LAYOUTS.values()
        for row in layout.rows
        if has_length(layout, row)
    }
    assert {(name, attribute) for name, attribute, _ in LENGTHS} == wanted


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize(("name", "attribute", "before"), LENGTHS)
def test_length_that_claims_too_much_is_refused(
    name: str, attribute: str, before: str, bomb: str
) -> None:
    data = bytes.fromhex(before + BOMBS[bomb]).ljust(20, b"\x01")
    outcome = outcome_of_class(data, name)
    assert isinstance(outcome, Failure)
    assert (outcome.message, outcome.field) == (LAYOUTS[name].name, field_of(name, attribute))
    assert peak_of_refusal(data, name) < ALLOCATED_MAX


def field_of(name: str, attribute: str) -> str:
    """The field in the error: a key has two fields, and its suffix has the length."""
    row = next(row for row in LAYOUTS[name].rows if row.attribute == attribute)
    return "key_suffix" if isinstance(row, KeyRow) else attribute


def peak_of_refusal(data: bytes, name: str) -> int:
    decode = decoder_of(name)
    bounds = () if LAYOUTS[name].header else (len(data),)
    with traced_memory():
        with pytest.raises(WireError):
            decode(data, 0, *bounds)
        return tracemalloc.get_traced_memory()[1]


def with_bombs(data: bytes) -> Iterator[bytes]:
    """Each byte replaced by a huge number, which includes every length and count."""
    for position in range(1, len(data)):
        for bomb in BOMBS.values():
            yield data[:position] + bytes.fromhex(bomb) + data[position + 1 :]


@pytest.mark.parametrize("vector", ALL, ids=str)
def test_huge_number_anywhere_allocates_little(vector: Vector) -> None:
    inputs = list(with_bombs(vector.data))
    outcomes: list[Outcome] = []
    with traced_memory():
        for data in inputs:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            outcomes.append(outcome_generated(data, vector.layer))
            assert tracemalloc.get_traced_memory()[1] - before < ALLOCATED_MAX, data.hex(" ")
    for data, outcome in zip(inputs, outcomes, strict=True):
        assert outcome_of_both(data, vector.layer) == outcome
