"""`Encoding` returns the same values as eclipse-zenoh's."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import zenoh

import zenlake
from tests.api.against import both
from zenlake import wire
from zenlake.api.values.encoding import into_encoding

ENCODINGS = [
    *("", "text/plain", "text/plain;utf-8", "text/plain;", "text/plain;b;c", "foo", "foo;bar"),
    *("foo;", ";bar", "a;b;c", "zenoh/bytes;x", "video/vp9", "zenoh/string;é"),
]


@pytest.mark.parametrize("text", ENCODINGS)
def test_encoding_equals_that_of_eclipse_zenoh(text: str) -> None:
    for ask in (
        lambda z: z.Encoding(text),
        lambda z: z.Encoding(text) == text,
        lambda z: z.Encoding(text) == "text/plain",
        lambda z: z.Encoding(text) == z.Encoding.TEXT_PLAIN,
        lambda z: z.Encoding(text) == 3,
        lambda z: hash(z.Encoding(text)) == hash(str(z.Encoding(text))),
        lambda z: z.Encoding(text).with_schema("new"),
        lambda z: z.Encoding(text).with_schema(""),
        lambda z: z.Encoding(text).with_schema("a").with_schema("b"),
        lambda z: z.Encoding(text).with_schema("") == z.Encoding(text),
    ):
        ours, theirs = both(ask)
        assert ours == theirs


def test_encoding_constants_are_the_same() -> None:
    names = [name for name in dir(zenoh.Encoding) if name.isupper()]
    assert len(names) == 53
    assert names == [name for name in dir(zenlake.Encoding) if name.isupper()]
    for name in names:
        assert str(getattr(zenlake.Encoding, name)) == str(getattr(zenoh.Encoding, name))


def make_encoding(value: object, z: Any) -> Any:
    return z.Encoding(value)


def test_encodings_and_the_wire() -> None:
    encoding = zenlake.Encoding("text/plain;utf-8")
    assert encoding.wire == wire.Encoding(4, b"utf-8")
    assert zenlake.Encoding.from_wire(encoding.wire) == encoding
    assert zenlake.Encoding.from_wire(None) == zenlake.Encoding.ZENOH_BYTES == zenlake.Encoding()
    assert into_encoding("text/plain;utf-8") == into_encoding(encoding) == encoding
    for wrong in (3, b"text/plain", encoding):
        ours, theirs = both(partial(make_encoding, wrong))
        assert ours == theirs == ("raises", "TypeError")
    assert encoding != "x" * 300
