"""A parser of JSON5 1.0.0, the format of configurations: JSON with comments and fewer quotes.

It is written for small texts: length and depth are bounded, and errors name line and column.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from zenlake.errors import LocalError
from zenlake.limits import CONFIG_CHARACTERS_MAX, CONFIG_DEPTH_MAX

_SPACE: Final = re.compile(r"(?:[\s\ufeff]|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER: Final = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN"
    r"|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.$])",
    re.ASCII,
)
# The most digits of a number: the time to convert digits grows faster than their number.
_DIGITS_MAX: Final = 400
_NAME: Final = re.compile(r"(?:[^\W\d]|[$_])(?:\w|[$_\u200c\u200d])*")
_PLAIN: Final = {'"': re.compile(r'[^"\\\n\r]*'), "'": re.compile(r"[^'\\\n\r]*")}
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEX: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})")
_WORDS: Final = {"true": True, "false": False, "null": None}


class Json5Error(LocalError):
    """A text that is not JSON5, with line and column."""

    def __init__(self, text: str, position: int, cause: str) -> None:
        self.line = text.count("\n", 0, position) + 1
        self.column = position - text.rfind("\n", 0, position)
        self.position = position
        self.cause = cause
        super().__init__(f"line {self.line}, column {self.column}: {cause}")


def parse_json5(text: str) -> Any:
    """The value of `text`: None, bool, int, float, str, list or dict."""
    if len(text) > CONFIG_CHARACTERS_MAX:
        raise Json5Error(text, 0, f"more than {CONFIG_CHARACTERS_MAX} characters")
    reader = _Reader(text)
    value = reader.value(0)
    if reader.at != len(text):
        reader.fail("only one value was expected")
    return value


class _Reader:
    """A position in a text. Every method leaves it after the space that follows its part."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.skip_space()

    def fail(self, cause: str) -> NoReturn:
        raise Json5Error(self.text, self.at, cause)

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def accept(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        self.skip_space()
        return True

    def value(self, depth: int) -> Any:
        if depth > CONFIG_DEPTH_MAX:
            self.fail(f"more than {CONFIG_DEPTH_MAX} lists and objects within each other")
        if self.accept("{"):
            return self.members(depth)
        if self.accept("["):
            return self.items(depth)
        if self.text.startswith(('"', "'"), self.at):
            return self.string()
        match = _NUMBER.match(self.text, self.at)
        if match is not None:
            return self.number(match)
        match = _NAME.match(self.text, self.at)
        if match is None or match[0] not in _WORDS:
            self.fail("expected an object, a list, a string, a number, true, false or null")
        self.at = match.end()
        self.skip_space()
        return _WORDS[match[0]]

    def members(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self.accept("}"):
            start = self.at
            name = self.name()
            if name in members:
                self.at = start
                self.fail(f"`{name}` occurs twice")
            if not self.accept(":"):
                self.fail("expected `:`")
            members[name] = self.value(depth + 1)
            if not self.accept(",") and not self.text.startswith("}", self.at):
                self.fail("expected `,` or `}`")
        return members

    def items(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while not self.accept("]"):
            items.append(self.value(depth + 1))
            if not self.accept(",") and not self.text.startswith("]", self.at):
                self.fail("expected `,` or `]`")
        return items

    def name(self) -> str:
        if self.text.startswith(('"', "'"), self.at):
            return self.string()
        match = _NAME.match(self.text, self.at)
        if match is None:
            self.fail("expected a name")
        self.at = match.end()
        self.skip_space()
        return match[0]

    def string(self) -> str:
        quote = self.text[self.at]
        plain = _PLAIN[quote]
        self.at += 1
        parts: list[str] = []
        while True:
            match = plain.match(self.text, self.at)
            assert match is not None
            parts.append(match[0])
            self.at = match.end()
            if self.text.startswith(quote, self.at):
                break
            if not self.text.startswith("\\", self.at):
                self.fail("the string does not end")
            parts.append(self.escape())
        self.at += 1
        self.skip_space()
        # Characters beyond U+FFFF may be written as two escapes: a surrogate pair.
        text = "".join(parts)
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.fail("half of a character in the string")

    def escape(self) -> str:
        self.at += 1
        match = _HEX.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            return chr(int(match[1] or match[2], 16))
        character = self.text[self.at : self.at + 1]
        if character in "xu123456789" or (character == "0" and self.digit_follows()):
            self.fail("no such escape")
        self.at += 1
        if character == "0":
            return "\0"
        if character == "\r" and self.text.startswith("\n", self.at):
            self.at += 1
        return "" if character in "\n\r\u2028\u2029" else _ESCAPES.get(character, character)

    def digit_follows(self) -> bool:
        return self.text[self.at + 1 : self.at + 2].isdecimal()

    def number(self, match: re.Match[str]) -> int | float:
        text = match[0]
        if len(text) > _DIGITS_MAX:
            self.fail("a number with too many digits")
        self.at = match.end()
        self.skip_space()
        digits = text.lstrip("+-")
        if digits[:2] in ("0x", "0X"):
            number = int(digits, 16)
            return -number if text[0] == "-" else number
        if digits.isdecimal():
            return int(text)
        return float(text.replace("Infinity", "inf"))
