"""Adjacencies: the edges of the network, each for as long as a node told of it.

A link state says all links that a node has now; what the same teller said of that node before
is void (behaviour reference §4.7). So the states that a teller sent of a node are counted, and
an edge lives through those that follow each other and name it with the same weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.schema import TABLES
from zenlake.lake.tables.conform import conform, query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SQL: Final = """
WITH numbered AS (
    SELECT *, max(sn) OVER so_far AS newest_sn
    FROM {events}
    WINDOW so_far AS (PARTITION BY capture, told_by_zid, zid, session
        ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
states AS (
    -- A state that is older than one before is not taken; one without links tells nothing.
    SELECT *, dense_rank() OVER (PARTITION BY capture, told_by_zid, zid ORDER BY seq) AS state
    FROM numbered
    WHERE has_links AND coalesce(sn >= newest_sn, true)
),
edges AS (
    SELECT *, min(time_ns) OVER (PARTITION BY capture, told_by_zid, zid
        ORDER BY state RANGE BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_ns
    FROM states
),
lives AS (
    -- Both grow by one from state to state, as long as the edge is told.
    SELECT *, state - dense_rank() OVER (
        PARTITION BY capture, told_by_zid, zid, neighbour_zid, weight ORDER BY state) AS life
    FROM edges
    WHERE neighbour_zid IS NOT NULL
),
told AS (
    -- Structs compare by their first field, which is the order of events.
    SELECT capture, told_by_zid, zid, neighbour_zid, weight,
        min(struct(seq, time_ns AS from_ns, session, link, packet)) AS first,
        max(struct(seq, next_ns AS to_ns)) AS last
    FROM lives
    GROUP BY capture, told_by_zid, zid, neighbour_zid, weight, life
)
SELECT capture, told_by_zid, zid, neighbour_zid, weight, first.*, last.to_ns FROM told
"""

# A node whose sessions are all over tells nothing any more.
_ENDED: Final = """
WITH sides AS (
    SELECT capture, opener_zid AS zid, closed_ns FROM {sessions}
    UNION ALL SELECT capture, acceptor_zid AS zid, closed_ns FROM {sessions}
),
gone AS (
    SELECT capture, zid, if(count(*) = count(closed_ns), max(closed_ns), NULL) AS gone_ns
    FROM sides GROUP BY capture, zid
)
SELECT told.* EXCEPT (to_ns),
    coalesce(to_ns, if(gone_ns IS NULL, NULL, greatest(gone_ns, from_ns))) AS to_ns
FROM {told} AS told
LEFT JOIN gone ON told.capture = gone.capture AND told.told_by_zid = gone.zid
"""


def build(edge_events: DataFrame, sessions: DataFrame) -> DataFrame:
    """From the staged entries of link states, and the published sessions of their tellers."""
    told = query(_SQL, events=edge_events)
    return conform(query(_ENDED, told=told, sessions=sessions), TABLES["adjacencies"])
