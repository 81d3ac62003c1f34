"""Topology: nodes, the sessions between them, and the edges of link states."""

from __future__ import annotations

from typing import Any, Final

from zenlake.report.bounds import SESSION_EDGES_MAX, SESSIONS_LISTED_MAX
from zenlake.report.commands import session_command
from zenlake.report.database import Database
from zenlake.report.names import OTHER, Names
from zenlake.report.text import cut
from zenlake.report.time_axis import TimeAxis

BAD: Final = "outcome IN ('lost', 'refused')"


def topology(database: Database, names: Names, axis: TimeAxis) -> dict[str, Any]:
    return {
        "nodes": _nodes(database, axis),
        "sessions": _edges(database, names),
        "groups": _groups(database, names),
        "adjacencies": _adjacencies(database, names),
        "outcomes": database.rows(
            "SELECT outcome, count(*) FROM chosen_sessions GROUP BY 1 ORDER BY 2 DESC, 1"
        ),
        "bad": _bad(database, names, axis),
        "badInAll": database.count(f"chosen_sessions WHERE {BAD}"),
    }


def _nodes(database: Database, axis: TimeAxis) -> list[list[Any]]:
    rows = database.rows("""
        SELECT i.id, any_value(n.locators), min(n.first_ns), max(n.last_ns)
        FROM chosen_nodes n JOIN node_ids i ON i.zid = n.zid GROUP BY i.id ORDER BY i.id""")
    return [
        [number, cut(locators), axis.ms(first), axis.ms(last)]
        for number, locators, first, last in rows
    ]


def _edges(database: Database, names: Names) -> list[list[Any]]:
    rows = database.rows(f"""
        SELECT opener_zid, acceptor_zid, count(*), count(*) FILTER ({BAD})
        FROM chosen_sessions WHERE members IS NULL GROUP BY ALL ORDER BY 3 DESC, 1, 2""")
    found = []
    for opener, acceptor, number, bad in rows:
        ends = [names.ranked_node(opener), names.ranked_node(acceptor)]
        if min(ends) > OTHER:
            found.append([*ends, number, bad])
    return found[:SESSION_EDGES_MAX]


def _groups(database: Database, names: Names) -> list[list[int]]:
    """The members of each multicast group that are listed."""
    rows = database.rows(
        "SELECT members FROM chosen_sessions WHERE members IS NOT NULL ORDER BY time_ns"
    )
    groups = []
    for (members,) in rows[:SESSIONS_LISTED_MAX]:
        listed = [number for zid in members.split() if (number := names.ranked_node(zid)) > OTHER]
        if listed:
            groups.append(listed)
    return groups


def _adjacencies(database: Database, names: Names) -> list[list[Any]]:
    rows = database.rows("""
        SELECT zid, neighbour_zid, bool_or(to_ns IS NULL), max(weight)
        FROM chosen_adjacencies GROUP BY ALL ORDER BY ALL""")
    found: dict[tuple[int, int], list[Any]] = {}
    for zid, neighbour, lasts, weight in rows:
        ends = sorted((names.ranked_node(zid), names.ranked_node(neighbour)))
        if ends[0] > OTHER:
            found.setdefault((ends[0], ends[1]), [*ends, lasts, weight])
    return list(found.values())[:SESSION_EDGES_MAX]


def _bad(database: Database, names: Names, axis: TimeAxis) -> list[dict[str, Any]]:
    rows = database.records(f"""
        SELECT capture, session, outcome, step, coalesce(reason, close_reason) AS reason,
               coalesce(cause, outcome) AS cause,
               opener_zid, acceptor_zid, time_ns, end_packet,
               (closed_ns - coalesce(opened_ns, time_ns)) / 1e9 AS seconds
        FROM chosen_sessions WHERE {BAD}
        ORDER BY outcome DESC, capture, time_ns LIMIT {SESSIONS_LISTED_MAX}""")
    return [
        {
            "capture": names.capture(row["capture"]),
            "session": cut(row["session"]),
            "outcome": row["outcome"],
            "cause": row["cause"],
            "step": row["step"] if row["outcome"] == "refused" else None,
            "reason": cut(row["reason"]),
            "packet": row["end_packet"],
            "from": names.node(row["opener_zid"]),
            "to": names.node(row["acceptor_zid"]),
            "at": axis.ms(row["time_ns"]),
            "seconds": row["seconds"],
            "command": session_command(row["capture"], row["session"]),
        }
        for row in rows
    ]
