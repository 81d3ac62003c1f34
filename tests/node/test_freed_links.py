"""Links that are over are freed at once: a collection of thousands would stop all threads."""

from __future__ import annotations

import gc
import struct
from collections.abc import Iterator

import pytest

from tests.node.application import opened, settings_of
from tests.node.raw_client import RawClient
from tests.waiting import until
from zenlake.node.link_runner import LinkRunner

LINKS = 200
KEPT_MAX = 70
"""The most closed links that a node keeps before it checks whose threads have ended."""


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(
    "last_words", [b"", struct.pack("<H", 100) + b"\xff" * 100], ids=["end", "error"]
)
def test_links_are_freed_without_the_garbage_collector(last_words: bytes) -> None:
    """Both a link that ends by itself and one that is closed for an invalid message."""
    with opened(settings_of()) as [node]:
        for _ in range(LINKS):
            client = RawClient(node)
            client.socket.sendall(last_words)
            client.socket.close()
            until(lambda: not node.runners)
        until(lambda: len(links_in_memory()) < KEPT_MAX)


def links_in_memory() -> list[object]:
    return [one for one in gc.get_objects() if type(one) is LinkRunner]
