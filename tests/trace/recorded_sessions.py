"""Captures of sessions that were refused or lost, and their nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from zenlake.lake.exact_reader.exact_tables import stage

DATA = Path(__file__).parents[1] / "data" / "sessions"
TRUTH: dict[str, dict[str, Any]] = json.loads((DATA / "truth.json").read_text())


def path_of(name: str) -> str:
    return str(DATA / f"{name}.pcapng.gz")


def sessions_of(name: str) -> list[dict[str, Any]]:
    """Rows of `sessions`, in the order in which the sessions began."""
    rows: list[dict[str, Any]] = stage(path_of(name), name)["sessions"].to_pylist()
    return sorted(rows, key=lambda row: (row["time_ns"], row["session"]))
