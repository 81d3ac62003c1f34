"""Rows of the table `captures`: facts about a whole file."""

from __future__ import annotations

import time
from typing import Any

from zenlake.lake.exact_reader.row_tables import bounded
from zenlake.lake.jobs import Result
from zenlake.lake.measures import undecoded_text
from zenlake.lake.schema import TABLES
from zenlake.lake.schema.timestamps import with_timestamps_of


def capture_row(capture: Result, parts: list[Result]) -> dict[str, Any]:
    """Adds up the facts of the splits of one capture; those of the survey are of the whole file."""
    facts = [part["trace"] for part in parts]
    skipped: dict[str, list[int]] = {}
    undecoded: dict[str, int] = {}
    for fact in facts:
        for why, (count, size) in fact["skipped"].items():
            known = skipped.setdefault(why, [0, 0])
            known[0] += count
            known[1] += size
        for state, size in fact["undecoded"].items():
            undecoded[state] = undecoded.get(state, 0) + size
    whole = capture.get("whole") or facts[0]
    is_damaged = any(fact["is_damaged"] for fact in facts)
    row = {
        "capture": capture["path"],
        "sha256": capture["sha256"],
        "packets": whole["packets"],
        "first_ns": bounded(whole["first_ns"]),
        "last_ns": bounded(whole["last_ns"]),
        "read_ns": time.time_ns(),
        "skipped": "; ".join(f"{why}: {n} x, {size} bytes" for why, (n, size) in skipped.items())
        or None,
        "undecoded": undecoded_text(undecoded),
        "bytes": capture["size"],
        "error": "damaged, read as far as possible" if is_damaged else None,
    }
    return with_timestamps_of(row, TABLES["captures"])
