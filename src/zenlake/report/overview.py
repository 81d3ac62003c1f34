"""Overview: the figures at the top, and the captures of the page."""

from __future__ import annotations

from typing import Any

from zenlake.lake.measures import FIRST_HOP, undecoded_sizes
from zenlake.report.bounds import CAPTURES_LISTED_MAX
from zenlake.report.database import Database
from zenlake.report.names import Names
from zenlake.report.text import cut
from zenlake.report.time_axis import TimeAxis
from zenlake.report.traffic import CARRIED


def overview(database: Database, names: Names, axis: TimeAxis) -> dict[str, Any]:
    messages, size = database.one(f"""
        SELECT count(*), coalesce(sum(size) FILTER ({CARRIED}), 0)::BIGINT
        FROM chosen_messages""")
    asked, answered = database.one(f"""
        SELECT count(*), count(*) FILTER (verdict = 'answered')
        FROM chosen_queries q WHERE {FIRST_HOP}""")
    return {
        "messages": messages,
        "bytes": size,
        "seconds": axis.seconds,
        "nodes": names.nodes_in_all,
        "sessions": database.count("chosen_sessions"),
        "queries": asked,
        "answered": answered,
        "undecoded": undecoded(database),
        **_captures(database, names, axis),
    }


def undecoded(database: Database) -> list[list[Any]]:
    """Bytes that were not decoded, by state, and the number of captures."""
    sums: dict[str, list[Any]] = {}
    for (text,) in database.rows("SELECT undecoded FROM chosen_captures ORDER BY capture"):
        for state, size in undecoded_sizes(text).items():
            known = sums.setdefault(state, [state, 0, 0])
            known[1] += size
            known[2] += 1
    return sorted(sums.values(), key=lambda one: (-one[1], one[0]))


def _captures(database: Database, names: Names, axis: TimeAxis) -> dict[str, Any]:
    rows = database.records("""
        SELECT capture, packets, bytes, first_ns, last_ns, error, undecoded, skipped
        FROM chosen_captures ORDER BY error IS NULL, first_ns, capture""")
    listed = [
        {
            "path": cut(row["capture"]),
            "number": names.capture(row["capture"]),
            "packets": row["packets"],
            "bytes": row["bytes"],
            "begin": axis.ms(row["first_ns"]),
            "end": axis.ms(row["last_ns"]),
            "error": cut(row["error"]),
            "undecoded": cut(row["undecoded"]),
            "skipped": cut(row["skipped"]),
        }
        for row in rows[:CAPTURES_LISTED_MAX]
    ]
    return {
        "captures": listed,
        "capturesInAll": len(rows),
        "damaged": sum(row["error"] is not None for row in rows),
    }
