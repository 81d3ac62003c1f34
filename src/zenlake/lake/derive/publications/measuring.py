"""Measuring: for each row its publication's `trace_id`, first time and publisher."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from zenlake.lake.derive.publications.grouping import Groups, are_in, ranks
from zenlake.lake.derive.publications.hashing import NULL
from zenlake.lake.derive.publications.hops import compare
from zenlake.lake.derive.publications.places import UNKNOWN, publications_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zenlake.lake.derive.publications.contents import Rows
    from zenlake.lake.derive.publications.grouping import Flags, Numbers


_ROWS_AT_ONCE: Final = 1 << 18
"""The number of rows that are measured at a time, which limits temporary memory."""


class Measured(NamedTuple):
    """Rows whose content crossed several hops."""

    row: Numbers
    """The number of the row among all rows of the files."""
    time_ns: Numbers
    trace_id: Numbers
    """`seq` of the first hop; `UNKNOWN` if the publication is not known."""
    sent_ns: Numbers
    """The time of the first hop; `UNKNOWN` if it is the only one that is known."""
    publisher: Numbers
    """The node that sent the first hop, if that is certain, else `NULL`."""
    is_last: Flags
    """Whether no later hop starts at the receiver; meaningless if the publication is unknown."""

    def take(self, rows: Numbers | Flags) -> Measured:
        columns: list[Any] = [column[rows] for column in self]
        return Measured(*columns)


def measure(rows: Rows) -> tuple[Iterator[Measured], Rows]:
    """The results for rows with these contents, and the rows that only their mark identifies.

    Rows with another content may have the same mark: `measure_marked` takes all of them.
    """
    compared = compare(rows)
    rows, publication = compared.rows, publications_of(compared)
    is_known = publication != UNKNOWN
    is_marked = ~is_known & (rows.mark != NULL)
    unknown = _unknown(rows.take(~(is_known | is_marked)))
    known = _measure_in_batches(rows.take(is_known), publication[is_known], True)
    return chain([unknown], known), rows.take(is_marked)


def measure_marked(rows: Rows) -> Iterator[Measured]:
    """Measure rows by their mark. The first hop is not certain, so no publisher is known."""
    return _measure_in_batches(rows, ranks(rows.mark), False)


def _unknown(rows: Rows) -> Measured:
    nothing = np.full(len(rows), UNKNOWN)
    never = np.zeros(len(rows), np.bool_)
    return Measured(rows.row, rows.time_ns, nothing, nothing, np.full_like(nothing, NULL), never)


def _measure_in_batches(rows: Rows, publication: Numbers, is_certain: bool) -> Iterator[Measured]:
    """The results for some publications at a time, with all rows of each."""
    if (publication[1:] < publication[:-1]).any():
        order = np.argsort(publication)
        rows, publication = rows.take(order), publication[order]
    first, count = 0, len(publication)
    while first < count:
        last = publication[min(first + _ROWS_AT_ONCE, count) - 1]
        stop = int(np.searchsorted(publication, last, "right"))
        yield _measure_publications(
            rows.take(np.arange(first, stop)), publication[first:stop], is_certain
        )
        first = stop


def _measure_publications(rows: Rows, publication: Numbers, is_certain: bool) -> Measured:
    """The results for all rows of some publications; `publication` ascends."""
    hops = Groups.of_equal(publication)
    seq, time_ns, sender, receiver = rows.seq, rows.time_ns, rows.sender, rows.receiver
    trace_id = hops.to_rows(hops.min(seq))
    sent_ns = np.where(hops.sizes > 1, hops.min(time_ns), UNKNOWN)
    # An unknown receiver must not match an unknown sender.
    passed_on = are_in((publication, receiver), (publication, sender)) & (receiver != NULL)
    publisher = np.full(len(hops), NULL)
    if is_certain:
        publisher = hops.min(sender, seq == trace_id)
    return Measured(
        rows.row,
        time_ns,
        trace_id,
        hops.to_rows(sent_ns),
        hops.to_rows(publisher),
        ~passed_on,
    )
