"""Hops: for each content the sessions that carried it, and whether its publications are certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zenlake.lake.derive.publications.grouping import (
    NO_MAX,
    Groups,
    are_in,
    order_of,
    ranks,
)
from zenlake.lake.derive.publications.hashing import NULL

if TYPE_CHECKING:
    from zenlake.lake.derive.publications.contents import Rows
    from zenlake.lake.derive.publications.grouping import Flags, Numbers


class Compared(NamedTuple):
    """Rows whose content crossed several hops, by content, hop and `seq`."""

    rows: Rows
    contents: Groups
    hops: Groups
    is_certain: Flags
    """For each content: its nodes are known, no node received it twice, one sent it first, and all
    hops have it equally often."""
    has_one_entry: Flags
    """For each content: its nodes are known, no node received it twice, one received it first."""
    source: Numbers
    """For each content, the node that sent it first."""
    entry: Numbers
    """For each content, the node that received it first."""


def compare(rows: Rows) -> Compared:
    content, is_split = _split_by_stamper(rows)
    order = order_of(content, rows.hop, rows.seq)
    rows, content, is_split = rows.take(order), content[order], is_split[order]
    del order
    hops = Groups.of_equal(content, rows.hop)
    contents = Groups.of_equal(content[hops.starts])
    # Contents on a single hop need no comparison.
    is_kept = (contents.sizes > 1) | is_split[hops.starts][contents.starts]
    if not is_kept.all():
        kept_hops = contents.to_rows(is_kept)
        rows = rows.take(hops.to_rows(kept_hops))
        hops, contents = hops.select(kept_hops), contents.select(is_kept)
    return _compare_hops(rows, contents, hops)


def _split_by_stamper(rows: Rows) -> tuple[Numbers, Flags]:
    """The number of the content of each row, and whether an equal content has another number.

    Contents to which several routers added timestamps are divided by router. A row without a
    timestamp belongs to the router that received it, if that added timestamps.
    """
    content, stamper = ranks(rows.content), rows.stamper
    stamped = np.flatnonzero(stamper != NULL)
    nothing = np.zeros(len(content), np.bool_)
    if not len(stamped):
        return content, nothing
    order = stamped[np.argsort(content[stamped])]
    routers = Groups.of_equal(content[order])
    least, most = routers.min(stamper[order]), routers.max(stamper[order])
    is_divided = np.zeros(int(content.max()) + 1, np.bool_)
    is_divided[content[order][routers.starts]] = least < most
    is_split = is_divided[content]
    if not is_split.any():
        return content, nothing
    divided, stamped = np.flatnonzero(is_split), stamped[is_split[stamped]]
    receiver = rows.receiver[divided]
    has_router = are_in((content[divided], receiver), (content[stamped], stamper[stamped]))
    router = np.zeros(len(content), np.int64)
    router[divided] = np.where(has_router, receiver, NULL)
    router[stamped] = stamper[stamped]
    return ranks(content, router), is_split


def _compare_hops(rows: Rows, contents: Groups, hops: Groups) -> Compared:
    sender = rows.sender[hops.starts]
    received = rows.receiver
    receiver, receivers = hops.max(received), hops.count(received != NULL)
    is_known, is_received = sender != NULL, receiver != NULL
    number = contents.numbers
    # A hop is the first if its sender did not receive the content.
    passed_on = are_in((number, sender), (number[is_received], receiver[is_received]))
    is_first = ~(passed_on & is_known)
    is_complete = (
        (contents.sizes > 1)
        & contents.all(is_known)
        & (contents.sum(receivers) == contents.sum(hops.sizes))
    )
    is_even = (contents.min(hops.sizes) == contents.max(hops.sizes)) & (
        contents.count_distinct(receiver, is_received) == contents.sizes
    )
    sources = is_first & is_known
    source = contents.max(sender, sources)
    entries = is_first & is_received
    entry = contents.max(receiver, entries)
    has_one_source = (source != NO_MAX) & (contents.min(sender, sources) == source)
    has_one_entry = (entry != NO_MAX) & (contents.min(receiver, entries) == entry)
    return Compared(
        rows,
        contents,
        hops,
        is_complete & is_even & has_one_source,
        is_complete & has_one_entry,
        source,
        entry,
    )
