"""Losses: bytes and messages that were sent and are not in the captures."""

from __future__ import annotations

from typing import Any, Final

from zenlake.report.bounds import LOSS_CELLS_MAX, LOSSES_MAX, PARTS
from zenlake.report.commands import around_command
from zenlake.report.database import Database
from zenlake.report.names import Names
from zenlake.report.text import cut
from zenlake.report.time_axis import TimeAxis

KINDS: Final = ("sn_gap", "tcp_gap", "fragment", "truncated", "resync")


def losses(database: Database, names: Names, axis: TimeAxis) -> dict[str, Any]:
    times = database.count("chosen_losses")
    parts, cells = _cells(database, axis)
    groups = database.records(f"""
        SELECT capture, kind, link, sender_zid, receiver_zid, reliability, priority, cause,
               count(*) AS times, sum("count")::BIGINT AS missing, sum(bytes)::BIGINT AS bytes,
               min(packet) AS packet, min(time_ns) AS first_ns
        FROM chosen_losses
        GROUP BY capture, kind, link, sender_zid, receiver_zid, reliability, priority, cause
        ORDER BY kind = 'truncated', times DESC, capture, packet, link LIMIT {LOSSES_MAX}""")
    return {
        "kinds": KINDS,
        "times": times,
        "leftOut": times - sum(row["times"] for row in groups),
        "step": 1 / parts,
        "cells": [
            [
                place,
                KINDS.index(kind),
                names.ranked_node(sender),
                names.ranked_node(receiver),
                number,
            ]
            for place, kind, sender, receiver, number in cells
            if kind in KINDS
        ],
        "groups": [_group(row, names, axis) for row in groups],
    }


def _cells(database: Database, axis: TimeAxis) -> tuple[int, list[tuple[Any, ...]]]:
    """Parts per time bin, and losses by these parts; 1 part if the cells would be too many."""
    for parts in (PARTS, 1):
        cells = database.rows(f"""
            SELECT {axis.bin_sql("time_ns", parts)} AS bin, kind, sender_zid, receiver_zid, count(*)
            FROM chosen_losses GROUP BY ALL ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT {LOSS_CELLS_MAX}""")
        if len(cells) < LOSS_CELLS_MAX:
            break
    return parts, cells


def _group(row: dict[str, Any], names: Names, axis: TimeAxis) -> dict[str, Any]:
    return {
        "capture": names.capture(row["capture"]),
        "kind": row["kind"],
        "link": cut(row["link"]),
        "from": names.node(row["sender_zid"]),
        "to": names.node(row["receiver_zid"]),
        "reliability": row["reliability"],
        "priority": row["priority"],
        "cause": cut(row["cause"]),
        "times": row["times"],
        "missing": row["missing"],
        "bytes": row["bytes"],
        "packet": row["packet"],
        "at": axis.ms(row["first_ns"]),
        "command": around_command(row["capture"], row["link"], row["packet"]),
    }
