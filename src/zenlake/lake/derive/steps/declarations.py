"""Declarations: the lifetime of each key number, subscriber, queryable and token.

A lifetime begins with D_x from one side to the other, and ends with U_x or the session. A repeated
declaration belongs to the same lifetime, unless its number now has another key (behaviour reference
§3.6, §9). Window functions pass over all events about one identity in order, so that the last event
of a lifetime has all facts about it and becomes its row in the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zenlake.lake.derive.steps.conform import conform, query
from zenlake.lake.derive.steps.exchanges import PLACE
from zenlake.lake.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Windows get few columns, most of them numbers: those are sorted fastest.
_IDENTITY: Final = "scope, identity, is_answer"
_BEFORE: Final = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
_SO_FAR: Final = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

# Columns that windows do not need stay with the events, and are joined by `place` and `seq`.
_NARROW: Final = f"""
SELECT xxhash64(capture, session, owner, entity) AS scope, entity_id,
    xxhash64(identity) AS identity, xxhash64(key_identity) AS key_identity, is_answer, is_end,
    seq, time_ns, key, struct(complete, distance) AS details, {PLACE} AS place
FROM {{events}}
"""

# An undeclaration whose number is not declared may mean one without a number, by its key.
_FOUND: Final = f"""
SELECT * EXCEPT (identity, key_identity, entity_id),
    CASE WHEN is_end AND entity_id <> 0 AND key IS NOT NULL
            AND coalesce(lag(is_end) OVER of_number, true)
        THEN key_identity ELSE identity END AS identity
FROM {{events}}
WINDOW of_number AS (PARTITION BY {_IDENTITY} ORDER BY seq)
"""

# `first` has facts of the first event of a lifetime, `known` and `latest` those of later ones. An
# answer to a liveliness get is a lifetime of one event without an end
# (`zenlake.trace.interest_answers`).
_LIFETIMES: Final = f"""
WITH compared AS (
    SELECT *,
        lag(is_end) OVER of_identity AS was_end,
        -- After an end earlier keys do not count.
        last(CASE WHEN is_end OR key IS NOT NULL THEN struct(is_end, key) END, true)
            OVER before AS known,
        count_if(NOT is_end) OVER so_far AS declared_so_far
    FROM {{events}}
    WINDOW
        of_identity AS (PARTITION BY {_IDENTITY} ORDER BY seq),
        before AS (PARTITION BY {_IDENTITY} ORDER BY seq {_BEFORE}),
        so_far AS (PARTITION BY {_IDENTITY} ORDER BY seq {_SO_FAR})
),
begun AS (
    SELECT * EXCEPT (known), is_answer OR coalesce(was_end, true)
        OR coalesce(NOT is_end AND NOT known.is_end AND known.key <> key, false) AS begins
    FROM compared
),
walked AS (
    SELECT is_answer, is_end, key, time_ns AS last_ns, declared_so_far,
        lead(begins) OVER of_identity AS is_next_another,
        last(CASE WHEN begins THEN struct(place, seq, time_ns, is_end, declared_so_far) END, true)
            OVER so_far AS first,
        last(CASE WHEN begins OR (NOT is_end AND key IS NOT NULL) THEN struct(key) END, true)
            OVER so_far AS known,
        last(CASE WHEN begins OR NOT is_end THEN details END, true) OVER so_far AS latest
    FROM begun
    WINDOW
        of_identity AS (PARTITION BY {_IDENTITY} ORDER BY seq),
        so_far AS (PARTITION BY {_IDENTITY} ORDER BY seq {_SO_FAR})
)
SELECT first.place, first.seq AS first_seq,
    -- Some undeclarations have a key, which helps if no declaration had one.
    coalesce(known.key, key) AS key,
    CASE WHEN NOT first.is_end THEN first.time_ns END AS declared_ns,
    CASE WHEN is_end THEN last_ns END AS undeclared_ns,
    CASE WHEN is_end THEN 'undeclare' END AS ended_by,
    NOT is_answer AND NOT is_end AND is_next_another IS NULL AS is_alive,
    latest.complete,
    latest.distance,
    if(first.is_end, 0, declared_so_far - first.declared_so_far + 1) AS told
FROM walked
WHERE coalesce(is_next_another, true)
"""

_ENDED: Final = """
SELECT events.* EXCEPT (key, complete, distance),
    lifetimes.* EXCEPT (place, first_seq, undeclared_ns, ended_by),
    -- A declaration that crossed the other side's CLOSE ends as it begins.
    if(is_alive AND closed_ns IS NOT NULL, greatest(closed_ns, declared_ns), undeclared_ns)
        AS undeclared_ns,
    if(is_alive AND closed_ns IS NOT NULL, 'session', ended_by) AS ended_by
FROM {events} AS events
JOIN {lifetimes} AS lifetimes
    ON events.seq = lifetimes.first_seq AND xxhash64(events.capture, events.link) = lifetimes.place
LEFT JOIN {sessions} AS sessions
    ON events.capture = sessions.capture AND events.session = sessions.session
"""


def identified(declare_events: DataFrame) -> DataFrame:
    """Events with the hashes of what they are about: `scope` and `identity`."""
    # All windows are within this column: after this repartition none needs a shuffle.
    narrow = query(_NARROW, events=declare_events)
    narrow = narrow.repartition("scope")
    return query(_FOUND, events=narrow)


def build(declare_events: DataFrame, sessions: DataFrame) -> DataFrame:
    """From the staged events; the published sessions end what was not undeclared."""
    lifetimes = query(_LIFETIMES, events=identified(declare_events))
    ends = sessions.select("capture", "session", "closed_ns")
    found = query(_ENDED, events=declare_events, lifetimes=lifetimes, sessions=ends)
    return conform(found, TABLES["declarations"])
