"""Tables: what single messages say, put together into lives, exchanges and topology.

One file for each table, with `build`: a pure function from frames to a frame. The same rows
come out however the rows that go in are spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from zenlake.lake.tables import (
    adjacencies,
    declarations,
    exchanges,
    interests,
    latencies,
    nodes,
    queries,
    replies,
    requests,
    ros_entities,
    traces,
    unanswered,
)
from zenlake.lake.tables.conform import query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Frames = dict[str, DataFrame]
    """By table."""
    Parts = dict[str, list[DataFrame]]
    Keep = Callable[[str, DataFrame], DataFrame]

__all__ = ["build_all", "build_lives", "build_talks", "build_ways"]


def _as_it_is(name: str, frame: DataFrame) -> DataFrame:
    return frame


def build_all(tables: Frames, keep: Keep = _as_it_is) -> Frames:
    """All published tables that are put together, each after those it needs.

    `tables` has all staged tables, `samples`, `sessions` and `captures`. `keep` is asked to hold
    on to what is read several times (`exchanges`, `requests`, `asked`, `replies`, `causes`,
    `declarations`, `contents`, `hops`, `latencies`, `changed`): it may persist a frame, or write it
    and give what it reads back.
    """
    found = [build(tables, [tables], keep) for build in (build_talks, build_lives, build_ways)]
    return {name: frame for tables in found for name, [frame] in tables.items()}


# In parts, of which each has all events of its sessions, and these. What crosses sessions is
# made of the whole. The three have nothing to do with each other.


def build_talks(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """What was asked and answered."""
    events = [part["exchange_events"] for part in parts]
    exchanged = [keep("exchanges", exchanges.build(one)) for one in events]
    sent = [keep("requests", requests.build(*pair)) for pair in zip(events, exchanged, strict=True)]
    traced = traces.build(_together(sent))
    asked = [keep("asked", traces.join(one, traced)) for one in sent]
    replied = [
        keep("replies", replies.build(*step)) for step in zip(events, exchanged, asked, strict=True)
    ]
    offered = [
        declarations.build(_queryables(part["declare_events"]), part["sessions"]) for part in parts
    ]
    causes = keep(
        "causes",
        unanswered.build(
            _together(asked),
            _together(replied),
            _together(offered),
            whole["sessions"],
            whole["captures"],
        ),
    )
    asking = [
        queries.build(one, requested, answers, part["sessions"], whole["captures"], causes)
        for one, requested, answers, part in zip(events, asked, replied, parts, strict=True)
    ]
    return {"queries": asking, "replies": replied}


def build_lives(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """What was there, and for how long."""
    declared = [
        keep("declarations", declarations.build(part["declare_events"], part["sessions"]))
        for part in parts
    ]
    return {
        "declarations": declared,
        "ros_entities": [ros_entities.build(_together(declared))],
        "interests": [interests.build(part["interest_events"], part["sessions"]) for part in parts],
        "nodes": [nodes.build(whole["node_events"])],
        "adjacencies": [adjacencies.build(whole["edge_events"], whole["sessions"])],
    }


def build_ways(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """Which ways publications took; `samples` only of captures in which one crossed two links.

    Others have their `trace_id` already, as they were read.
    """
    contents = keep("contents", latencies.contents_of(whole["samples"]))
    found = keep("latencies", latencies.build(contents, keep))
    changed = keep("changed", latencies.changed_of(found))
    return {
        "latencies": [found],
        "samples": [latencies.traced(part["samples"], changed) for part in parts],
    }


def _queryables(declare_events: DataFrame) -> DataFrame:
    return query("SELECT * FROM {events} WHERE entity = 'queryable'", events=declare_events)


def _together(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.union(other), frames)
