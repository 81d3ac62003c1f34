"""Reading: parses fields of a text from another node; records a remark for each invalid field."""

from __future__ import annotations

from typing import Final

_INTEGER_MAX: Final = (1 << 63) - 1
_DIGITS_MAX: Final = 19
_SHOWN_CHARACTERS: Final = 40


class Reading:
    """Parses fields: an invalid field is None, and `unread` gets the reason."""

    def __init__(self) -> None:
        self._remarks: list[str] = []

    @property
    def unread(self) -> str | None:
        return "; ".join(self._remarks) or None

    def remark(self, text: str) -> None:
        self._remarks.append(text)

    def number(
        self, what: str, text: str, default: int | None = None, is_signed: bool = False
    ) -> int | None:
        """Parses a whole number that fits a BIGINT; the default if the text is empty."""
        if not text and default is not None:
            return default
        digits = text[1:] if is_signed and text.startswith("-") else text
        if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS_MAX:
            value = int(text)
            if value <= _INTEGER_MAX:
                return value
        self.remark(f"{what} {shown(text)} is not a number")
        return None

    def word(self, what: str, text: str, words: tuple[str, ...], default: str) -> str | None:
        """The word that the number in `text` stands for; the default if the text is empty."""
        if not text:
            return default
        if text.isascii() and text.isdigit() and len(text) == 1 and int(text) < len(words):
            return words[int(text)]
        self.remark(f"{what} {shown(text)} is not known")
        return None

    def fields(self, what: str, text: str, count: int) -> list[str]:
        """Splits at commas; empty fields if there are not exactly `count` of them."""
        found = text.split(",")
        if len(found) == count:
            return found
        self.remark(f"{what} {shown(text)} has {len(found)} parts instead of {count}")
        return [""] * count


def shown(text: str) -> str:
    """The text in quotes and shortened: it comes from another node."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "...")
