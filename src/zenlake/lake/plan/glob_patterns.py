r"""Patterns of file names in the language of Hadoop, which Spark's file sources use.

`*`, `?`, `[abc]`, `[a-c]`, `[^a]` and `[!a]` match within one name, `{a,b}` is a choice that may
contain slashes and other choices, and `\` escapes the character after it. `**` as a whole name,
which Hadoop does not have, matches any number of folders.

Names are matched without regular expressions: a pattern with many stars must not take
exponential time on a long name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from zenlake.errors import LocalError
from zenlake.limits import GLOB_CHOICES_MAX, GLOB_DEPTH_MAX

_SPECIAL: Final = re.compile(r"[*?\[{\\]")
_SHOWN_CHARACTERS: Final = 80

_Matches = Callable[[str], bool]
_Token = _Matches | None
"""A function that matches one character; None is a star."""


class NamePattern:
    """Matches one name, a part of a path between slashes."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self.literal = None if _is_special(text) else _unescaped(text)
        """The only name that it matches, if it has no special character."""
        self.is_deep = text == "**"
        self._is_hidden = text[:1] in ("_", ".")

    def matches(self, name: str) -> bool:
        """Whether a name matches. Backtracks to the last star only, which suffices for stars."""
        place = token = 0
        star = retry = -1
        while place < len(name):
            if token < len(self._tokens):
                wanted = self._tokens[token]
                if wanted is None:
                    star, retry = token, place
                    token += 1
                    continue
                if wanted(name[place]):
                    place += 1
                    token += 1
                    continue
            if star < 0:
                return False
            retry += 1
            place, token = retry, star + 1
        return all(wanted is None for wanted in self._tokens[token:])

    def selects(self, name: str) -> bool:
        """Like `matches`, but selects a hidden name only if the pattern begins like one."""
        return (self._is_hidden or not is_hidden(name)) and self.matches(name)


def is_pattern(path: str) -> bool:
    return _SPECIAL.search(path) is not None


def is_hidden(name: str) -> bool:
    """Whether Spark ignores a name in folders, as that of a private or incomplete file."""
    is_private = name.startswith("_") and "=" not in name
    return is_private or name.startswith(".") or name.endswith("._COPYING_")


def choices(pattern: str) -> list[str]:
    """Equivalent patterns without `{a,b}`, in order, each once."""
    found = [""]
    for part in _alternatives(pattern):
        if len(found) * len(part) > GLOB_CHOICES_MAX:
            raise _error(pattern, f"more than {GLOB_CHOICES_MAX:,} choices in braces")
        found = [*dict.fromkeys(before + one for before in found for one in part)]
    return found


def _alternatives(pattern: str) -> list[list[str]]:
    """The parts of a pattern, each a list of alternatives; literal text has one alternative."""
    parts: list[list[str]] = []
    start = place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "{":
            parts.append([pattern[start:place]])
            inside, place = _group(pattern, place)
            parts.append([one for text in inside for one in choices(text)])
            start = place
        else:
            place = _token_end(pattern, place)
    parts.append([pattern[start:]])
    return parts


def _group(pattern: str, start: int) -> tuple[list[str], int]:
    """The texts between the commas of the group that begins at `start`, and the index after it."""
    texts = []
    depth, place, begin = 1, start + 1, start + 1
    while place < len(pattern):
        character = pattern[place]
        if character == "{":
            depth += 1
            if depth > GLOB_DEPTH_MAX:
                raise _error(pattern, "its braces are nested too deeply")
        elif character == "}":
            depth -= 1
        if depth == 0 or (depth == 1 and character == ","):
            texts.append(pattern[begin:place])
            begin = place + 1
        if depth == 0:
            return texts, place + 1
        place = place + 1 if character in "{}" else _token_end(pattern, place)
    raise _error(pattern, "'{' without '}'")


def _token_end(pattern: str, place: int) -> int:
    """The place after the character, escape or set of characters that begins here."""
    if pattern[place] == "\\":
        if place + 1 == len(pattern):
            raise _error(pattern, "nothing after the last '\\'")
        return place + 2
    return _set_end(pattern, place) + 1 if pattern[place] == "[" else place + 1


def _set_end(pattern: str, start: int) -> int:
    r"""The index of the closing `]`; one that comes first, or after `\`, belongs to the set."""
    place = start + 1
    if pattern[place : place + 1] in ("^", "!"):
        place += 1
    first = place
    while place < len(pattern):
        if pattern[place] == "\\":
            place += 1
        elif pattern[place] == "]" and place > first:
            return place
        place += 1
    raise _error(pattern, "'[' without ']'")


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    while place < len(text):
        end = _token_end(text, place)
        found.append(_token(text[place:end]))
        place = end
    return found


def _token(part: str) -> _Token:
    if part == "*":
        return None
    if part == "?":
        return lambda character: True
    if part[0] == "[":
        return _character_set(part)
    literal = part[-1]
    return lambda character: character == literal


def _character_set(part: str) -> _Matches:
    is_negated = part[1] in "^!"
    members = _members(part[2 if is_negated else 1 : -1])
    ranges: list[tuple[str, str]] = []
    place = 0
    while place < len(members):
        low = members[place][0]
        high = low
        if members[place + 1 : place + 2] == [("-", False)] and place + 2 < len(members):
            high = members[place + 2][0]
            place += 2
        if high < low:
            raise _error(part, f"'{low}-{high}' is no range of characters")
        ranges.append((low, high))
        place += 1
    return lambda character: any(low <= character <= high for low, high in ranges) != is_negated


def _members(text: str) -> list[tuple[str, bool]]:
    r"""The characters, and whether each was escaped with `\`."""
    found = []
    place = 0
    while place < len(text):
        is_escaped = text[place] == "\\"
        place += is_escaped
        found.append((text[place], is_escaped))
        place += 1
    return found


def _is_special(text: str) -> bool:
    """Whether a pattern has special characters, so that it matches more than one name."""
    return any(character in "*?[" for character, is_escaped in _members(text) if not is_escaped)


def _unescaped(text: str) -> str:
    return "".join(character for character, _ in _members(text))


def _error(pattern: str, cause: str) -> LocalError:
    cut = len(pattern) > _SHOWN_CHARACTERS
    shown = pattern[: _SHOWN_CHARACTERS - 3] + "..." if cut else pattern
    return LocalError(f"{shown!a} is no pattern: {cause}")
