"""Queries: durations and verdicts. Each query counts once, on its first link."""

from __future__ import annotations

from typing import Any, Final

from zenlake.lake.measures import FIRST_HOP, OUTCOME
from zenlake.report.bounds import KEYS_MAX, QUERY_CELLS_MAX, QUERY_KEYS_MAX
from zenlake.report.database import Database
from zenlake.report.names import NONE, OTHER, Names
from zenlake.semantics.verdicts import OUTCOMES

_NUMBERS: Final = {outcome: number for number, outcome in enumerate(OUTCOMES)}
_BINS_A_DECADE: Final = 8
_DECADES: Final = 8
_FIRST_MS: Final = 0.001


def queries(database: Database, names: Names) -> dict[str, Any]:
    first, final = _bin_sql("q.first_reply_ms"), _bin_sql("q.final_ms")
    rows = database.rows(f"""
        SELECT q.key, q.requester_zid, q.responder_zid, {OUTCOME}, {first}, {final}, count(*)
        FROM chosen_queries q WHERE {FIRST_HOP} GROUP BY ALL ORDER BY 7 DESC, 1, 2, 3, 4, 5, 6""")
    cells: dict[tuple[int, ...], int] = {}
    keys_max = KEYS_MAX + QUERY_KEYS_MAX
    for key, requester, responder, outcome, first_bin, final_bin, number in rows:
        cell = (
            names.key_among(key, keys_max),
            names.ranked_node(requester),
            names.ranked_node(responder),
            _NUMBERS.get(outcome, OTHER),
            NONE if first_bin is None else first_bin,
            NONE if final_bin is None else final_bin,
        )
        if cell not in cells and len(cells) >= QUERY_CELLS_MAX:
            cell = (OTHER, OTHER, OTHER, *cell[3:])
        cells[cell] = cells.get(cell, 0) + number
    return {
        "verdicts": [
            {"name": name, "label": outcome.label, "severity": outcome.severity}
            for name, outcome in OUTCOMES.items()
        ],
        "firstMs": _FIRST_MS,
        "binsADecade": _BINS_A_DECADE,
        "bins": _BINS_A_DECADE * _DECADES,
        "cells": [[*cell, number] for cell, number in cells.items()],
        "percentiles": _percentiles(database),
        "dropped": _dropped(database),
    }


def _bin_sql(column: str) -> str:
    """The bin of a logarithmic histogram."""
    place = f"floor(log10(greatest({column}, {_FIRST_MS}) / {_FIRST_MS}) * {_BINS_A_DECADE})"
    last = _BINS_A_DECADE * _DECADES - 1
    return f"CASE WHEN {column} IS NOT NULL THEN least({last}, {place})::INTEGER END"


def _percentiles(database: Database) -> list[list[float | None]]:
    """Percentiles 50, 90 and 99 of the time to the first reply and to the final."""
    shares = (0.5, 0.9, 0.99)
    asked = ", ".join(
        f"quantile_cont({column}, {share})"
        for column in ("first_reply_ms", "final_ms")
        for share in shares
    )
    row = database.one(f"SELECT {asked} FROM chosen_queries q WHERE {FIRST_HOP}")
    values = [None if value is None else round(value, 3) for value in row]
    return [values[: len(shares)], values[len(shares) :]]


def _dropped(database: Database) -> int:
    """Replies that the querier's consolidation dropped, on the first link."""
    number: int = database.one("""
        SELECT count(*) FROM chosen_replies r
        WHERE NOT r.delivered AND (r.trace_id IS NULL OR r.trace_id = r.query_seq)""")[0]
    return number
