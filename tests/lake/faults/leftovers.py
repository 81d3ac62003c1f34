"""Files that a finished run should have removed."""

from __future__ import annotations

from pathlib import Path


def leftovers(lake: Path) -> list[str]:
    """Staged files, and files of no version."""
    staged = [f"_staging/{name.name}" for name in lake.glob("_staging/*")]
    found = []
    for file in lake.glob("*/*.parquet"):
        logs = file.parent.glob("_delta_log/*.json")
        if not any(file.name in log.read_text() for log in logs):
            found.append(f"{file.parent.name}/{file.name}")
    return staged + found
