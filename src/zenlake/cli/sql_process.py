"""The process in which `zenlake sql` runs a statement on DuckDB."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def bounded(work: Callable[[], int], args: argparse.Namespace) -> int:
    """Run `work` in a child process with bounded memory, and return its result.

    Not if the command is called as a function, in a process with other threads and limits of its
    own; and not for Spark, whose Java process has its own limit.
    """
    if args.master is not None or not args.is_own_process:
        return work()
    from zenlake.lake.sql.bounded_process import run_bounded

    return run_bounded(work, args.memory << 20)
