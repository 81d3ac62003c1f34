"""Where: the filter language for messages, such as `kind == PUSH and key ~ robot/**`.

    expression   or, and, not in rising precedence:  a and (b or not c);  also as || && !
    comparison   FIELD OPERATOR VALUE, FIELD in (VALUE, ...), or FIELD alone
    value        a word, or a text in quotes; the type of the field decides its meaning

A field alone is true if the message has it, and a flag only if it is set. A comparison with an
absent field is false, even `!=`: `not key == a` also selects messages without a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn

from zenlake.errors import LocalError
from zenlake.limits import EXPRESSION_CHARACTERS_MAX, EXPRESSION_DEPTH_MAX
from zenlake.trace.comparison import BYTE_ESCAPES, OPERATORS, Test, test_for
from zenlake.trace.events import MessageSeen
from zenlake.trace.fields import Field, field_named
from zenlake.trace.times import CaptureStart

Filter = Callable[[MessageSeen], bool]


_TOKEN: Final = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<symbol>==|!=|<=|>=|&&|\|\||[<>~!(),])
      | (?P<word>[^\s()<>=!~,"'&|]+)
      | (?P<bad>\S)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_SAME: Final = {"&&": "and", "||": "or", "!": "not"}
_RESERVED: Final = frozenset(("and", "or", "not", *OPERATORS))


class _Token(NamedTuple):
    form: str
    """`quoted`, `symbol` or `word`."""
    text: str
    position: int


def parse(expression: str, start: CaptureStart | None = None) -> Filter:
    """The filter for an expression; a LocalError names the position of a mistake.

    Times without a date are relative to a capture that began at `start`.
    """
    if len(expression) > EXPRESSION_CHARACTERS_MAX:
        raise LocalError(
            f"a filter of {len(expression)} characters, at most {EXPRESSION_CHARACTERS_MAX}"
        )
    return _Parser(expression, start or CaptureStart()).parse()


def compares_patterns(expression: str) -> list[str]:
    """Keys with wildcards that `==` compares as text, where the user may mean `~`."""
    tokens = _tokens(expression)
    return [
        value.text
        for name, operator, value in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if name.text in ("key", "zenoh.key", "zenoh.keyexpr")
        and operator.text == "=="
        and "*" in value.text
    ]


def all_of(filters: list[Filter]) -> Filter:
    """The filter for messages that pass all of them."""
    if len(filters) == 1:
        return filters[0]
    return lambda event: all(one(event) for one in filters)


class _Parser:
    def __init__(self, expression: str, start: CaptureStart) -> None:
        self._expression = expression
        self._start = start
        self._tokens = _tokens(expression)
        self._next = 0

    def parse(self) -> Filter:
        found = self._alternatives(0)
        if self._next < len(self._tokens):
            self._fail("and, or, or the end")
        return found

    def _alternatives(self, depth: int) -> Filter:
        found = [self._conjunction(depth)]
        while self._accept("or"):
            found.append(self._conjunction(depth))
        return found[0] if len(found) == 1 else _any_of(found)

    def _conjunction(self, depth: int) -> Filter:
        found = [self._term(depth)]
        while self._accept("and"):
            found.append(self._term(depth))
        return all_of(found)

    def _term(self, depth: int) -> Filter:
        if depth > EXPRESSION_DEPTH_MAX:
            self._fail(f"at most {EXPRESSION_DEPTH_MAX} levels")
        if self._accept("not"):
            negated = self._term(depth + 1)
            return lambda event: not negated(event)
        if self._accept("("):
            found = self._alternatives(depth + 1)
            if not self._accept(")"):
                self._fail(")")
            return found
        return self._comparison()

    def _comparison(self) -> Filter:
        token = self._peek()
        if token is None or token.form != "word" or _is_reserved(token):
            self._fail("the name of a field")
        self._next += 1
        try:
            field = field_named(token.text)
        except LocalError as error:
            self._fail_at(token.position, str(error))
        operator = self._peek()
        if operator is None or operator.form == "quoted" or operator.text not in OPERATORS:
            return _presence(field)
        self._next += 1
        if operator.text == "in":
            return _comparison(field, _one_of(self._list(field)))
        return _comparison(field, self._value(field, operator.text))

    def _list(self, field: Field) -> list[Test]:
        if not self._accept("("):
            self._fail("( and values")
        tests = [self._value(field, "==")]
        while self._accept(","):
            tests.append(self._value(field, "=="))
        if not self._accept(")"):
            self._fail(", or )")
        return tests

    def _value(self, field: Field, operator: str) -> Test:
        token = self._peek()
        if token is None or token.form == "symbol" or _is_reserved(token):
            self._fail(f"a value for {field.name}")
        self._next += 1
        try:
            return test_for(field, operator, token.text, self._start)
        except LocalError as error:
            self._fail_at(token.position, str(error))

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _accept(self, text: str) -> bool:
        token = self._peek()
        if token is None or token.form == "quoted" or _SAME.get(token.text, token.text) != text:
            return False
        self._next += 1
        return True

    def _fail(self, expected: str) -> NoReturn:
        token = self._peek()
        position = len(self._expression) if token is None else token.position
        found = "it ends" if token is None else f"there is {token.text[:40]!r}"
        self._fail_at(position, f"{found}, expected {expected}")

    def _fail_at(self, position: int, cause: str) -> NoReturn:
        raise LocalError(f"filter, at character {position}: {cause}")


def _tokens(expression: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _TOKEN.finditer(expression):
        text, position = match[0], match.start()
        if match["bad"] is not None:
            cause = "a quote that does not end" if text in "\"'" else f"a stray {text!r}"
            raise LocalError(f"filter, at character {position}: {cause}")
        if match["quoted"] is not None:
            text = _ESCAPE.sub(_unescape, text[1:-1])
        found.append(_Token(match.lastgroup or "", text, position))
    return found


def _is_reserved(token: _Token) -> bool:
    return token.form == "word" and token.text in _RESERVED


def _unescape(match: re.Match[str]) -> str:
    text = match[1]
    return BYTE_ESCAPES[int(text[1:], 16)] if len(text) == 3 else _ESCAPED.get(text, text)


def _any_of(filters: list[Filter]) -> Filter:
    return lambda event: any(one(event) for one in filters)


def _presence(field: Field) -> Filter:
    read = field.value_of

    def test(event: MessageSeen) -> bool:
        value = read(event)
        return value is not None and value is not False and value != ()

    return test


def _comparison(field: Field, test: Test) -> Filter:
    read = field.compared or field.value_of

    def compare(event: MessageSeen) -> bool:
        value = read(event)
        return value is not None and test(value)

    return compare


def _one_of(tests: list[Test]) -> Test:
    def test(value: Any) -> bool:
        return any(one(value) for one in tests)

    return test
