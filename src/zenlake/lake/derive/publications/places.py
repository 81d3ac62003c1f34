"""Places: the publication of each row, by its place among rows with the same content.

`place` counts equal contents on a hop; most come once. If one is seen before the first hop, or has
two timestamps, the order does not identify publications. Then hops have different counts of a
content, because subscribers came and went, and it is compared by timestamps or by time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from zenlake.lake.derive.publications.grouping import (
    NO_MAX,
    NO_MIN,
    Groups,
    order_of,
    ranks,
)
from zenlake.lake.derive.publications.hashing import NULL

if TYPE_CHECKING:
    from zenlake.lake.derive.publications.contents import Rows
    from zenlake.lake.derive.publications.grouping import Flags, Numbers
    from zenlake.lake.derive.publications.hops import Compared

SENDING_NS_MAX: Final = 20_000_000
"""A node sends a publication to all its neighbours within this time."""
UNKNOWN: Final = -1
"""The publication of a row that its place does not identify."""


def publications_of(compared: Compared) -> Numbers:
    """A number for each row, or `UNKNOWN`; equal for the hops of one publication."""
    content = compared.contents.to_rows(np.arange(len(compared.contents)))
    content = compared.hops.to_rows(content)
    found = np.full(len(content), UNKNOWN, np.int64)
    is_certain = compared.is_certain[content]
    if is_certain.any():
        found[is_certain] = _number_by_place(compared, is_certain, content[is_certain])
    is_known = np.zeros(len(compared.contents), np.bool_)
    is_known[content[found != UNKNOWN]] = True
    uneven = np.flatnonzero((compared.has_one_entry & ~is_known)[content])
    if len(uneven):
        rows = compared.rows.take(uneven)
        is_entry = rows.receiver == compared.entry[content[uneven]]
        numbers = _number_uneven_contents(rows, content[uneven], is_entry)
        first = int(found.max(initial=0)) + 1
        found[uneven] = np.where(numbers == UNKNOWN, UNKNOWN, first + numbers)
    return found


def _number_by_place(compared: Compared, chosen: Flags, content: Numbers) -> Numbers:
    """Number the chosen rows by content and place; `UNKNOWN` if the places are out of order."""
    rows, place = compared.rows.take(chosen), compared.hops.places[chosen]
    order = None
    if place.any():
        order = order_of(content, place)
        rows, content, place = rows.take(order), content[order], place[order]
    places = Groups.of_equal(content, place)
    is_first = rows.sender == compared.source[content]
    time_ns, seq, stamp = rows.time_ns, rows.seq, rows.stamp
    took_ns = places.max(time_ns, is_first) - places.min(time_ns, is_first)
    latest_stamp = places.max(stamp)
    is_in_order = (
        (places.min(seq) == places.min(seq, is_first))
        & (took_ns < SENDING_NS_MAX)
        & ((latest_stamp == NULL) | (latest_stamp == places.min(stamp, stamp != NULL)))
    )
    contents = Groups.of_equal(content[places.starts])
    return _part_of_each_row(places, contents, contents.all(is_in_order), order)


class _Uneven(NamedTuple):
    rows: Rows
    content: Numbers
    is_entry: Flags


def _number_uneven_contents(rows: Rows, content: Numbers, is_entry: Flags) -> Numbers:
    """Number the rows by the order of their timestamps or, where that fails, by time."""
    order = order_of(content, rows.seq)
    given = _Uneven(rows.take(order), content[order], is_entry[order])
    by_number = _number_by_timestamp(given)
    by_time = _number_by_time(given)
    by_time[by_time != UNKNOWN] += int(by_number.max(initial=0)) + 1
    found = np.empty(len(order), np.int64)
    found[order] = np.where(by_number == UNKNOWN, by_time, by_number)
    return found


def _number_by_timestamp(given: _Uneven) -> Numbers:
    """Match the n-th row at the entry with the n-th timestamp that the entry added."""
    rows, content, is_entry = given
    is_stamped = rows.stamp != NULL
    # Rows without a timestamp come before all others.
    time = np.where(is_entry, rows.seq, np.where(is_stamped, rows.stamp_ns, NO_MAX))
    stamp = np.where(is_entry, NULL, rows.stamp)
    side = content * 2 + is_entry
    rank = ranks(side, time, stamp)
    least = np.full(int(side.max()) + 1, NO_MIN)
    np.minimum.at(least, side, rank)
    number = rank - least[side]
    order = order_of(content, number, rows.seq)
    rows, content, is_entry = rows.take(order), content[order], is_entry[order]
    numbers = Groups.of_equal(content, number[order])
    is_in_order = (
        (numbers.min(rows.seq) == numbers.min(rows.seq, is_entry))
        & (numbers.sizes > 1)
        & (numbers.count_distinct(rows.receiver, rows.receiver != NULL) == numbers.sizes)
        & numbers.all(is_entry == (rows.stamp == NULL))
    )
    contents = Groups.of_equal(content[numbers.starts])
    hop = numbers.min(rows.hop, is_entry)
    has_one_hop = contents.min(hop) == contents.max(hop)
    return _part_of_each_row(numbers, contents, contents.all(is_in_order) & has_one_hop, order)


def _number_by_time(given: _Uneven) -> Numbers:
    """Match each row with the latest row at the entry, if all hops took less than the next gap."""
    rows, content, is_entry = given
    contents = Groups.of_equal(content)
    so_far = np.cumsum(is_entry)
    before = so_far - contents.to_rows(so_far[contents.starts] - is_entry[contents.starts])
    gap_ns = np.full(len(content), NO_MIN)
    entries = np.flatnonzero(is_entry)
    follows = np.flatnonzero(content[entries][1:] == content[entries][:-1]) + 1
    gap_ns[entries[follows]] = rows.time_ns[entries[follows]] - rows.time_ns[entries[follows - 1]]
    # A span is a row at the entry, and the rows up to the next one.
    spans = Groups.of_equal(content, before)
    is_stamped = rows.stamp != NULL
    stamp, least = spans.max(rows.stamp), spans.min(rows.stamp, is_stamped)
    is_in_order = (
        (before[spans.starts] > 0)
        & (spans.count_distinct(rows.receiver, rows.receiver != NULL) == spans.sizes)
        & ((stamp == NULL) | (stamp == least))
    )
    entry_ns = spans.min(rows.time_ns, is_entry)
    delay_ns = np.where(entry_ns == NO_MIN, 0, spans.max(rows.time_ns) - entry_ns)
    whole = Groups.of_equal(content[spans.starts])
    has_stamp = stamp != NULL
    is_apart = (
        whole.all(is_in_order)
        & (whole.count(has_stamp) == whole.count_distinct(stamp, has_stamp))
        & (whole.max(delay_ns) < contents.min(gap_ns))
        & (contents.min(gap_ns) != NO_MIN)
    )
    return _part_of_each_row(spans, whole, is_apart, None)


def _part_of_each_row(
    parts: Groups, contents: Groups, is_known: Flags, order: Numbers | None
) -> Numbers:
    """For each row of a known content the number of its part, else `UNKNOWN`."""
    numbers = np.where(contents.to_rows(is_known), np.arange(len(parts)), UNKNOWN)
    found = parts.to_rows(numbers)
    if order is None:
        return found
    placed = np.empty(len(order), np.int64)
    placed[order] = found
    return placed
