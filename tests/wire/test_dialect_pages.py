"""The layouts of the spec pages, in the four places where deployed nodes have another.

docs/spec-notes.md: SN-43 (QueryableInfo), SN-45 (WireExpr suffix), SN-58 (QueryBody payload),
SN-73 (link states).
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings

from tests.vectors import ALL, LINK_STATES, Vector
from tests.vectors.declarations import declare
from tests.vectors.vector import LinkStateVector, zid
from zenlake.errors import WireError
from zenlake.testing.strategies import messages
from zenlake.wire import (
    DeclareQueryable,
    Encoding,
    LinkState,
    LinkStateList,
    Message,
    Query,
    QueryableInfo,
    QueryBody,
    Request,
    UndeclaredKey,
    UndeclareToken,
    WhatAmI,
    WireExpr,
    decode,
    decode_link_states,
    encode,
)


@dataclass(frozen=True)
class TwoForms:
    """One message as deployed nodes and as the pages write it."""

    meaning: str
    message: Message
    deployed: str
    pages: str

    def __str__(self) -> str:
        return self.meaning


def _queryable(info: QueryableInfo) -> Message:
    return declare(DeclareQueryable(3, WireExpr(3), info))


DIFFERENT = (
    TwoForms(
        "QueryableInfo complete, distance 3",
        _queryable(QueryableInfo(True, 3)),
        "9e 21 08 c4 03 03 21 81 06",
        "9e 21 08 c4 03 03 21 07",
    ),
    TwoForms(
        "QueryableInfo not complete, distance 65535",
        _queryable(QueryableInfo(False, 65535)),
        "9e 21 08 c4 03 03 21 80 fe ff 07",
        "9e 21 08 c4 03 03 21 fe ff 07",
    ),
    TwoForms(
        "WireExpr suffix",
        declare(UndeclareToken(5, UndeclaredKey(WireExpr(1, "/**")))),
        "9e 21 08 87 05 5f 05 03 01 2f 2a 2a",
        "9e 21 08 87 05 5f 06 03 01 03 2f 2a 2a",
    ),
    TwoForms(
        "QueryBody payload",
        Request(1, WireExpr(9), Query(body=QueryBody(Encoding(4), b"body"))),
        "5c 01 09 83 43 05 08 62 6f 64 79",
        "5c 01 09 83 43 06 08 04 62 6f 64 79",
    ),
    TwoForms(
        "QueryBody without payload",
        Request(1, WireExpr(9), Query(body=QueryBody(Encoding(4), b""))),
        "5c 01 09 83 43 01 08",
        "5c 01 09 83 43 02 08 00",
    ),
)


@pytest.mark.parametrize("forms", DIFFERENT, ids=str)
def test_each_dialect_writes_and_reads_its_own_form(forms: TwoForms) -> None:
    deployed, pages = bytes.fromhex(forms.deployed), bytes.fromhex(forms.pages)
    assert encode(forms.message) == deployed
    assert encode(forms.message, dialect="deployed") == deployed
    assert encode(forms.message, dialect="pages") == pages
    assert decode(deployed, "network") == forms.message
    assert decode(pages, "network", dialect="pages") == forms.message


@pytest.mark.parametrize("forms", DIFFERENT, ids=str)
def test_each_dialect_misreads_or_refuses_the_other_s_form(forms: TwoForms) -> None:
    assert _outcome(bytes.fromhex(forms.pages), "deployed") != forms.message
    assert _outcome(bytes.fromhex(forms.deployed), "pages") != forms.message


def _outcome(data: bytes, dialect: str) -> Message | None:
    try:
        return decode(data, "network", dialect=dialect)  # type: ignore[arg-type]  # a Dialect
    except WireError:
        return None


def test_deployed_dialect_misreads_the_forms_of_the_pages() -> None:
    info, _, suffix, payload, _ = (decode(bytes.fromhex(f.pages), "network") for f in DIFFERENT)
    assert info == _queryable(QueryableInfo(True, 0))
    assert suffix == declare(UndeclareToken(5, UndeclaredKey(WireExpr(1, "\x03/**"))))
    assert payload == Request(1, WireExpr(9), Query(body=QueryBody(Encoding(4), b"\x04body")))


# --- link states ------------------------------------------------------------------------------


NODE = LinkStateList((LinkState(psid=2, sn=0, links=(), zid=zid("a3")),))
TWO = LinkStateList((*NODE.link_states, LinkState(0, 1, (2,), whatami=WhatAmI.ROUTER)))


@pytest.mark.parametrize(
    ("states", "deployed", "pages"),
    [
        (LinkStateList(()), "00", "10"),
        (NODE, "01 01 02 00 01 a3 00", "10 01 02 00 01 a3 00"),
        (TWO, "02 01 02 00 01 a3 00 02 00 01 01 01 02", "10 01 02 00 01 a3 00 02 00 01 01 01 02"),
    ],
)
def test_link_states_have_a_header_instead_of_a_count(
    states: LinkStateList, deployed: str, pages: str
) -> None:
    assert encode(states).hex(" ") == deployed
    assert encode(states, dialect="pages").hex(" ") == pages
    assert decode_link_states(bytes.fromhex(deployed)) == states
    assert decode_link_states(bytes.fromhex(pages), dialect="pages") == states


def test_deployed_decoder_reads_the_header_of_link_states_as_a_count() -> None:
    with pytest.raises(WireError, match="it claims 16 items, 6 bytes are left"):
        decode_link_states(bytes.fromhex("10 01 02 00 01 a3 00"))


def test_link_states_of_the_pages_need_their_header_and_whole_entries() -> None:
    for data in (b"", b"\x10\x01", b"\x10\x01\x02\x00\x01\xa3"):
        with pytest.raises(WireError):
            decode_link_states(data, dialect="pages")


# --- everything else --------------------------------------------------------------------------


SAME = [vector for vector in ALL if vector.number not in (84, 86, 113, "M9", "P6")]


@pytest.mark.parametrize("vector", SAME, ids=str)
def test_vectors_without_these_fields_are_the_same_in_both(vector: Vector) -> None:
    assert encode(vector.message, dialect="pages") == vector.data
    assert decode(vector.data, vector.layer, dialect="pages") == vector.message


@pytest.mark.parametrize("vector", LINK_STATES, ids=str)
def test_link_state_vectors_differ_in_their_first_byte_only(vector: LinkStateVector) -> None:
    assert encode(vector.states, dialect="pages") == b"\x10" + vector.data[1:]


@settings(max_examples=150)
@given(messages("network"))
def test_any_message_survives_the_pages_dialect(message: Message) -> None:
    data = encode(message, dialect="pages")
    assert decode(data, "network", dialect="pages") == message
    assert encode(decode(data, "network", dialect="pages"), dialect="pages") == data
