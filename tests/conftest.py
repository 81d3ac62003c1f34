"""Settings shared by all tests."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.chance import IS_FULL

settings.register_profile("default", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("full", deadline=None, print_blob=True, max_examples=5_000)
settings.load_profile("full" if IS_FULL else "default")

_OTHERS_BETWEEN_REAL = 20


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mix tests with real nodes, which wait most of the time, with others, which compute."""
    real = [item for item in items if item.get_closest_marker("real") is not None]
    others = [item for item in items if item.get_closest_marker("real") is None]
    if not others:
        return
    items.clear()
    for number, item in enumerate(others, 1):
        items.append(item)
        if number % _OTHERS_BETWEEN_REAL == 0 and real:
            items.append(real.pop(0))
    items.extend(real)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude modules and collected tests from garbage collection.

    They are half a million objects that exist as long as the process: otherwise each full
    collection would traverse all of them, which takes half a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Exclude objects that outlive the tests of a file (caches, fixtures of the session), too.

    Tests that collect garbage themselves would traverse all of them each time.
    """
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()
