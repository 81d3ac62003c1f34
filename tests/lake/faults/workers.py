"""The Python worker processes of Spark, found among the descendants of a driver."""

from __future__ import annotations

import os
from pathlib import Path

_DAEMONS = (b"pyspark.daemon", b"zenlake.lake.spark_daemon")
"""On a cluster, and on this machine."""


def _parents() -> dict[int, int]:
    """The parent of each process; processes that ended meanwhile are omitted."""
    found = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                # The name in brackets may contain any characters.
                stat = (place / "stat").read_text()
                found[int(place.name)] = int(stat.rpartition(")")[2].split()[1])
            except OSError:
                continue
    return found


def _is_daemon(process: int) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
    return any(name in command for name in _DAEMONS)


def workers(driver: int) -> list[int]:
    """Children of the daemon, which forks one for each task, without the daemon itself."""
    parents = _parents()

    def is_descendant(process: int) -> bool:
        while process and process != driver:
            process = parents.get(process, 0)
        return process == driver

    return [
        process
        for process, parent in parents.items()
        if _is_daemon(process) and _is_daemon(parent) and is_descendant(process)
    ]


def kill_workers(driver: int, signal: int) -> int:
    """Sends a signal to all workers; returns their number."""
    killed = 0
    for process in workers(driver):
        try:
            os.kill(process, signal)
            killed += 1
        except ProcessLookupError:
            continue
    return killed
