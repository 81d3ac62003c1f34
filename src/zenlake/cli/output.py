"""Output of commands: colour only on a terminal, JSON one object per line. Control characters are
escaped, because captures contain untrusted text.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from typing import Any, Final, TextIO

_STYLES: Final = {
    "bold": "1",
    "dim": "2",
    "name": "36",
    "error": "31;1",
    "notice": "33;1",
    "handshake": "35",
    "data": "36",
    "query": "33",
    "declare": "32",
}
RESET: Final = "\x1b[0m"
_BLOCK_CHARACTERS: Final = 1 << 16


def has_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")


def style_code(style: str) -> str:
    """The escape sequence that switches a style on; `RESET` switches it off."""
    code = _STYLES.get(style)
    return f"\x1b[{code}m" if code else ""


def painter(stream: TextIO) -> Any:
    """A function that colours text, or returns it unchanged if `stream` is no terminal."""
    if not has_colour(stream):
        return lambda text, style: text

    def paint(text: str, style: str) -> str:
        code = style_code(style)
        return f"{code}{text}{RESET}" if code else text

    return paint


def safe(text: str) -> str:
    """The text with all characters escaped that are not printable according to Unicode.

    These are control characters, marks that change the direction of writing or have no width,
    separators of lines, and lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in text)


def _escaped(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x1_0000 else f"\\U{code:08x}"


def count_text(count: int, noun: str) -> str:
    """`1 reply`, `2 replies`."""
    if count == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {plural}"


class Lines:
    """Writes lines to a stream: one by one on a terminal, in blocks otherwise."""

    def __init__(self, stream: TextIO, one_by_one: bool = False) -> None:
        self._stream = stream
        self._one_by_one = one_by_one or stream.isatty()
        self._held: list[str] = []
        self._held_characters = 0
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A character that the stream cannot encode is written as its number.
            reconfigure(errors="backslashreplace")

    def add(self, line: str) -> None:
        self._held.append(line)
        self._held_characters += len(line)
        if self._one_by_one or self._held_characters >= _BLOCK_CHARACTERS:
            self.flush()

    def add_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.add(line)

    def flush(self) -> None:
        if self._held:
            text = "\n".join(self._held) + "\n"
            self._held.clear()
            self._held_characters = 0
            self._stream.write(text)
            self._stream.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines; those before an exception too."""
    out = Lines(sys.stdout)
    try:
        out.add_all(lines)
    finally:
        out.flush()


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=True))


def print_error(text: str) -> None:
    """Print one line on standard error; if that fails, the exit code must suffice."""
    with contextlib.suppress(OSError):
        print(f"zenlake: {safe(text)}", file=sys.stderr)
