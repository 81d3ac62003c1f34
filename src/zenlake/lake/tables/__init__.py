"""Tables: what single messages say, put together into lives, exchanges and topology.

One file for each table, with `build`: a pure function from frames to a frame. The same rows
come out however the rows that go in are spread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zenlake.lake.tables import (
    adjacencies,
    declarations,
    exchanges,
    interests,
    nodes,
    queries,
    replies,
    ros_entities,
    traces,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["build_all"]


def _as_it_is(name: str, frame: DataFrame) -> DataFrame:
    return frame


def build_all(
    tables: dict[str, DataFrame], keep: Callable[[str, DataFrame], DataFrame] = _as_it_is
) -> dict[str, DataFrame]:
    """The seven published tables that are put together, each after those it needs.

    `tables` has all staged tables, `sessions` and `captures`. `keep` is asked to hold on to
    what is read several times (`exchanges`, `traces`, `replies`, `declarations`): it may
    persist a frame, or write it and give what it reads back.
    """
    sessions = tables["sessions"]
    exchanged = keep("exchanges", exchanges.build(tables["exchange_events"]))
    traced = keep("traces", traces.build(exchanged))
    replied = keep("replies", replies.build(exchanged, traced))
    declared = keep("declarations", declarations.build(tables["declare_events"], sessions))
    return {
        "queries": queries.build(exchanged, replied, traced, sessions, tables["captures"]),
        "replies": replied,
        "declarations": declared,
        "ros_entities": ros_entities.build(declared),
        "interests": interests.build(tables["interest_events"], sessions),
        "nodes": nodes.build(tables["node_events"]),
        "adjacencies": adjacencies.build(tables["edge_events"], sessions),
    }
