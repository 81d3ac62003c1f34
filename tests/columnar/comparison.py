"""The comparison of columns with the scalar decoder, row by row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tests.columnar.column_rows import ColumnRows
from tests.columnar.scalar_rows import Row, scalar_unit
from zenlake.columnar import Columns, decode
from zenlake.columnar.causes import CAUSES
from zenlake.errors import WireError
from zenlake.wire import decode_join_qos, decode_network, decode_timestamp_stack
from zenlake.wire.message import NetworkMessage, read_chain
from zenlake.wire.primitives import read_count
from zenlake.wire.values.endpoint import read_locator

Input = tuple[bytes, int]
"""A unit's content and its form."""

# Patterns of the scalar decoder's messages, in the order of CAUSES.
SAID = (
    "",
    "the bytes end inside this field",
    r"\d+ is more than \d+, the most this field can hold",
    r"it claims \d+ bytes, \d+ are left",
    "the text is not UTF-8",
    "0 is not allowed here",
    "an id of .* bytes, 1 to 16 are possible",
    "the id is zero",
    "there are no bytes",
    "0x.. is no (transport|network|scouting) message.*",
    "0x.. is not .*",
    ".* the reserved encoding 0b11",
    "unknown extension 0x.. is mandatory",
    r"more than \d+ extensions",
    "it must stand before .*",
    r"\d+ bytes, 1 to 32 are possible",
    r"\d+ items, at most \d+ are accepted",
    r"it claims \d+ items, \d+ bytes are left",
    "role 3 is reserved",
    "query target .* does not exist",
    "bound .* does not exist .*",
    "distance .* does not fit 16 bits",
    "slice kind .* does not exist .*",
    "(?s).* is not a canonical locator|.*: (expected|no parameter|'.' must|an endpoint) ?.*",
)
_PATTERNS = [re.compile(pattern) for pattern in SAID]


def decoded(inputs: Sequence[Input]) -> Columns:
    """All inputs in one buffer."""
    bounds = [0, *accumulate(len(content) for content, _ in inputs)]
    return decode(b"".join(content for content, _ in inputs), bounds, [form for _, form in inputs])


def compare(inputs: Sequence[Input]) -> int:
    """Fail if columns and scalar decoder differ in any value; returns the number of rows."""
    columns = decoded(inputs)
    rows = ColumnRows(columns)
    bounds = columns.bounds.tolist()
    n = 0
    for unit, (content, form) in enumerate(inputs):
        where = f"form {form}: {content.hex(' ')}"
        expected, error = scalar_unit(content, form)
        first = n
        while n < len(columns) and rows.units[n] == unit:
            assert n - first < len(expected), f"{where}: {rows.kinds[n]} is one row too many"
            compare_row(rows, n, expected[n - first], where)
            n += 1
        assert n - first == len(expected), f"{where}: rows are missing"
        compare_places(rows, first, expected, content, bounds[unit], where)
        compare_error(columns, unit, error, where)
    assert n == len(columns)
    return n


def compare_row(rows: ColumnRows, n: int, expected: Row, where: str) -> None:
    found = rows.fields_of(n)
    assert rows.kinds[n] == expected.kind, where
    assert rows.unknown[n] == expected.unknown, where
    for name, read in _KEPT_WHOLE.items():
        if name in found:
            found[name] = read(found[name])
    assert found == expected.fields, f"{where}: {expected.message}"
    assert rows.all_zero(n, found), where


def compare_places(
    rows: ColumnRows, first: int, expected: list[Row], content: bytes, start: int, where: str
) -> None:
    """Messages are adjacent, those of a FRAME inside it, and decode the same from their bytes."""
    pos, frame_end = start, start
    for n, row in enumerate(expected, first):
        assert rows.offsets[n] == pos, where
        if isinstance(row.message, NetworkMessage):
            message, stop = decode_network(content, pos - start)
            assert message == row.message, where
            assert rows.lengths[n] == stop + start - pos, where
            pos += rows.lengths[n]
            assert pos <= frame_end or frame_end == start, where
        elif row.kind == "FRAME":
            frame_end = pos + rows.lengths[n]
            inner = n + 1
            is_carried = len(expected) > inner - first and isinstance(
                expected[inner - first].message, NetworkMessage
            )
            pos = rows.offsets[inner] if is_carried else frame_end
        else:
            pos += rows.lengths[n]


def compare_error(columns: Columns, unit: int, expected: WireError | None, where: str) -> None:
    found, failure = columns.error(unit), columns.failure(unit)
    if expected is None or found is None or failure is None:
        assert found is expected is None, f"{where}: {found}, expected {expected}"
        return
    place = (found.message, found.field, found.offset)
    assert place == (expected.message, expected.field, expected.offset), f"{where}: {expected}"
    assert found.cause == CAUSES[failure.cause]
    said = _PATTERNS[failure.cause].fullmatch(expected.cause)
    assert said, f"{where}: {found.cause}, expected {expected.cause}"


def _locators(raw: bytes) -> tuple[str, ...]:
    count, pos = read_count(raw, 0, len(raw), len(raw))
    found = []
    for _ in range(count):
        locator, pos = read_locator(raw, pos, len(raw))
        found.append(locator)
    assert pos == len(raw)
    return tuple(found)


# Fields whose column is a byte range, which the scalar decoder reads.
_KEPT_WHOLE: dict[str, Any] = {
    "stamps": lambda raw: decode_timestamp_stack(raw, 0, len(raw))[0],
    "lanes": lambda raw: decode_join_qos(raw, 0, len(raw))[0],
    "auth": lambda raw: read_chain(raw, 0, len(raw))[0],
    "locators": _locators,
}
