"""Keys: the publications, queries and replies of each key, for the tree."""

from __future__ import annotations

from typing import Any, Final

from zenlake.report.bounds import FIRST_CHUNKS_MAX, KEY_CELLS_MAX, KEYS_MAX
from zenlake.report.database import Database
from zenlake.report.names import OTHER, Names
from zenlake.report.text import cut
from zenlake.report.time_axis import TimeAxis

_DATA: Final = "(kind LIKE 'PUSH/%' OR kind = 'REQUEST' OR kind LIKE 'RESPONSE/%')"


def rank_keys(database: Database, names: Names) -> None:
    """Numbers the keys with the most bytes and messages; called before all sections."""
    database.run(f"""
        CREATE TEMP TABLE key_totals AS
        SELECT key, count(*) AS messages, sum(size) AS bytes,
               min(time_ns) AS first_ns, max(time_ns) AS last_ns
        FROM chosen_messages WHERE key IS NOT NULL AND {_DATA} GROUP BY key""")
    ranked = database.rows(f"""
        SELECT key FROM (
            SELECT key, least(rank() OVER (ORDER BY bytes DESC, key),
                              rank() OVER (ORDER BY messages DESC, key)) AS place
            FROM key_totals)
        ORDER BY place, key LIMIT {KEYS_MAX}""")
    listed = [(key, names.key(key)) for (key,) in ranked]
    database.keep("key_ids", "key VARCHAR, id INTEGER", listed)


def keys(database: Database, axis: TimeAxis) -> dict[str, Any]:
    """Totals of each listed key, by sender and receiver, and of other keys by first chunk."""
    totals = database.rows("""
        SELECT k.id, messages, bytes, first_ns, last_ns
        FROM key_totals t JOIN key_ids k USING (key) ORDER BY k.id""")
    cells = database.rows(f"""
        SELECT k.id, coalesce(s.id, {OTHER}), coalesce(r.id, {OTHER}), count(*), sum(size)::BIGINT
        FROM chosen_messages m
        JOIN key_ids k ON k.key = m.key
        LEFT JOIN node_ids s ON s.zid = m.sender_zid
        LEFT JOIN node_ids r ON r.zid = m.receiver_zid
        WHERE {_DATA} GROUP BY ALL ORDER BY 4 DESC, 1, 2, 3 LIMIT {KEY_CELLS_MAX}""")
    others = database.rows("""
        SELECT split_part(key, '/', 1), count(*), sum(messages)::BIGINT, sum(bytes)::BIGINT
        FROM key_totals WHERE key NOT IN (SELECT key FROM key_ids)
        GROUP BY 1 ORDER BY 4 DESC, 1""")
    rest = others[FIRST_CHUNKS_MAX:]
    return {
        "totals": [
            [number, messages, int(size or 0), axis.ms(first), axis.ms(last)]
            for number, messages, size, first, last in totals
        ],
        "cells": [list(row) for row in cells],
        "others": [[cut(row[0]), *row[1:]] for row in others[:FIRST_CHUNKS_MAX]],
        "rest": [len(rest), *(sum(row[place] for row in rest) for place in (1, 2, 3))],
        "inAll": database.count("key_totals"),
    }
