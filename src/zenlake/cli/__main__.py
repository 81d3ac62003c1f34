"""The command as a process: `zenlake`, or `python -m zenlake.cli`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Final, NoReturn

from zenlake.cli.interrupts import end_on_signals, end_process

_NEED_EXIT_HANDLERS: Final = ("pyspark", "zenlake.api")
"""Modules with exit handlers: they end Java processes and the sessions of a node."""


def run() -> NoReturn:
    end_on_signals()
    from zenlake.cli.main import call

    try:
        code = call()
    except KeyboardInterrupt:
        # Immediately: Python would first free all objects, which may take seconds.
        end_process(signal.SIGINT)
    if "duckdb" in sys.modules and sys.modules.keys().isdisjoint(_NEED_EXIT_HANDLERS):
        _exit_quickly(code)
    sys.exit(code)


def _exit_quickly(code: int) -> NoReturn:
    """Exit without freeing modules and rows one by one: a tenth of the time of a small report.

    No cleanup is left: files are closed, workers have ended, and output was flushed, with an error
    message if the disk is full.
    """
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
