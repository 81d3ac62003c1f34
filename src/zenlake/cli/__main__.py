"""The command as a process: `zenlake`, or `python -m zenlake.cli`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Final, NoReturn

from zenlake.cli.interrupts import end_on_signals, end_process

_TIDIED_UP_AT_EXIT: Final = ("pyspark", "zenlake.api")
"""Java processes and sessions of a node are ended when Python exits."""


def run() -> NoReturn:
    end_on_signals()
    from zenlake.cli.main import call

    try:
        code = call()
    except KeyboardInterrupt:
        # At once: Python would first free all that was read, which may take seconds.
        end_process(signal.SIGINT)
    if "duckdb" in sys.modules and sys.modules.keys().isdisjoint(_TIDIED_UP_AT_EXIT):
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """Without freeing modules and rows one by one, which takes a tenth of a small report's time.

    Nothing is left to be tidied up: files are closed, workers have ended, and output was flushed,
    where a full disk was told.
    """
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
