"""Hexadecimal text in common formats."""

from __future__ import annotations

import pytest

from zenlake.cli.hex_input import parse_hex
from zenlake.errors import LocalError

DATA = bytes.fromhex("7d000664656d6f2f61010568656c6c6f2a2b")


@pytest.mark.parametrize(
    "text",
    [
        DATA.hex(),
        DATA.hex(" "),
        DATA.hex(":").upper(),
        "\n".join([DATA.hex(" ")[:26], DATA.hex(" ")[27:]]),
        ", ".join(f"0x{byte:02x}" for byte in DATA),
        "".join(f"\\x{byte:02x}" for byte in DATA),
        "00000000  7d 00 06 64 65 6d 6f 2f  61 01 05 68 65 6c 6c 6f  |}..demo/a..hello|\n"
        "00000010  2a 2b                                             |*+|",
        "00000000: 7d00 0664 656d 6f2f 6101 0568 656c 6c6f  }..demo/a..hello\n"
        "00000010: 2a2b                                     *+",
        "\t0x0000:  7d00 0664 656d 6f2f 6101 0568 656c 6c6f\n\t0x0010:  2a2b",
    ],
    ids=["plain", "spaced", "colons", "lines", "array", "escapes", "hexdump", "xxd", "tcpdump"],
)
def test_common_spellings_are_parsed(text: str) -> None:
    assert parse_hex(text) == DATA


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("", "there are no bytes"), ("7", "a byte has two"), ("7g", "'g' is no hexadecimal digit")],
)
def test_text_that_is_not_hexadecimal_is_an_error(text: str, complaint: str) -> None:
    with pytest.raises(LocalError, match=complaint):
        parse_hex(text)
