"""Steps: SQL that derives tables from the rows of single messages.

There is one file for each table, with `build`: a pure function from frames to a frame. The result
does not depend on how input rows are divided among files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from zenlake.lake.derive.steps import (
    adjacencies,
    declarations,
    exchanges,
    interests,
    nodes,
    queries,
    replies,
    requests,
    ros_entities,
    traces,
    unanswered,
)
from zenlake.lake.derive.steps.conform import query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Frames = dict[str, DataFrame]
    """Frames by the name of their table."""
    Parts = dict[str, list[DataFrame]]
    Keep = Callable[[str, DataFrame], DataFrame]

__all__ = [
    "build_declarations",
    "build_declarations_of_split",
    "build_explained_queries",
    "build_queries",
    "build_queries_of_split",
    "build_topology",
]


# Each build takes all rows (`whole`), and the same rows in parts, each with all events of its
# sessions. Steps that cross sessions use the whole. Two builds make all tables of whole captures.
# If a capture is read in splits, each split is a whole for the builds `of_split`, and two more
# builds span all splits.


def build_queries(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """Queries and replies of whole captures."""
    found = build_queries_of_split(whole, parts, keep)
    declared = [
        declarations.build(_queryables(part["declare_events"]), part["sessions"]) for part in parts
    ]
    rest: Frames = {
        **whole,
        "unexplained_queries": _together(found["unexplained_queries"]),
        "empty_hops": _together(found["empty_hops"]),
        "declarations": _together(declared),
    }
    explained = build_explained_queries(rest, [rest], keep)
    return {"queries": found["queries"] + explained["queries"], "replies": found["replies"]}


def build_queries_of_split(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """Queries and replies of a split, without empty queries, whose cause needs all splits.

    `trace_id` is right if no other split has a request that asks the same (`question_groups`).
    """
    events = [part["exchange_events"] for part in parts]
    exchanged = [keep("exchanges", exchanges.build(one)) for one in events]
    sent = [keep("requests", requests.build(*pair)) for pair in zip(events, exchanged, strict=True)]
    traced = traces.build(_together(sent))
    asked = [keep("asked", traces.join(one, traced)) for one in sent]
    replied = [
        keep("replies", replies.build(*step)) for step in zip(events, exchanged, asked, strict=True)
    ]
    judged = [
        keep(
            "judged",
            queries.build(one, requested, answers, part["sessions"], whole["captures"]),
        )
        for one, requested, answers, part in zip(events, asked, replied, parts, strict=True)
    ]
    hops = unanswered.hops_of(_together(asked), _together(replied), whole["sessions"])
    return {
        "queries": [queries.not_empty(one) for one in judged],
        "replies": replied,
        "unexplained_queries": [queries.unexplained(one) for one in judged],
        "empty_hops": [hops],
        "question_groups": [traces.groups_of(_together(sent))],
    }


def build_explained_queries(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """Empty queries of all splits, with their causes."""
    causes = unanswered.build(
        whole["empty_hops"], whole["declarations"], whole["sessions"], whole["captures"]
    )
    return {"queries": [queries.explain(whole["unexplained_queries"], causes)]}


def build_declarations(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """Declarations, interests and topology of whole captures."""
    found = build_declarations_of_split(whole, parts, keep)
    rest = {**whole, "declarations": _together(found["declarations"])}
    return {**found, **build_topology(rest, [rest], keep)}


def build_declarations_of_split(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """Declarations and interests of a split."""
    return {
        "declarations": [
            keep("declarations", declarations.build(part["declare_events"], part["sessions"]))
            for part in parts
        ],
        "interests": [interests.build(part["interest_events"], part["sessions"]) for part in parts],
    }


def build_topology(whole: Frames, parts: Sequence[Frames], keep: Keep) -> Parts:
    """Nodes, adjacencies and ROS entities, which need all sessions of a capture."""
    return {
        "ros_entities": [ros_entities.build(whole["declarations"])],
        "nodes": [nodes.build(whole["node_events"])],
        "adjacencies": [adjacencies.build(whole["edge_events"], whole["sessions"])],
    }


def _queryables(declare_events: DataFrame) -> DataFrame:
    return query("SELECT * FROM {events} WHERE entity = 'queryable'", events=declare_events)


def _together(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.union(other), frames)
