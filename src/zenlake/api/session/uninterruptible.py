"""Work that Ctrl-C does not tear apart.

Only the main thread gets Ctrl-C, anywhere: also between taking a lock and noting that it is
taken, in Python's own code too. So what starts and ends threads is done by another one.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable


def run_uninterruptible(work: Callable[[], None]) -> None:
    """Do it and wait for its end; Ctrl-C ends the waiting, and never the work."""
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    failures: list[BaseException] = []
    done = threading.Lock()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
        finally:
            done.release()

    def start() -> None:
        try:
            threading.Thread(target=run, name="zenlake-uninterruptible", daemon=True).start()
        except RuntimeError:  # the system has no more
            run()

    done.acquire()
    try:
        # Not `Thread.start`, whose locks are among those that Ctrl-C may find half taken.
        _thread.start_new_thread(start, ())
    except RuntimeError:  # there are no more threads: the interpreter is going down
        work()
        return
    done.acquire()
    if failures:
        raise failures[0]
