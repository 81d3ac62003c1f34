"""UDP links: a datagram is a batch, a listener has one link per source."""

from __future__ import annotations

import socket
import threading
from contextlib import closing

import pytest

from tests.links.pairs import PLAIN, linked, port_of
from zenlake.limits import UDP_REMOTES_MAX, UDP_WAITING_BYTES_MAX
from zenlake.links import Link, LinkTimeout, listen
from zenlake.links.udp import UdpListener, UdpRemote
from zenlake.wire import EndPoint


@pytest.mark.parametrize("endpoint", ["udp/127.0.0.1:0", "udp/[::1]:0"])
def test_datagrams_go_both_ways(endpoint: str) -> None:
    with linked(endpoint) as (ours, theirs):
        assert ours.try_send(b"one") == 3
        assert ours.try_send(b"two") == 3
        assert [theirs.receive(1.0), theirs.receive(1.0)] == [b"one", b"two"]
        assert theirs.try_send(b"back") == 4
        assert ours.receive(1.0) == b"back"
        largest = bytes(ours.mtu)
        assert ours.try_send(largest) == len(largest)
        assert theirs.receive(1.0) == largest


def test_closing_wakes_readers_of_both_kinds() -> None:
    with linked("udp/127.0.0.1:0") as (ours, theirs):
        got: list[bytes] = []
        threads = [
            threading.Thread(target=lambda link=link: got.append(link.receive()))
            for link in (ours, theirs)
        ]
        for thread in threads:
            thread.start()
        with pytest.raises(LinkTimeout):
            theirs.receive(0.05)
        ours.close()
        theirs.close()
        for thread in threads:
            thread.join(1.0)
        assert got == [b"", b""]


def test_every_source_has_its_own_link() -> None:
    listener = listen(EndPoint.parse("udp/127.0.0.1:0"), PLAIN)
    links: list[Link] = []
    thread = threading.Thread(target=accept_all, args=(listener, links))
    thread.start()
    port = port_of(listener)
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(5)]
    try:
        for round in range(3):
            for number, one in enumerate(sockets):
                one.sendto(bytes([number, round]), ("127.0.0.1", port))
        heard = set()
        while len(links) < 5:
            pass
        for link in links:
            datagrams = [link.receive(1.0) for _ in range(3)]
            assert len({datagram[0] for datagram in datagrams}) == 1
            heard.add(datagrams[0][0])
        assert heard == set(range(5))
    finally:
        for one in sockets:
            one.close()
        listener.close()
        thread.join()


def accept_all(listener: object, links: list[Link]) -> None:
    assert isinstance(listener, UdpListener)
    while (link := listener.accept()) is not None:
        links.append(link)


def test_sources_and_their_queued_datagrams_are_limited() -> None:
    with closing(UdpListener(EndPoint.parse("udp/127.0.0.1:0"), PLAIN)) as listener:
        remotes = [
            listener._hand_over(b"x", ("192.0.2.1", number))
            for number in range(UDP_REMOTES_MAX + 10)
        ]
        assert listener.dropped == 10
        first = remotes[0]
        assert isinstance(first, UdpRemote)
        for _ in range(UDP_WAITING_BYTES_MAX // 65_536 + 1):
            first.deliver(bytes(65_536))
        assert listener.dropped == 12
        first.close()
        assert listener._hand_over(b"x", ("192.0.2.2", 1)) is not None


def test_a_link_without_a_listener_ends() -> None:
    with linked("udp/127.0.0.1:0") as (ours, _):
        pass
    assert ours.receive() == b""
