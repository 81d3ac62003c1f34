"""Every vector, in both directions, by both codecs."""

from __future__ import annotations

import pytest

from tests.vectors import ALL, LINK_STATES, NEGATIVE, Vector
from tests.vectors.negative import ACCEPTED
from tests.vectors.vector import LinkStateVector, NegativeVector
from tests.wire.both_codecs import check_both_directions, encode_with_both, outcome_of_both
from zenlake.errors import WireError
from zenlake.wire import Frame, Message, decode, decode_batch, decode_link_states, encode
from zenlake.wire.definitions import LAYOUTS
from zenlake.wire.layout import Enc, ExtRow
from zenlake.wire.walk import decode_structure_by_layout


@pytest.mark.parametrize("vector", ALL, ids=str)
def test_bytes_and_message_are_the_same(vector: Vector) -> None:
    check_both_directions(vector.data, vector.layer, vector.message)
    assert decode(vector.data, vector.layer) == vector.message
    assert encode(decode(vector.data, vector.layer)) == vector.data


@pytest.mark.parametrize("vector", LINK_STATES, ids=str)
def test_vectors_of_link_states_are_the_same_in_both_directions(vector: LinkStateVector) -> None:
    assert decode_link_states(vector.data) == vector.states
    assert decode_structure_by_layout("LinkStateList", vector.data) == vector.states
    assert encode_with_both(vector.states) == vector.data
    for size in range(len(vector.data)):
        with pytest.raises(WireError):
            decode_link_states(vector.data[:size])


@pytest.mark.parametrize("vector", NEGATIVE, ids=str)
def test_negative_vector_is_refused_at_the_right_field(vector: NegativeVector) -> None:
    batch = decode_batch(vector.data)
    assert batch.error is not None
    assert (batch.error.message, batch.error.field) == (vector.message, vector.field)
    assert (batch.error.offset, batch.error.cause) == (vector.offset, vector.cause)
    assert len(batch.messages) == vector.delivered
    outcome_of_both(vector.data, "transport")


@pytest.mark.parametrize("vector", ACCEPTED, ids=str)
def test_accepted_with_an_unknown_optional_extension(vector: Vector) -> None:
    assert outcome_of_both(vector.data, "transport") == (vector.message, len(vector.data))
    # Unknown ones are encoded after the known ones, so the bytes may differ, but not the message.
    assert decode(encode_with_both(vector.message), "transport") == vector.message


def test_numbers_are_unique() -> None:
    numbers = [vector.number for vector in ALL]
    assert len(numbers) == len(set(numbers))


def test_every_class_and_every_extension_has_a_vector() -> None:
    shown: set[tuple[str, str]] = set()
    for vector in ALL:
        _note(vector.message, shown)
    for states in LINK_STATES:
        _note(states.states, shown)
    wanted = {
        (layout.class_name, row.attribute)
        for layout in LAYOUTS.values()
        for row in layout.attributes
        if row.attribute != "extensions"
    }
    assert wanted - shown == set()


def test_vectors_show_every_header_of_the_extension_table() -> None:
    """The table of the wire reference §2.2, typed in by hand."""
    table = {
        "Init": "01 21 42 43 44 05 06 27 48",
        "Open": "22 42 43 44 04 27 01 05 06",
        "Join": "51 52 27",
        "Frame": "31",
        "TransportOam": "31",
        "Fragment": "31 02 03",
        "Close": "",
        "KeepAlive": "",
        "Scout": "",
        "Hello": "",
        "Push": "21 42 33 47",
        "Request": "21 42 33 47 34 25 26",
        "Response": "21 42 47 43",
        "ResponseFinal": "21 42",
        "Declare": "21 42 33",
        "Interest": "21 42 33",
        "Oam": "21 42",
        "DeclareKeyExpr": "",
        "UndeclareKeyExpr": "",
        "DeclareSubscriber": "",
        "UndeclareSubscriber": "5f",
        "DeclareQueryable": "21",
        "UndeclareQueryable": "5f",
        "DeclareToken": "",
        "UndeclareToken": "5f",
        "DeclareFinal": "",
        "Put": "41 12 43",
        "Del": "41 42",
        "Query": "41 04 43 45",
        "Reply": "",
        "Err": "41 12",
    }
    messages = {name: layout for name, layout in LAYOUTS.items() if layout.id is not None}
    assert set(table) == set(messages)
    for name, headers in table.items():
        assert {row.header for row in messages[name].extensions} == set(bytes.fromhex(headers)), (
            name
        )


def _note(message: Message, shown: set[tuple[str, str]]) -> None:
    """Collects the attributes that a message holds a value for, down to the leaves."""
    name = type(message).__name__
    for attribute in message.FIELDS:
        value = getattr(message, attribute)
        row = next(row for row in LAYOUTS[name].attributes if row.attribute == attribute)
        unit = isinstance(row, ExtRow) and row.enc is Enc.UNIT
        if value is None or (unit and value is False):
            continue
        shown.add((name, attribute))
        for item in value if isinstance(value, list | tuple) else [value]:
            if isinstance(item, Message):
                _note(item, shown)


def test_a_frame_keeps_the_messages_before_a_bad_one() -> None:
    data = bytes.fromhex("25 64 7d 00 03 6b 2f 61 01 02 76 31 7d 00 03 6b 2f 61 06")
    with pytest.raises(WireError, match="PUT or DEL") as caught:
        decode(data, "transport")
    assert isinstance(caught.value.partial, Frame)
    assert len(caught.value.partial.messages) == 1
