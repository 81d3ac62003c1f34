"""Violations: broken rules, the worst first, with examples and their bytes."""

from __future__ import annotations

from typing import Any, Final

from zenlake.lake.measures import VIOLATIONS
from zenlake.report.bounds import (
    EXPLAINED_MAX,
    VIOLATION_CELLS_MAX,
    VIOLATION_EXAMPLES_MAX,
)
from zenlake.report.commands import packet_command
from zenlake.report.database import Database
from zenlake.report.names import Names
from zenlake.report.packet_bytes import Place, explained
from zenlake.report.text import cut
from zenlake.report.time_axis import TimeAxis
from zenlake.rules import RULES
from zenlake.semantics.citations import cited

SEVERITIES: Final = ("error", "warning", "note")
_COLUMNS: Final = "rule, severity, capture, link, packet, time_ns, sender_zid, message"
"""No column of type TIMESTAMP: DuckDB would load all time zones for it."""
_RANK: Final = " ".join(f"WHEN '{word}' THEN {n}" for n, word in enumerate(SEVERITIES))
_WORST_FIRST: Final = f"CASE severity {_RANK} ELSE {len(SEVERITIES)} END"


def violations(database: Database, names: Names, axis: TimeAxis) -> dict[str, Any]:
    rules = database.rows(f"""
        SELECT rule, severity, any_value(page), {VIOLATIONS} FROM chosen_violations
        GROUP BY rule, severity ORDER BY {_WORST_FIRST}, 4 DESC, rule""")
    cells = database.rows(f"""
        SELECT rule, severity, sender_zid, {VIOLATIONS} FROM chosen_violations
        GROUP BY ALL ORDER BY 4 DESC, 1, 2, 3 LIMIT {VIOLATION_CELLS_MAX}""")
    examples = database.records(f"""
        SELECT {_COLUMNS} FROM (SELECT {_COLUMNS}, row_number() OVER (PARTITION BY rule, severity
                           ORDER BY capture, packet) AS turn FROM chosen_violations)
        ORDER BY turn, {_WORST_FIRST}, rule LIMIT {VIOLATION_EXAMPLES_MAX}""")
    places = [Place(row["capture"], row["link"], row["packet"]) for row in examples[:EXPLAINED_MAX]]
    explanations = explained(places)
    listed = []
    for number, row in enumerate(examples):
        example = _example(row, names, axis)
        if number < len(places):
            example["bytes"] = explanations[places[number]]
        listed.append(example)
    return {
        "rules": [
            [cut(rule), word, cut(page), number, *_rule_text(rule)]
            for rule, word, page, number in rules
        ],
        "cells": [
            [cut(rule), word, names.ranked_node(sender), number]
            for rule, word, sender, number in cells
        ],
        "examples": listed,
        "inAll": sum(row[3] for row in rules),
    }


def _rule_text(id: str | None) -> tuple[str | None, list[str]]:
    """The text and the sections of a rule; nothing for a rule of another version."""
    rule = RULES.get(id or "")
    if rule is None:
        return None, []
    return rule.text, [f"{one.citation}, {one.title} ({one.link})" for one in cited(rule.page)]


def _example(row: dict[str, Any], names: Names, axis: TimeAxis) -> dict[str, Any]:
    return {
        "rule": cut(row["rule"]),
        "severity": row["severity"],
        "capture": names.capture(row["capture"]),
        "link": cut(row["link"]),
        "packet": row["packet"],
        "at": axis.ms(row["time_ns"]),
        "from": names.node(row["sender_zid"]),
        "message": cut(row["message"]),
        "command": packet_command(row["capture"], row["link"], row["packet"]),
    }
