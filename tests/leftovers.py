"""Checks that a test leaves nothing of zenlake behind: threads, sockets, temporary files."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.waiting import until
from zenlake import exit_cleanups


def open_sockets() -> int:
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except OSError:
            continue
    return count


def own_threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name.startswith("zenlake")}


@contextmanager
def nothing_left() -> Iterator[None]:
    """Assert at the end that there is no new socket and no new thread."""
    before, known = open_sockets(), own_threads()
    yield
    with suppress(AssertionError):
        until(lambda: own_threads() <= known and open_sockets() <= before, 2.0)
    assert own_threads() <= known
    assert open_sockets() <= before


@pytest.fixture(autouse=True)
def leaves_nothing() -> Iterator[None]:
    """For a `conftest.py`: no test beside it may leave anything behind."""
    with nothing_left():
        yield


@contextmanager
def own_cleanups() -> Iterator[None]:
    """Only what is registered in it is cleaned up: not the folder of a Spark of other tests."""
    before = dict(exit_cleanups._cleanups)
    exit_cleanups._cleanups.clear()
    try:
        yield
    finally:
        exit_cleanups._cleanups.update(before)
