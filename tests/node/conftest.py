"""No test of nodes may leave a thread or a socket behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.links.leftovers import nothing_left


@pytest.fixture(autouse=True)
def leaves_nothing() -> Iterator[None]:
    with nothing_left():
        yield
