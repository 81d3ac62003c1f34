"""Runs work that Ctrl-C must not interrupt.

KeyboardInterrupt is raised in the main thread, at any point: also between taking a lock and
recording that it is taken, in Python's own code too. So threads are started and ended by another
thread.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable


def run_uninterruptible(work: Callable[[], None]) -> None:
    """Run `work` and wait for its end; Ctrl-C ends the waiting, but not the work."""
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
        except RuntimeError:  # the system has no more threads
            run()

    done.acquire()
    try:
        # Not `Thread.start`: Ctrl-C may interrupt it while it takes its locks.
        _thread.start_new_thread(start, ())
    except RuntimeError:  # the interpreter is exiting and starts no threads
        work()
        return
    done.acquire()
    if failures:
        raise failures[0]
