"""Adjacencies: the edges of the network, each for as long as link states announce it.

A link state lists all current links of a node and replaces what the same sender announced of that
node before (behaviour reference §4.7). So the states that a sender announced of a node are
numbered, and an edge lasts over consecutive states that have it with the same weight.

A node that leaves sends no last link state, and no other node must announce its links again. So an
edge ends at the latest when its announcer has no session any more, and when the session between its
nodes ends, if the capture has it. A node may come back under the same id: each stay is separate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.table import BIGINT_MAX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NEVER: Final = BIGINT_MAX
_PAIR: Final = "concat_ws(' ', least({one}, {other}), greatest({one}, {other}))"

# Sessions that overlap are one stay, of a node, or of two nodes with each other.
_STAYS: Final = f"""
WITH sides AS (
    SELECT capture, opener_zid AS who, coalesce(time_ns, 0) AS start_ns, closed_ns FROM {{sessions}}
    UNION ALL
    SELECT capture, acceptor_zid, coalesce(time_ns, 0), closed_ns FROM {{sessions}}
    UNION ALL
    SELECT capture, {_PAIR.format(one="opener_zid", other="acceptor_zid")},
        coalesce(time_ns, 0), closed_ns
    FROM {{sessions}}
    WHERE opener_zid IS NOT NULL AND acceptor_zid IS NOT NULL
),
followed AS (
    SELECT *, coalesce(start_ns > max(coalesce(closed_ns, {_NEVER})) OVER before, true) AS begins
    FROM sides
    WHERE who IS NOT NULL
    WINDOW before AS (PARTITION BY capture, who ORDER BY start_ns, closed_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
numbered AS (
    SELECT *, count_if(begins) OVER (PARTITION BY capture, who ORDER BY start_ns, closed_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS stay
    FROM followed
),
stays AS (
    SELECT capture, who, stay, min(start_ns) AS start_ns,
        if(count(*) = count(closed_ns), max(closed_ns), NULL) AS end_ns
    FROM numbered GROUP BY capture, who, stay
)
SELECT *, lead(start_ns) OVER (PARTITION BY capture, who ORDER BY stay) AS next_ns FROM stays
"""

_STATES: Final = """
WITH numbered AS (
    SELECT *, max(sn) OVER so_far AS newest_sn
    FROM {events}
    WINDOW so_far AS (PARTITION BY capture, told_by_zid, zid, session
        ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
states AS (
    -- A state older than an earlier one is ignored; one without links announces nothing.
    SELECT *, dense_rank() OVER (PARTITION BY capture, told_by_zid, zid ORDER BY seq) AS state
    FROM numbered
    WHERE has_links AND coalesce(sn >= newest_sn, true)
)
SELECT *, min(time_ns) OVER (PARTITION BY capture, told_by_zid, zid
    ORDER BY state RANGE BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_ns
FROM states
"""

_EDGES: Final = f"""
WITH edges AS (
    SELECT states.*, teller.stay AS teller_stay, teller.end_ns AS teller_end_ns,
        pair.stay AS pair_stay, if(pair.end_ns > time_ns, pair.end_ns, NULL) AS pair_end_ns
    FROM {{states}} AS states
    LEFT JOIN {{stays}} AS teller
        ON states.capture = teller.capture AND told_by_zid = teller.who
        AND time_ns >= teller.start_ns AND time_ns < coalesce(teller.next_ns, {_NEVER})
    LEFT JOIN {{stays}} AS pair
        ON states.capture = pair.capture
        AND {_PAIR.format(one="zid", other="neighbour_zid")} = pair.who
        AND time_ns >= pair.start_ns AND time_ns < coalesce(pair.next_ns, {_NEVER})
    WHERE neighbour_zid IS NOT NULL
),
numbered AS (
    -- Both grow by one from state to state, as long as the edge is announced.
    SELECT *, state - dense_rank() OVER (
        PARTITION BY capture, told_by_zid, zid, neighbour_zid, weight, teller_stay, pair_stay
        ORDER BY state) AS lifetime
    FROM edges
),
lifetimes AS (
    -- Structs compare by their first field, which is the order of events.
    SELECT capture, told_by_zid, zid, neighbour_zid, weight,
        min(struct(seq, time_ns AS from_ns, session, link, packet, pair_end_ns)) AS first,
        max(struct(seq, next_ns, teller_end_ns)) AS last
    FROM numbered
    GROUP BY capture, told_by_zid, zid, neighbour_zid, weight, teller_stay, pair_stay, lifetime
)
SELECT capture, told_by_zid, zid, neighbour_zid, weight, first.*,
    nullif(least(coalesce(last.next_ns, {_NEVER}), coalesce(first.pair_end_ns, {_NEVER}),
        -- A state that crossed the other side's CLOSE ends as it begins.
        greatest(coalesce(last.teller_end_ns, {_NEVER}), first.from_ns)), {_NEVER}) AS to_ns
FROM lifetimes
"""


def build(edge_events: DataFrame, sessions: DataFrame) -> DataFrame:
    """From the staged entries of link states, and the published sessions of their senders."""
    stays = query(_STAYS, sessions=sessions)
    states = query(_STATES, events=edge_events)
    return conform(query(_EDGES, states=states, stays=stays), TABLES["adjacencies"])
