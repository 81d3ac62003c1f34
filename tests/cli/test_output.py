"""Control characters from peers are escaped; lines are never lost."""

from __future__ import annotations

import io
import unicodedata

import pytest

from zenlake.cli.output import Lines, safe

HOSTILE = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)),
    *map(chr, (0x2028, 0x2029, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD, 0xE0001)),
    *map(chr, (0xD800, 0xDFFF)),
]


@pytest.mark.parametrize("character", HOSTILE)
def test_unprintable_characters_are_escaped(character: str) -> None:
    shown = safe(f"a{character}b")
    assert shown.isascii()
    assert shown.isprintable()
    assert f"{ord(character):x}" in shown


def test_printable_characters_are_unchanged() -> None:
    for text in ("", "robot/7/**", "Zürich/温度/ñ", "a b"):
        assert safe(text) is text


def test_no_unprintable_character_is_printed() -> None:
    everything = safe("".join(map(chr, range(0x3_0000))))
    assert {unicodedata.category(c) for c in everything}.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


def test_lines_are_written_in_blocks() -> None:
    stream = io.StringIO()
    lines = Lines(stream)
    lines.add("a")
    assert stream.getvalue() == ""
    lines.add("b" * 70_000)
    lines.add("c")
    lines.flush()
    lines.flush()
    assert stream.getvalue() == f"a\n{'b' * 70_000}\nc\n"


def test_lines_are_written_at_once_where_asked() -> None:
    stream = io.StringIO()
    Lines(stream, one_by_one=True).add("a")
    assert stream.getvalue() == "a\n"


def test_a_stream_that_lacks_a_character_gets_its_number() -> None:
    raw = io.BytesIO()
    lines = Lines(io.TextIOWrapper(raw, encoding="ascii"))
    lines.add("温")
    lines.flush()
    assert raw.getvalue() == b"\\u6e29\n"
