"""The pair of links that tests use."""

from __future__ import annotations

import pytest

from tests.links.memory_link import memory_pair
from zenlake.links import LinkError, LinkTimeout


def test_a_stream_holds_so_much() -> None:
    left, right = memory_pair(room_bytes=10)
    assert left.try_send(b"0123456789ab") == 10
    assert left.try_send(b"ab") == 0
    assert not left.wait_writable(0.01)
    assert right.receive() == b"0123456789"
    assert left.wait_writable(0.01)
    right.close()
    assert left.receive() == b""
    with pytest.raises(LinkError):
        left.try_send(b"x")


def test_datagrams_stay_whole() -> None:
    left, right = memory_pair(is_stream=False, room_bytes=10)
    assert left.try_send(b"123") == 3
    assert left.try_send(b"456") == 3
    assert left.try_send(b"78901") == 0
    assert [right.receive(), right.receive()] == [b"123", b"456"]
    with pytest.raises(LinkTimeout):
        right.receive(0.01)
