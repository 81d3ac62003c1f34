"""Settings shared by all tests."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest
from hypothesis import settings
from xdist.remote import Producer

from tests.chance import IS_FULL
from tests.scheduling import NeighbourScheduling, in_order

pytest_plugins = ["tests.hosts", "tests.time_limit"]

settings.register_profile("default", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("full", deadline=None, print_blob=True, max_examples=5_000)
settings.load_profile("full" if IS_FULL else "default")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> NeighbourScheduling | None:
    is_ours = config.getvalue("dist") == "loadgroup"
    return NeighbourScheduling(config, log) if is_ours else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = in_order(items)


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
