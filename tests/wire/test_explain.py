"""explain: every byte is labelled once, and errors have a position."""

from __future__ import annotations

import json

import pytest

from tests.vectors import ALL, UNITS, Vector
from tests.vectors.vector import Unit
from tests.wire.written import vle
from zenlake.errors import LocalError
from zenlake.limits import BATCH_BYTES_MAX, LOW_LATENCY_UNIT_BYTES_MAX
from zenlake.wire.explain import FORMS, explain, to_json
from zenlake.wire.explain_text import lines
from zenlake.wire.walk import Span

REQUEST = bytes.fromhex("fc010003722f62a10d26dc0b630307783d313b793d32")
UNIT_FORMS = {"batch": "batch", "stream": "stream", "cbatch": "compressed", "ll": "low-latency"}


def leaves(span: Span) -> list[Span]:
    """The innermost spans, in order."""
    if not span.children:
        return [span]
    return [leaf for child in span.children for leaf in leaves(child)]


def assert_covers(spans: list[Span], start: int, stop: int) -> None:
    """Spans follow each other without gap or overlap."""
    at = start
    for span in spans:
        assert span.start == at, span
        assert span.stop >= span.start
        at = span.stop
    assert at == stop


@pytest.mark.parametrize("vector", ALL, ids=str)
def test_every_byte_of_a_message_is_in_exactly_one_row(vector: Vector) -> None:
    found = explain(vector.data, vector.layer)
    assert found.error is None
    (message,) = found.root.children
    assert message.value == vector.message
    assert_covers(message.children, 0, len(vector.data))


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_units_are_explained_in_their_form(unit: Unit) -> None:
    found = explain(unit.data, UNIT_FORMS[unit.kind])
    assert found.failure is None
    inner = found.content or found
    messages = [span.value for span in inner.root.children if span.kind == "message"]
    assert messages == list(unit.messages)


@pytest.mark.parametrize("vector", ALL, ids=str)
def test_the_form_is_guessed(vector: Vector) -> None:
    found = explain(vector.data)
    assert found.failure is None
    assert found.root.children[0].value == vector.message


def test_bits_of_the_header_are_drawn() -> None:
    text = "\n".join(lines(explain(REQUEST, "network")))
    assert "1... ....                    Z                               with extensions" in text
    assert "...1 1100                    id                              REQUEST" in text
    assert "timeout_ms             extension  1500" in text
    assert "'x=1;y=2'" in text


def test_position_of_an_error_is_shown() -> None:
    found = explain(REQUEST[:-2], "network")
    assert found.error is not None
    assert (found.error.message, found.error.field, found.error.offset) == (
        "QUERY",
        "parameters",
        14,
    )
    text = "\n".join(lines(found))
    assert "request_id" in text
    assert text.endswith("QUERY.parameters: it claims 7 bytes, 5 are left")


def test_control_characters_of_a_peer_stay_escaped() -> None:
    key = "a\x1b[31m\u202eb\x07".encode()
    push = bytes([0x7D, 0, len(key)]) + key + bytes.fromhex("01 03 1b 5b 41")
    text = "\n".join(lines(explain(push, "network")))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "\\x1b" in text


def test_json_is_plain_data() -> None:
    value = json.loads(json.dumps(to_json(explain(REQUEST, "network"))))
    assert value["as"] == "network"
    assert value["error"] is None
    (request,) = value["spans"]
    header = request["children"][0]
    assert [bits["name"] for bits in header["bits"]] == ["Z", "M", "N", "id"]
    assert header["bits"][3]["value"] == 0x1C


@pytest.mark.parametrize(
    ("form", "data", "shown"),
    [
        ("vle", "ffffffffffffffffff", "18446744073709551615"),
        ("timestamp", "a5ba96d299d9c0fc6a055040302010", "2026-11-15T"),
        ("encoding", "09057574662d38", "text/plain;utf-8"),
        ("data", "010568656c6c6f", "hello"),
        ("declaration", "0302", "U_SUBSCRIBER"),
        ("link-state", "00", "state"),
    ],
)
def test_parts_of_messages_can_be_explained(form: str, data: str, shown: str) -> None:
    found = explain(bytes.fromhex(data), form)
    assert found.error is None
    assert shown in "\n".join(lines(found))


def test_integers_are_drawn_byte_by_byte() -> None:
    text = "\n".join(lines(explain(bytes.fromhex("ac02"), "vle")))
    assert "300" in text
    assert "1... ...." in text
    assert "13 to 7 of the number" in text
    whole = "\n".join(lines(explain(b"\xff" * 9, "vle")))
    assert "1111 1111" in whole
    assert "63 to 56 of the number, whole" in whole


@pytest.mark.parametrize("form", FORMS)
def test_every_form_accepts_empty_input(form: str) -> None:
    found = explain(b"", form)
    assert "\n".join(lines(found))


def test_unknown_form_is_a_local_error() -> None:
    with pytest.raises(LocalError, match="there is no form 'nonsense'"):
        explain(b"\x04", "nonsense")


def test_long_payloads_are_cut() -> None:
    put = bytes.fromhex("7d 00 01 61 01 c8 01") + b"x" * 200
    text = "\n".join(lines(explain(put, "network")))
    assert "... 138 more bytes" in text


@pytest.mark.parametrize(
    ("form", "prefix", "limit"),
    [("stream", 2, BATCH_BYTES_MAX), ("low-latency", 4, LOW_LATENCY_UNIT_BYTES_MAX)],
)
def test_the_longest_unit_is_explained(form: str, prefix: int, limit: int) -> None:
    head = bytes.fromhex("25 00 7d 00 01 61 01") + vle(limit - 10)
    content = head + b"x" * (limit - len(head))
    found = explain(limit.to_bytes(prefix, "little") + content, form)
    assert found.error is None
    assert found.root.children[-1].stop == prefix + limit


def test_a_longer_low_latency_unit_is_an_error() -> None:
    size = LOW_LATENCY_UNIT_BYTES_MAX + 1
    found = explain(size.to_bytes(4, "little") + b"\x04" * size, "low-latency")
    assert found.error is not None
    assert found.error.field == "length"
