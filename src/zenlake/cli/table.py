"""Text tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

# The first rows determine the widths, so that the others need not be kept in memory.
ROWS_MEASURED: Final = 1_000
_GAP: Final = "  "


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]
) -> Iterator[str]:
    """A header, a rule, and one line per row; the columns in `right` are aligned to the right."""
    remaining = iter(rows)
    measured = list(islice(remaining, ROWS_MEASURED))
    widths = [max(map(len, cells)) for cells in zip(columns, *measured, strict=True)]
    yield _line(columns, widths, right)
    yield _GAP.join("-" * width for width in widths)
    for row in chain(measured, remaining):
        yield _line(row, widths, right)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return _GAP.join(padded).rstrip()
