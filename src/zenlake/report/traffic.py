"""Traffic over time: messages and bytes by time bin, key, nodes and kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from zenlake.report.bounds import (
    CELL_LEVELS,
    CELLS_MAX,
    FINE_CELLS_MAX,
    FINE_MESSAGES_MAX,
    PARTS,
)
from zenlake.report.database import Database
from zenlake.report.names import NONE, OTHER
from zenlake.report.time_axis import TimeAxis

KINDS: Final = ("publications", "queries", "replies", "declarations", "transport", "discovery")
KIND_SQL: Final = """CASE
    WHEN kind LIKE 'PUSH/%' THEN 0
    WHEN kind = 'REQUEST' THEN 1
    WHEN kind LIKE 'RESPONSE%' THEN 2
    WHEN kind LIKE 'DECLARE/%' OR kind = 'INTEREST' THEN 3
    WHEN kind LIKE 'OAM%' OR kind IN ('SCOUT', 'HELLO') THEN 5
    ELSE 4 END"""
CARRIED: Final = "kind NOT IN ('FRAME', 'FRAGMENT')"
"""Sizes of carried messages are counted, so those of frames and fragments are not."""


def traffic(database: Database, axis: TimeAxis) -> dict[str, Any]:
    """Cells of traffic, by column, at the finest level with few enough cells.

    Keys and nodes are numbers of `key_ids` and `node_ids`, the most frequent first. `step` is the
    number of time bins in a cell, less than 1 for parts of a bin.
    """
    messages = database.count("chosen_messages")
    parts = PARTS if messages <= FINE_MESSAGES_MAX else 1
    _, keys, nodes = CELL_LEVELS[0]
    database.run(f"""
        CREATE OR REPLACE TEMP TABLE cells AS
        SELECT {axis.bin_sql("m.time_ns", parts)} AS bin,
               {_listed_number("m.key", "k.id", keys)} AS key,
               {_listed_number("m.sender_zid", "s.id", nodes)} AS sender,
               {_listed_number("m.receiver_zid", "r.id", nodes)} AS receiver,
               {KIND_SQL} AS kind, count(*) AS messages,
               coalesce(sum(size) FILTER ({CARRIED}), 0) AS bytes
        FROM chosen_messages m
        LEFT JOIN key_ids k ON k.key = m.key
        LEFT JOIN node_ids s ON s.zid = m.sender_zid
        LEFT JOIN node_ids r ON r.zid = m.receiver_zid
        GROUP BY ALL""")
    for step, keys, nodes in _levels(parts):
        _coarsen(database, step, keys, nodes)
        if database.count("coarse") <= CELLS_MAX:
            break
    columns = ("bin", "key", "sender", "receiver", "kind", "messages", "bytes")
    rows = database.rows(f"SELECT {', '.join(columns)} FROM coarse ORDER BY ALL LIMIT {CELLS_MAX}")
    cells = _by_column(columns, rows)
    return {
        "kinds": KINDS,
        "step": step / parts,
        "keysByThemselves": keys,
        "nodesByThemselves": nodes,
        "cells": cells,
        "leftOut": messages - sum(cells["messages"]),
        "fine": None if step == 1 and parts == PARTS else _fine(database, axis),
    }


def _levels(parts: int) -> Iterator[tuple[int, int, int]]:
    """Steps (in parts of time bins), keys and nodes of each level, the finest first."""
    _, keys, nodes = CELL_LEVELS[0]
    for step in (1, 4, 16):
        if step < parts:
            yield step, keys, nodes
    for step, keys, nodes in CELL_LEVELS:
        yield step * parts, keys, nodes


def _fine(database: Database, axis: TimeAxis) -> dict[str, Any] | None:
    """Cells by kind only, in the smallest parts with few enough cells; None if there are none."""
    database.run(f"""
        CREATE OR REPLACE TEMP TABLE fine AS
        SELECT {axis.bin_sql("time_ns", PARTS)} AS bin, {KIND_SQL} AS kind, count(*) AS messages,
               coalesce(sum(size) FILTER ({CARRIED}), 0) AS bytes
        FROM chosen_messages GROUP BY ALL""")
    columns = ("bin", "kind", "messages", "bytes")
    for step in (1, 2, 4, 8, 16, 32):
        rows = database.rows(f"""
            SELECT bin // {step} AS bin, kind, sum(messages)::BIGINT, sum(bytes)::BIGINT
            FROM fine GROUP BY ALL ORDER BY ALL LIMIT {FINE_CELLS_MAX + 1}""")
        if len(rows) <= FINE_CELLS_MAX:
            return {"step": step / PARTS, "cells": _by_column(columns, rows)}
    return None


def _by_column(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> dict[str, list[int]]:
    listed = zip(*rows, strict=True) if rows else [()] * len(columns)
    return {name: list(map(int, values)) for name, values in zip(columns, listed, strict=True)}


def _coarsen(database: Database, step: int, keys: int, nodes: int) -> None:
    database.run(f"""
        CREATE OR REPLACE TEMP TABLE coarse AS
        SELECT bin // {step} AS bin, kind,
               CASE WHEN key < {keys} THEN key ELSE {OTHER} END AS key,
               CASE WHEN sender < {nodes} THEN sender ELSE {OTHER} END AS sender,
               CASE WHEN receiver < {nodes} THEN receiver ELSE {OTHER} END AS receiver,
               sum(messages)::BIGINT AS messages, sum(bytes)::BIGINT AS bytes
        FROM cells GROUP BY ALL""")


def _listed_number(column: str, number: str, listed_max: int) -> str:
    return f"""CASE WHEN {column} IS NULL THEN {NONE}
        WHEN {number} < {listed_max} THEN {number} ELSE {OTHER} END"""
