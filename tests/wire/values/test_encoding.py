"""Encoding: the table, text, bytes (the wire reference §1.7)."""

from __future__ import annotations

import pytest

from tests.vectors import ENCODINGS
from tests.vectors.vector import EncodingVector
from tests.wire.written import written
from zenlake.errors import LocalError
from zenlake.wire import Encoding
from zenlake.wire.primitives import Malformed
from zenlake.wire.values.encoding import read_encoding, write_encoding

# The table of the reference, read row by row: id name, id name, id name.
TABLE = """
0 zenoh/bytes 18 image/gif 36 application/soap+xml
1 zenoh/string 19 image/bmp 37 application/yang
2 zenoh/serialized 20 image/webp 38 audio/aac
3 application/octet-stream 21 application/xml 39 audio/flac
4 text/plain 22 application/x-www-form-urlencoded 40 audio/mp4
5 application/json 23 text/html 41 audio/ogg
6 text/json 24 text/xml 42 audio/vorbis
7 application/cdr 25 text/css 43 video/h261
8 application/cbor 26 text/javascript 44 video/h263
9 application/yaml 27 text/markdown 45 video/h264
10 text/yaml 28 text/csv 46 video/h265
11 text/json5 29 application/sql 47 video/h266
12 application/python-serialized-object 30 application/coap-payload 48 video/mp4
13 application/protobuf 31 application/json-patch+json 49 video/ogg
14 application/java-serialized-object 32 application/json-seq 50 video/raw
15 application/openmetrics-text 33 application/jsonpath 51 video/vp8
16 image/png 34 application/jwt 52 video/vp9
17 image/jpeg 35 application/mp4
"""
_CELLS = TABLE.split()
NAMES = dict(zip(map(int, _CELLS[::2]), _CELLS[1::2], strict=True))


@pytest.mark.parametrize("vector", ENCODINGS, ids=lambda vector: vector.text)
def test_vectors(vector: EncodingVector) -> None:
    data = bytes.fromhex(vector.hex)
    assert read_encoding(data, 0, len(data)) == (vector.encoding, len(data))
    assert written(write_encoding, vector.encoding) == data
    assert str(vector.encoding) == vector.text
    assert Encoding.parse(vector.text) == vector.encoding


def test_table_is_complete() -> None:
    assert sorted(NAMES) == list(range(53))


@pytest.mark.parametrize(("id", "name"), NAMES.items())
def test_name_and_number_belong_together(id: int, name: str) -> None:
    assert str(Encoding(id)) == name
    assert Encoding.parse(name) == Encoding(id)
    assert Encoding.parse(f"{name};") == Encoding(id)
    assert Encoding.parse(f"{name};a;b") == Encoding(id, b"a;b")
    assert str(Encoding(id, b"a;b")) == f"{name};a;b"
    data = written(write_encoding, Encoding(id))
    assert data == bytes([id << 1])
    assert read_encoding(data, 0, 1) == (Encoding(id), 1)


@pytest.mark.parametrize(
    "text", ["foo/bar", "foo/bar;v1", "foo;", ";", ";x", "TEXT/PLAIN", "text/plain ;x"]
)
def test_name_without_a_number_is_sent_in_the_schema(text: str) -> None:
    encoding = Encoding.parse(text)
    assert (encoding.id, encoding.schema) == (0xFFFF, text.encode())
    assert str(encoding) == text


def test_empty_text_is_the_default() -> None:
    assert Encoding.parse("") == Encoding(0)


def test_unknown_numbers_print_as_such() -> None:
    assert str(Encoding(53)) == "unknown(53)"
    assert str(Encoding(1000, b"x")) == "unknown(1000);x"


@pytest.mark.parametrize("schema", [None, b"", b"x" * 255, b"\xff\x00"])
def test_schema_is_kept_as_bytes(schema: bytes | None) -> None:
    for id in (0, 52, 53, 63, 64, 0xFFFF):
        data = written(write_encoding, Encoding(id, schema))
        assert read_encoding(data, 0, len(data)) == (Encoding(id, schema), len(data))
    assert str(Encoding(4, b"\xff")) == "text/plain;\\xff"


def test_encoding_that_cannot_be_sent_is_a_local_error() -> None:
    with pytest.raises(LocalError, match="256 bytes"):
        Encoding(0, b"x" * 256)
    with pytest.raises(LocalError):
        Encoding.parse("x" * 256)
    for id in (-1, 0x10000):
        with pytest.raises(LocalError, match="0 to 65535"):
            Encoding(id)


def test_number_above_16_bits_is_refused() -> None:
    assert read_encoding(bytes.fromhex("fe ff 07"), 0, 3) == (Encoding(0xFFFF), 3)
    with pytest.raises(Malformed):
        read_encoding(bytes.fromhex("80 80 08"), 0, 3)  # id 65536
    with pytest.raises(Malformed):
        read_encoding(bytes.fromhex("ff ff ff ff 7f 00"), 0, 6)
    with pytest.raises(IndexError):
        read_encoding(b"\x09", 0, 1)


def test_encodings_are_values() -> None:
    assert len({Encoding(4), Encoding.parse("text/plain"), Encoding(4, b"")}) == 2
    assert Encoding(4) != "text/plain"
    assert repr(Encoding(4, b"x")) == "Encoding(4, b'x')"


@pytest.mark.parametrize("text", ["\ud800", "text/plain;\ud800"])
def test_text_that_is_not_utf_8_is_a_local_error(text: str) -> None:
    with pytest.raises(LocalError, match="cannot be written as UTF-8"):
        Encoding.parse(text)
