"""A time limit for each test, so that a test that waits for ever fails instead of hanging the run.

At the limit the tracebacks of all threads go to standard error, and the main thread raises
`TookTooLong`. Code that does not return to the interpreter cannot be interrupted that way: then the
process ends `GRACE_S` later, and pytest-xdist names the test and continues in a new process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.chance import IS_FULL

LIMIT_S = float(os.environ.get("ZENLAKE_TEST_SECONDS") or (7_200 if IS_FULL else 300))
"""For the set-up, the call and the tear-down of a test each."""
GRACE_S = min(60.0, LIMIT_S)
"""How long fixtures may take to end what the test began."""
_STDERR = pytest.StashKey[int]()


class TookTooLong(BaseException):
    """It is no `Exception`, which a test or a callback may expect."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep standard error itself, which is captured while a test runs."""
    assert sys.__stderr__ is not None
    config.stash[_STDERR] = os.dup(sys.__stderr__.fileno())


@contextmanager
def limited(item: pytest.Item, phase: str) -> Iterator[None]:
    stderr = item.config.stash[_STDERR]

    def give_up(*_: object) -> None:
        reason = f"the {phase} of {item.nodeid} took more than {LIMIT_S:g} s"
        os.write(stderr, f"\n== {reason}; all threads:\n".encode())
        faulthandler.dump_traceback(stderr)
        raise TookTooLong(reason)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    faulthandler.dump_traceback_later(LIMIT_S + GRACE_S, exit=True, file=stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    with limited(item, "set-up"):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    with limited(item, "call"):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    with limited(item, "tear-down"):
        return (yield)
