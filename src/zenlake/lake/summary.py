"""Summary of captures that were just read, for the end of `zenlake pipeline`.

Each part is a query of the tables on DuckDB, which users can run themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from zenlake.lake.measures import FAILED, FIRST_HOP, VIOLATIONS, recorded_ns
from zenlake.lake.publish import Snapshot
from zenlake.lake.sql import on_duckdb

ROWS_SHOWN_MAX: Final = 6
_RATE_ROWS_MIN: Final = 10
"""Fewer samples give no meaningful rate."""

_QUESTIONS: Final = {
    "captures": """
        SELECT count(*) AS files, sum(bytes) AS bytes, sum(packets) AS packets,
               min(first_ns) AS first_ns
        FROM captures q WHERE {chosen}""",
    "recorded": """
        SELECT first_ns, last_ns FROM captures q
        WHERE {chosen} AND first_ns IS NOT NULL AND last_ns IS NOT NULL""",
    "messages": "SELECT count(*) AS messages FROM messages q WHERE {chosen}",
    "problems": """
        SELECT capture, skipped, undecoded, error FROM captures q
        WHERE {chosen} AND (undecoded IS NOT NULL OR error IS NOT NULL)
        ORDER BY capture""",
    "nodes": """
        SELECT coalesce(role, 'unknown') AS role, count(DISTINCT zid) AS nodes
        FROM nodes q WHERE {chosen} GROUP BY 1 ORDER BY 2 DESC, 1""",
    "sessions": """
        SELECT outcome, count(*) AS sessions FROM sessions q
        WHERE {chosen} GROUP BY 1 ORDER BY 2 DESC, 1""",
    "bad_sessions": """
        SELECT capture, session, outcome, close_reason, step, reason, opener_zid, acceptor_zid,
               (closed_ns - coalesce(opened_ns, time_ns)) / 1e9 AS seconds
        FROM sessions q WHERE {chosen} AND outcome IN ('refused', 'lost')
        ORDER BY capture, time_ns LIMIT {limit}""",
    "keys": """
        SELECT key, count(*) AS samples, sum(payload_size) AS bytes,
               CASE WHEN count(*) >= {rate_rows}
                   THEN count(*) / nullif((max(time_ns) - min(time_ns)) / 1e9, 0) END AS rate
        FROM samples q WHERE {chosen} AND key IS NOT NULL AND ignored IS NULL
        GROUP BY key ORDER BY samples DESC, key LIMIT {limit}""",
    "verdicts": f"""
        SELECT verdict, count(*) AS queries, median(first_reply_ms) AS first_reply_ms
        FROM queries q WHERE {{chosen}} AND {FIRST_HOP}
        GROUP BY 1 ORDER BY 2 DESC, 1""",
    "failed": f"""
        SELECT capture, packet, key, parameters, verdict, reason FROM queries q
        WHERE {{chosen}} AND {FIRST_HOP} AND {FAILED}
        ORDER BY verdict = 'empty', verdict = 'error', verdict, capture, seq LIMIT {{limit}}""",
    "slow": f"""
        SELECT capture, packet, key, parameters, first_reply_ms, final_ms FROM queries q
        WHERE {{chosen}} AND {FIRST_HOP} AND verdict = 'answered'
        ORDER BY coalesce(final_ms, first_reply_ms) DESC, seq LIMIT {{limit}}""",
    "violations": """
        SELECT severity, rule, {violations} AS broken,
               first(capture ORDER BY capture, packet) AS capture,
               first(packet ORDER BY capture, packet) AS packet
        FROM violations q WHERE {chosen} AND severity <> 'note'
        GROUP BY 1, 2 ORDER BY severity, broken DESC, rule LIMIT {limit}""",
    "severities": """
        SELECT severity, {violations} AS broken FROM violations q
        WHERE {chosen} GROUP BY 1 ORDER BY severity = 'note', severity""",
    "losses": """
        SELECT capture, kind, count(*) AS times, sum("count") AS missing, sum(bytes) AS bytes,
               min(packet) AS packet
        FROM losses q WHERE {chosen} GROUP BY 1, 2 ORDER BY 1, 2 LIMIT {limit}""",
}


class Summary(NamedTuple):
    """The results of the queries, each a list of rows by column."""

    answers: dict[str, list[dict[str, Any]]]

    def one(self, name: str) -> dict[str, Any]:
        return self.answers[name][0]

    @property
    def recorded_seconds(self) -> float:
        spans = [(row["first_ns"], row["last_ns"]) for row in self.answers["recorded"]]
        return recorded_ns(spans) / 1e9


def summarise(snapshot: Snapshot, captures: list[str]) -> Summary:
    """Runs all queries for these captures."""
    listed = ", ".join(map(on_duckdb.quoted, captures))
    chosen = f"q.capture IN ({listed or 'NULL'})"
    found = {}
    for name, text in _QUESTIONS.items():
        question = text.format(
            chosen=chosen,
            limit=ROWS_SHOWN_MAX,
            rate_rows=_RATE_ROWS_MIN,
            violations=VIOLATIONS,
        )
        with on_duckdb.query(snapshot, question) as result:
            rows: Iterator[tuple[Any, ...]] = result.rows
            found[name] = [dict(zip(result.columns, row, strict=True)) for row in rows]
    return Summary(found)
