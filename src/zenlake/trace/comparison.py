"""Comparison: one operator of the filter language, between a field and a written value.

Each function here parses the written value once and returns a test of the field's value. Tests
are called only with values that exist: an absent field fails every comparison.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from enum import IntEnum
from typing import Any, Final

from zenlake.errors import LocalError
from zenlake.keyexpr.canonical import canonize
from zenlake.keyexpr.texts import texts_intersect
from zenlake.trace.fields import KINDS, Field, is_of_kind
from zenlake.trace.times import UNIT_NS, CaptureStart, parse_time

Test = Callable[[Any], bool]

OPERATORS: Final = (
    *("==", "!=", "<", "<=", ">", ">=", "~"),
    *("matches", "contains", "startswith", "endswith", "in"),
)
_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}
_NUMBER: Final = re.compile(
    r"(?:0x(?P<hex>[0-9a-f]{1,32})|(?P<decimal>\d{1,32}(?:\.\d{1,32})?)(?P<unit>ns|us|ms|s)?)", re.I
)
_SIZE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([kmg])(?:i?b)?", re.I)
# The names of the API for these kinds.
_KIND_NAMES: Final = {
    **dict.fromkeys(("QUERY", "GET"), "REQUEST"),
    **dict.fromkeys(("SAMPLE", "PUBLICATION"), "PUSH"),
    **dict.fromkeys(("DELETE", "PUSH/DELETE"), "PUSH/DEL"),
    "ERROR": "RESPONSE/ERR",
    "SUBSCRIBER": "DECLARE/D_SUBSCRIBER",
    "QUERYABLE": "DECLARE/D_QUERYABLE",
    "TOKEN": "DECLARE/D_TOKEN",
}
_ZID_PREFIX_MIN: Final = 4
_KEYS_CACHED_MAX: Final = 65_536


BYTE_ESCAPES: Final = [chr(byte if byte < 0x80 else 0xDC00 + byte) for byte in range(256)]
"""Placeholders for `\\xHH`: the type of the field decides later whether it is a byte."""
_CHARACTERS: Final = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


def test_for(field: Field, operator: str, written: str, start: CaptureStart) -> Test:
    """The test for `field operator written`."""
    if field.type not in ("bytes", "any"):
        written = written.translate(_CHARACTERS)
    if operator == "!=":
        equal = test_for(field, "==", written, start)
        return lambda value: not equal(value)
    if field.type == "time":
        return _time(operator, written, start)
    if may_be_several(field):
        return _any_of(_test_one(field, operator, written))
    return _test_one(field, operator, written)


def may_be_several(field: Field) -> bool:
    """Whether the value may be a tuple; one matching element is enough then."""
    return field.type == "any" or field.name in ("zid", "port", "locators")


def _any_of(test: Test) -> Test:
    return lambda value: any(map(test, value)) if isinstance(value, (tuple, list)) else test(value)


def _test_one(field: Field, operator: str, written: str) -> Test:
    if operator == "~":
        return _intersects(field, written)
    if operator == "matches":
        return _matches(written)
    if operator in ("contains", "startswith", "endswith"):
        return _part(operator, written)
    if field.type == "number":
        return _number(field, operator, written)
    if field.type == "any":
        return _anything(operator, written)
    if field.type == "bytes":
        return _ordered(operator, _bytes(written))
    if operator != "==" and field.type in ("kind", "flag", "word", "zid"):
        raise LocalError(f"{field.name} is a {field.type}: compare it with == or !=")
    if field.type == "kind":
        return _kind(written)
    if field.type == "flag":
        return _flag(field, written)
    if field.type == "zid":
        return _zid(written)
    if field.type == "word" and written not in field.choices:
        raise LocalError(f"{field.name} is one of {', '.join(field.choices)}, not {written!r}")
    return _ordered(operator, written)


def _time(operator: str, written: str, start: CaptureStart) -> Test:
    if operator in ("matches", "contains", "startswith", "endswith"):
        raise LocalError(f"time is compared with == != < <= > >=, not with {operator}")
    wanted = parse_time(written)

    def test(time_ns: int) -> bool:
        begin_ns = wanted.begin(start.first_ns())
        if operator == "==":
            return begin_ns <= time_ns < begin_ns + wanted.span_ns
        return _ORDER[operator](time_ns, begin_ns)

    return test


def _ordered(operator: str, written: Any) -> Test:
    if operator == "==":
        return lambda value: bool(value == written)
    order = _ORDER[operator]
    return lambda value: order(value, written)


def number_of(written: str, name: str) -> int | float | None:
    """The number in the unit at the end of the field's name; None if `written` is not a number."""
    match = _NUMBER.fullmatch(written)
    if match is None:
        return None
    if match["hex"]:
        return int(match["hex"], 16)
    decimal = match["decimal"]
    number: int | float = float(decimal) if "." in decimal else int(decimal)
    if match["unit"] is None:
        return number
    field_unit = name.rpartition("_")[2]
    if field_unit not in ("ns", "ms"):
        raise LocalError(f"{name} has no unit of time: expected a number without {match['unit']}")
    ns = number * UNIT_NS[match["unit"].lower()]
    return ns / 1_000_000 if field_unit == "ms" else ns


def _number(field: Field, operator: str, written: str) -> Test:
    number = number_of(written, field.name)
    if number is None:
        raise LocalError(f"{field.name} is a number, not {written!r}{_size_hint(written)}")
    return _ordered(operator, number)


def _size_hint(written: str) -> str:
    match = _SIZE.fullmatch(written)
    if match is None:
        return ""
    number, power = float(match[1]), "kmg".index(match[2].lower()) + 1
    return f": write {number * 1000**power:.0f} or {number * 1024**power:.0f}"


def _anything(operator: str, written: str) -> Test:
    """A test of a value of a wire message: the type of each value decides how it is compared."""
    number = number_of(written, "_ms") if not written.lower().endswith("s") else None
    raw = _bytes(written)

    def test(value: Any) -> bool:
        if isinstance(value, bool):
            return operator == "==" and written.lower() == str(value).lower()
        if isinstance(value, bytes):
            return _ordered(operator, raw)(value)
        if isinstance(value, int) and number is not None:
            return _ordered(operator, number)(value)
        if isinstance(value, int) and not isinstance(value, IntEnum):
            return False
        return _ordered(operator, written)(str(value))

    return test


def _kind(written: str) -> Test:
    asked = written.upper()
    if not any(is_of_kind(kind, asked) for kind in KINDS):
        close = _kinds_meant(asked)
        hint = f": did you mean {' or '.join(close)}?" if close else ""
        raise LocalError(f"there is no kind {written!r}{hint}")
    return lambda kind: is_of_kind(kind, asked)


def _kinds_meant(asked: str) -> list[str]:
    """The kinds that `asked` may mean: by their last part, another name, or a similar spelling."""
    meant = [kind for kind in KINDS if f"/{asked}" in f"/{kind}/".replace(f"/{asked}_", "//")]
    if meant:
        return [kind[: kind.index(asked) + len(asked)] for kind in meant]
    if asked in _KIND_NAMES:
        return [_KIND_NAMES[asked]]
    return get_close_matches(asked, [*KINDS, "PUSH", "RESPONSE", "DECLARE"], n=1)


def _flag(field: Field, written: str) -> Test:
    if written.lower() not in ("true", "false"):
        raise LocalError(f"{field.name} is true or false, not {written!r}")
    wanted = written.lower() == "true"
    return lambda value: bool(value) == wanted


def _zid(written: str) -> Test:
    """Four digits or more match the beginning of an id: output lines show only that."""
    wanted = written.lower()
    if len(wanted) < _ZID_PREFIX_MIN:
        return lambda zid: bool(zid == wanted)
    return lambda zid: bool(zid.startswith(wanted))


def _intersects(field: Field, written: str) -> Test:
    if field.type not in ("key", "any"):
        raise LocalError(f"~ compares key expressions, {field.name} is a {field.type}")
    wanted = canonize(written)
    known: dict[str, bool] = {}

    def test(value: Any) -> bool:
        key = str(value)
        answer = known.get(key)
        if answer is None:
            if len(known) >= _KEYS_CACHED_MAX:
                known.clear()
            answer = known[key] = keys_intersect(wanted, key)
        return answer

    return test


def keys_intersect(wanted: str, key: str) -> bool:
    """Whether two keys intersect; `key` comes from a peer and may be invalid."""
    return texts_intersect(wanted, key) is True


def _matches(written: str) -> Test:
    try:
        with warnings.catch_warnings():
            # FutureWarning: the syntax may change in a later Python.
            warnings.simplefilter("ignore")
            pattern = re.compile(written)
    except (re.error, OverflowError, RecursionError) as error:
        raise LocalError(f"{written!r} is not a regular expression: {error}") from None
    return lambda value: pattern.search(_text(value)) is not None


def _part(operator: str, written: str) -> Test:
    raw = _bytes(written)

    def test(value: Any) -> bool:
        whole: Any = value if isinstance(value, bytes) else _text(value)
        part: Any = raw if isinstance(value, bytes) else written
        if operator == "contains":
            return part in whole
        found: bool = whole.startswith(part) if operator == "startswith" else whole.endswith(part)
        return found

    return test


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _bytes(written: str) -> bytes:
    """Decodes `0x` and pairs of hexadecimal digits; any other text becomes UTF-8."""
    if written[:2] == "0x":
        try:
            return bytes.fromhex(written[2:])
        except ValueError:
            pass
    try:
        return written.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return written.encode("utf-8", "surrogatepass")
