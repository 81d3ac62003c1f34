"""Consolidation: which replies of a query the application gets (behaviour reference §2.5, §2.7).

Replies on exactly the same key are compared by their timestamps; errors never are.

    NONE        every reply is delivered
    MONOTONIC   a reply is dropped if it is older than one that was delivered before it
    LATEST      only the newest reply is delivered, when the query ends

A reply without a timestamp is older than any with one. Of two equal timestamps the later arrival
counts as newer, so that without timestamps the last arrival wins.
"""

from __future__ import annotations

from collections.abc import Sequence

from zenlake.semantics.query_parameters import TIME_RANGE, has_parameter
from zenlake.wire.values.choices import ConsolidationMode
from zenlake.wire.values.timestamp import Timestamp


def auto_mode(parameters: str) -> ConsolidationMode:
    """The mode that AUTO means for a query; the querier's node decides before it sends it."""
    if has_parameter(parameters, TIME_RANGE):
        return ConsolidationMode.NONE
    return ConsolidationMode.LATEST


def is_older(time: Timestamp | None, than: Timestamp | None) -> bool:
    """Whether a reply that arrives now is older than one that arrived before; hot."""
    if than is None:
        return False
    return time is None or time < than


def superseded(mode: str, orders: Sequence[str]) -> dict[int, int]:
    """Replies on one key that are not delivered, each with the reply that is delivered instead.

    `orders` are the timestamps in the order of arrival, as texts that sort like them; "" stands
    for no timestamp. `mode` is the name of a mode in small letters.
    """
    found: dict[int, int] = {}
    if mode == "latest" and orders:
        newest = max(range(len(orders)), key=lambda place: (orders[place], place))
        found = {place: newest for place in range(len(orders)) if place != newest}
    elif mode == "monotonic":
        delivered = 0
        for place in range(1, len(orders)):
            if orders[place] < orders[delivered]:
                found[place] = delivered
            else:
                delivered = place
    return found
