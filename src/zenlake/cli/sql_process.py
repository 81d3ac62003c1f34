"""The process in which `zenlake sql` runs a statement on DuckDB."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def bounded(work: Callable[[], int], args: argparse.Namespace) -> int:
    """Run `work` in a child process with bounded memory, and return its result.

    `work` runs in this process if the command was called as a function, because the caller may
    have threads and limits, and on Spark, whose Java process has its own limit.
    """
    if args.master is not None or not args.is_own_process:
        return work()
    from zenlake.lake.sql.bounded_process import run_bounded

    return run_bounded(work, args.memory << 20)
