"""Declarations over time: how many were alive, and single ones with their problems."""

from __future__ import annotations

from typing import Any, Final

from zenlake.report.bounds import LIVES_MAX
from zenlake.report.commands import life_command
from zenlake.report.database import Database
from zenlake.report.names import Names
from zenlake.report.time_axis import TimeAxis

ENTITIES: Final = ("token", "subscriber", "queryable")
_GHOST_NS: Final = 1_000_000_000
"""A token that outlives its source by more than this is a ghost."""
_ANSWER: Final = """coalesce(d.is_answer, d.entity_id = 0 AND d.interest_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM interests i WHERE i.capture = d.capture AND i.session = d.session
    AND i.interest_id = d.interest_id AND i.mode = 'current'))"""
"""An answer to a query for current tokens: valid for that moment, never undeclared.

Lakes of schema 2 do not have the column.
"""

_LIVES: Final = f"""
    CREATE TEMP TABLE lives AS
    WITH lives AS (
        SELECT d.capture, d.packet, d.sender_zid, d.receiver_zid, d.entity, d.entity_id, d.key,
               d.told, d.ended_by, d.seq, d.session, d.link, d.node_id,
               d.declared_ns IS NOT NULL AS seen_start,
               coalesce(d.declared_ns, d.undeclared_ns, d.time_ns) AS from_ns,
               coalesce(d.undeclared_ns, c.last_ns) AS to_ns
        FROM chosen_declarations d JOIN captures c ON c.capture = d.capture
        WHERE d.entity <> 'keyexpr' AND NOT {_ANSWER}),
    sources AS (
        SELECT capture, entity, key, receiver_zid, max(to_ns) AS gone_ns,
               bool_or(ended_by = 'session') AS with_session
        FROM lives WHERE key IS NOT NULL AND receiver_zid IS NOT NULL GROUP BY ALL)
    SELECT l.* EXCLUDE (node_id),
           -- Between routers, link state ends the declarations of a lost router, without U_TOKEN.
           l.entity = 'token' AND s.gone_ns IS NOT NULL AND l.to_ns - s.gone_ns > {_GHOST_NS}
               AND NOT coalesce(l.node_id > 0 AND s.with_session, false) AS is_ghost,
           coalesce(l.key IS NOT NULL AND l.from_ns < max(l.to_ns) OVER (
               PARTITION BY l.capture, l.sender_zid, l.receiver_zid, l.entity, l.key
               ORDER BY l.from_ns, l.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ), false) AS is_double
    FROM lives l LEFT JOIN sources s ON s.capture = l.capture AND s.entity = l.entity
        AND s.key = l.key AND s.receiver_zid = l.sender_zid"""


def declarations(database: Database, names: Names, axis: TimeAxis) -> dict[str, Any]:
    database.run(_LIVES)
    rows = database.records(f"""
        SELECT entity, key, sender_zid, receiver_zid, entity_id, from_ns, to_ns, seen_start,
               ended_by, told, is_ghost, is_double, capture, packet, link
        FROM lives
        ORDER BY is_ghost DESC, (is_double AND entity = 'token') DESC, entity <> 'token',
                 is_double DESC, to_ns - from_ns DESC, capture, seq LIMIT {LIVES_MAX}""")
    flags = database.one("""
        SELECT count(*), count(*) FILTER (is_ghost),
               count(*) FILTER (is_double AND entity = 'token'),
               count(*) FILTER (ended_by = 'session' AND entity = 'token')
        FROM lives""")
    return {
        "entities": ENTITIES,
        "alive": _alive(database, axis),
        "lives": [_life(row, names, axis) for row in rows],
        "inAll": flags[0],
        "ghosts": flags[1],
        "doubles": flags[2],
        "endedWithSession": flags[3],
    }


def _alive(database: Database, axis: TimeAxis) -> list[list[int]]:
    """The number of declarations alive in each time bin, by kind."""
    found = [[0] * (axis.bins + 1) for _ in ENTITIES]
    begun, ended = axis.bin_sql("from_ns"), axis.bin_sql("to_ns")
    rows = database.rows(f"SELECT entity, {begun}, {ended}, count(*) FROM lives GROUP BY ALL")
    for entity, first, last, number in rows:
        if entity in ENTITIES:
            changes = found[ENTITIES.index(entity)]
            changes[first] += number
            changes[last + 1] -= number
    for changes in found:
        alive = 0
        for place, change in enumerate(changes):
            alive += change
            changes[place] = alive
        changes.pop()
    return found


def _life(row: dict[str, Any], names: Names, axis: TimeAxis) -> dict[str, Any]:
    return {
        "entity": row["entity"],
        "key": names.key(row["key"]),
        "from": names.node(row["sender_zid"]),
        "to": names.node(row["receiver_zid"]),
        "id": row["entity_id"],
        "begin": axis.ms(row["from_ns"]),
        "end": axis.ms(row["to_ns"]),
        "seenStart": row["seen_start"],
        "endedBy": row["ended_by"],
        "timesDeclared": row["told"],
        "ghost": bool(row["is_ghost"]),
        "double": row["is_double"],
        "capture": names.capture(row["capture"]),
        "packet": row["packet"],
        "command": life_command(row["capture"], row),
    }
