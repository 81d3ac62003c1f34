"""Parses hexadecimal text: plain, or the dumps of common tools."""

from __future__ import annotations

import re

from zenlake.errors import LocalError

# `00000010  7d 00 ...  |}...|` (hexdump -C), `00000010: 7d00 ...  }...` (xxd, tcpdump -x)
_OFFSET = re.compile(r"^\s*(?:0x)?[0-9a-fA-F]{4,8}(?::\s+|\s\s+)(?=[0-9a-fA-F])")
_ASCII_BARS = re.compile(r"\s\s\|.*\|?$")
_ASCII_COLUMN = re.compile(r"\s\s+.*$")
_SEPARATORS = re.compile(r"[\s:,;_\-]+|0[xX]|\\x")


def parse_hex(text: str) -> bytes:
    """The bytes of hexadecimal digits with any separators; offsets and text columns are ignored."""
    digits = "".join(_digits_of(line) for line in text.splitlines())
    if not digits:
        raise LocalError("there are no bytes: expected hexadecimal digits such as 7d 00 06")
    for position, digit in enumerate(digits):
        if digit not in "0123456789abcdefABCDEF":
            raise LocalError(f"{digit!r} is no hexadecimal digit (after {position} digits)")
    if len(digits) % 2:
        raise LocalError(f"{len(digits)} hexadecimal digits: a byte has two")
    return bytes.fromhex(digits)


def _digits_of(line: str) -> str:
    dump = _OFFSET.match(line)
    if dump:
        line = line[dump.end() :]
        column = _ASCII_BARS if _ASCII_BARS.search(line) else _ASCII_COLUMN
        line = column.sub("", line)
    return _SEPARATORS.sub("", line)
