"""These tests need what `pip install 'zenlake[lake]'` brings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from tests.lake.conftest import pytest_collection_modifyitems, spark
from tests.node_process import NodeProcess
from tests.ports import free_endpoint
from tests.sessions import open_client

__all__ = ["pytest_collection_modifyitems", "spark"]

collect_ignore_glob = [] if find_spec("pyspark") else ["*"]


@pytest.fixture(scope="session")
def router(request: pytest.FixtureRequest) -> Iterator[str]:
    """The endpoint of a router in a process of its own: ours, or `zenoh` by indirect parameter."""
    endpoint = free_endpoint()
    module = getattr(request, "param", "zenlake")
    with NodeProcess("router", module, listen__endpoints=[endpoint]):
        yield endpoint


class Received:
    """Samples of a subscriber of eclipse-zenoh."""

    def __init__(self) -> None:
        self.samples: list[Any] = []
        self._changed = threading.Condition()

    def __call__(self, sample: Any) -> None:
        with self._changed:
            self.samples.append(sample)
            self._changed.notify()

    def wait(self, count: int) -> list[Any]:
        """The samples, when there are exactly as many."""
        assert len(self.wait_at_least(count)) == count
        return self.samples

    def wait_at_least(self, count: int) -> list[Any]:
        """The samples, when there are as many, or after a while without."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.samples) >= count, timeout=20)
            assert len(self.samples) >= count
            return self.samples


@pytest.fixture
def received(router: str) -> Iterator[Received]:
    zenoh = pytest.importorskip("zenoh", reason="eclipse-zenoh has no wheel for this Python")
    found = Received()
    with open_client(router, zenoh) as session:
        session.declare_subscriber("sink/**", found)
        yield found
