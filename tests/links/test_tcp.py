"""TCP links: bytes both ways, waking up, options, what listeners announce."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import closing

import pytest

from tests.links.pairs import PLAIN, connecting, linked, receive_all, send_all
from tests.ports import free_port
from tests.waiting import until
from zenlake.links import LinkError, LinkSettings, LinkTimeout, connect, listen, tcp
from zenlake.protocol.scouting import is_loopback_locator
from zenlake.wire import EndPoint

LOOPBACK = "tcp/127.0.0.1:0"


def test_bytes_go_both_ways() -> None:
    with linked(LOOPBACK) as (ours, theirs):
        assert ours.try_send(b"there") == 5
        assert theirs.receive() == b"there"
        assert theirs.try_send(b"back") == 4
        assert ours.receive() == b"back"
        assert ours.src == theirs.dst
        assert ours.dst == theirs.src
        assert ours.interfaces == ["lo"]


def test_link_offers_batches_of_whole_segments() -> None:
    with linked(LOOPBACK) as (ours, theirs):
        assert 32_000 < ours.mtu < 65_495
        assert 32_000 < theirs.mtu < 65_495


@pytest.mark.parametrize("endpoint", ["tcp/[::1]:0", "tcp/localhost:0"])
def test_links_open_to_names_and_ipv6_addresses(endpoint: str) -> None:
    with linked(endpoint) as (ours, theirs):
        ours.try_send(b"x")
        assert theirs.receive() == b"x"


def test_a_wildcard_accepts_both_families_and_announces_no_loopback() -> None:
    listener = listen(EndPoint.parse("tcp/[::]:0"), PLAIN)
    accepted = []
    try:
        assert not any(is_loopback_locator(locator) for locator in listener.locators())
        assert isinstance(listener, tcp.TcpListener)
        port = listener._address[1]
        for host in ("127.0.0.1", "[::1]"):
            ours = connect(EndPoint.parse(f"tcp/{host}:{port}"), PLAIN, 2.0)
            theirs = listener.accept()
            assert theirs is not None
            assert theirs.dst == ours.src
            accepted += [ours, theirs]
    finally:
        for link in accepted:
            link.close()
        listener.close()


def test_a_bound_loopback_is_announced() -> None:
    with closing(listen(EndPoint.parse("tcp/127.0.0.1:0?prio=1-3"), PLAIN)) as listener:
        (locator,) = listener.locators()
        assert locator.startswith("tcp/127.0.0.1:")
        assert locator.endswith("?prio=1-3")
        assert is_loopback_locator(locator)


def test_closing_wakes_the_reader() -> None:
    with linked(LOOPBACK) as (ours, _):
        got: list[bytes] = []
        thread = threading.Thread(target=lambda: got.append(ours.receive()))
        thread.start()
        assert isinstance(ours, tcp.TcpLink)
        until(lambda: ours._shared._users == 1)
        ours.close()
        thread.join(1.0)
        assert got == [b""]
        assert ours.receive() == b""
        with pytest.raises(LinkError, match="closed"):
            ours.try_send(b"x")


def test_closing_wakes_accept() -> None:
    listener = listen(EndPoint.parse(LOOPBACK), PLAIN)
    got: list[object] = []
    thread = threading.Thread(target=lambda: got.append(listener.accept()))
    thread.start()
    assert isinstance(listener, tcp.TcpListener)
    until(lambda: listener._shared._users == 1)
    listener.close()
    thread.join(1.0)
    assert got == [None]


def test_the_end_of_the_other_side_is_an_empty_read() -> None:
    with linked(LOOPBACK) as (ours, theirs):
        theirs.close()
        assert ours.receive() == b""


def test_waiting_for_bytes_can_be_limited() -> None:
    with linked(LOOPBACK) as (ours, _):
        began = time.monotonic()
        with pytest.raises(LinkTimeout):
            ours.receive(0.05)
        assert time.monotonic() - began >= 0.05


def test_a_full_link_accepts_nothing_until_it_is_read() -> None:
    settings = LinkSettings(tcp={"so_sndbuf": 65_536, "so_rcvbuf": 65_536})
    with linked(LOOPBACK, settings, settings) as (ours, theirs):
        sent = 0
        while ours.wait_writable(0.05):
            sent += ours.try_send(bytes(65_536))
        assert len(receive_all(theirs, sent)) == sent
        assert ours.wait_writable(2.0)


def test_buffer_sizes_are_those_of_the_protocol() -> None:
    sizes = {"tcp": 16_384, "tls": 32_768}
    settings = LinkSettings(tcp={"so_rcvbuf": sizes["tcp"]}, tls={"so_rcvbuf": sizes["tls"]})
    found = {}
    for protocol in sizes:
        with socket.socket() as one:
            tcp._apply_options(one, EndPoint(protocol, "127.0.0.1:0"), settings)
            found[protocol] = one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    assert found["tls"] == 2 * found["tcp"]


def test_a_dscp_that_is_no_number_is_refused() -> None:
    with pytest.raises(LinkError, match="dscp is a number, not 'high'"):
        listen(EndPoint.parse("tcp/127.0.0.1:0#dscp=high"), PLAIN)


def test_a_megabyte_arrives_as_it_was_sent() -> None:
    data = bytes(range(256)) * 4096
    with linked(LOOPBACK) as (ours, theirs):
        thread = threading.Thread(target=send_all, args=(ours, data))
        thread.start()
        assert receive_all(theirs, len(data)) == data
        thread.join()


def test_connecting_without_a_listener_is_refused() -> None:
    port = free_port()
    with pytest.raises(LinkError, match="Connection refused") as caught:
        connect(EndPoint.parse(f"tcp/127.0.0.1:{port}"), PLAIN, 1.0)
    assert caught.value.endpoint == f"tcp/127.0.0.1:{port}"


def test_a_silent_host_costs_no_more_than_the_timeout() -> None:
    """A listener whose backlog is full does not answer."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        endpoint = EndPoint.parse(f"tcp/127.0.0.1:{deaf.getsockname()[1]}")
        links = [connect(endpoint, PLAIN, 1.0)]
        with pytest.raises(LinkTimeout):
            connect(endpoint, PLAIN, 0.1)
        with pytest.raises(LinkError, match="closing"):
            connect(endpoint, PLAIN, 10.0, lambda: True)
        for link in links:
            link.close()


@pytest.mark.parametrize(
    "endpoint",
    ["tcp/127.0.0.1", "tcp/:7447", "tcp/127.0.0.1:99999", "tcp/::1:7447", "tcp/no.such.host.:1"],
)
def test_invalid_address_is_a_link_error(endpoint: str) -> None:
    with pytest.raises(LinkError):
        connect(EndPoint.parse(endpoint), PLAIN, 1.0)


def test_interface_option_binds_to_the_interface() -> None:
    with linked("tcp/127.0.0.1:0#iface=lo", config="#iface=lo") as (ours, theirs):
        ours.try_send(b"x")
        assert theirs.receive() == b"x"
    with pytest.raises(LinkError, match="no interface"):
        listen(EndPoint.parse("tcp/127.0.0.1:0#iface=nosuch0"), PLAIN)


def test_address_in_use_is_a_link_error() -> None:
    with (
        closing(listen(EndPoint.parse(LOOPBACK), PLAIN)) as listener,
        pytest.raises(LinkError, match="in use"),
    ):
        listen(connecting(listener), PLAIN)


def test_protocols_that_are_not_there_or_not_allowed() -> None:
    cause = "links of type 'quic' are not supported; supported are tcp, tls, udp"
    with pytest.raises(LinkError, match=cause):
        connect(EndPoint.parse("quic/127.0.0.1:1"), PLAIN, 1.0)
    with pytest.raises(LinkError, match="transport/link/protocols allows udp"):
        connect(EndPoint.parse("tcp/127.0.0.1:1"), LinkSettings(protocols=["udp"]), 1.0)


def test_a_connection_that_is_reset_at_once_is_a_link_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error once ended the connecting thread, so that a node never reconnected."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connected = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        accepted.close()
        with pytest.raises(ConnectionResetError):
            connected.recv(1)
        monkeypatch.setattr(tcp, "connect_socket", lambda *arguments: connected)
        with pytest.raises(LinkError):
            connect(EndPoint.parse("tcp/127.0.0.1:7447"), PLAIN, 1.0, lambda: False)
        assert connected.fileno() == -1
