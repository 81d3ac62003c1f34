"""Multicast sockets, and the interfaces and addresses they are made for."""

from __future__ import annotations

import random
import socket

import pytest

from zenlake.links import LinkError, MulticastSockets, is_group
from zenlake.links.addresses import address_text, advertised
from zenlake.links.interfaces import interface_addresses, interfaces_of
from zenlake.links.multicast import multicast_interfaces

GROUP = "224.0.0.225"
HAS_MULTICAST = bool(multicast_interfaces("auto"))


def test_the_loopback_is_found() -> None:
    assert "127.0.0.1" in [entry.address for entry in interface_addresses()]
    assert interfaces_of("::ffff:127.0.0.1") == interfaces_of("127.0.0.1") != []
    assert all(not entry.is_loopback for entry in multicast_interfaces("auto"))
    assert [entry.address for entry in multicast_interfaces("127.0.0.1")] == ["127.0.0.1"]
    assert multicast_interfaces("nosuch0") == []


def test_addresses_as_text() -> None:
    assert address_text("::1", 5) == "[::1]:5"
    assert address_text("::ffff:1.2.3.4", 5) == "1.2.3.4:5"
    assert advertised("tcp", "127.0.0.1", 5) == ["tcp/127.0.0.1:5"]
    assert not any("127.0.0.1" in locator for locator in advertised("tcp", "0.0.0.0", 5))
    assert is_group("224.0.0.224")
    assert is_group("[ff02::1]")
    assert not is_group("127.0.0.1")
    assert not is_group("localhost")


@pytest.mark.skipif(not HAS_MULTICAST, reason="no interface for multicast")
def test_a_group_receives_from_others_only_and_answers_the_sender() -> None:
    port = random.randint(20_000, 60_000)
    one = MulticastSockets(GROUP, port)
    other = MulticastSockets(GROUP, port, listens=False)
    try:
        assert other.send(b"who is there")
        (asked,) = one.receive(2.0)
        assert asked.data == b"who is there"
        assert asked.source in other.sources
        one.answer(b"I am", asked)
        (answer,) = other.receive(2.0)
        assert answer.data == b"I am"
        assert answer.source in one.sources
        assert one.send(b"to all")
        assert one.receive(0.05) == []
        one.wake()
        assert one.receive(None) == []
    finally:
        one.close()
        other.close()


def test_a_group_that_cannot_be_joined_is_an_error() -> None:
    with pytest.raises(LinkError), socket.socket():
        MulticastSockets("127.0.0.1", 0, "127.0.0.1")
