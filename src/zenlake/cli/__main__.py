"""The command as a process: `zenlake`, or `python -m zenlake.cli`."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from zenlake.cli.interrupts import end_on_signals, end_process


def run() -> NoReturn:
    end_on_signals()
    from zenlake.cli.main import call

    try:
        code = call()
    except KeyboardInterrupt:
        # At once: Python would first free all that was read, which may take seconds.
        end_process(signal.SIGINT)
    sys.exit(code)


if __name__ == "__main__":
    run()
