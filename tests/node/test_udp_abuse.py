"""Forged datagrams ban no address, keep no client out and cause little traffic (H03, H14)."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.leftovers import own_threads
from tests.node.application import opened, port_of, settings_of
from tests.node.raw_client import RawClient
from tests.waiting import until
from zenlake.errors import ZenlakeError
from zenlake.limits import (
    AUTHENTICATION_FAILURES_MAX,
    SESSIONS_PER_ADDRESS_PERCENT_MAX,
    TRANSPORTS_MAX,
)
from zenlake.node import Node, NodeSettings
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import WhatAmI, ZenohId

pytestmark = pytest.mark.usefixtures("host")

UDP = "udp/127.0.0.1:0"
TCP = "tcp/127.0.0.1:0"

FLOOD = """
import socket, sys, time

port, init = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(200)]
print("started", flush=True)
while True:
    for number, one in enumerate(sockets):
        one.sendto(init, ("127.0.0.1", port))
        if number % 10 == 0:
            time.sleep(0.002)  # up to 5,000 datagrams a second
"""


def init_syn() -> bytes:
    return Opener(Offer(ZenohId(os.urandom(15) + b"\1"), WhatAmI.CLIENT)).start()


def with_users(listen: list[str]) -> NodeSettings:
    settings = settings_of(listen=listen)
    settings.users = {"user": "right"}
    return settings


def client_of(node: Node, protocol: str, password: str | None = None) -> NodeSettings:
    locators = [one for one in node.locators() if one.startswith(protocol)]
    settings = settings_of(WhatAmI.CLIENT, locators)
    settings.connect_timeout_s = 0.0
    if password is not None:
        settings.user, settings.password = "user", password
    return settings


def opens(settings: NodeSettings) -> bool:
    try:
        with opened(settings) as [client]:
            return bool(client.runners)
    except ZenlakeError:
        return False


@contextmanager
def datagrams() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(3)
        yield one


def test_forged_inits_ban_no_address() -> None:
    """Forged INITs have no credentials and the address of well-behaved clients."""
    with opened(with_users([TCP, UDP])) as [node]:
        udp = next(one for one in node.locators() if one.startswith("udp"))
        for _ in range(3 * AUTHENTICATION_FAILURES_MAX):
            with datagrams() as forger:
                forger.sendto(init_syn(), ("127.0.0.1", int(udp.rpartition(":")[2])))
                assert forger.recv(100) == b"\x03\x00"
        assert opens(client_of(node, "tcp", "right"))
        assert opens(client_of(node, "udp", "right"))


def test_wrong_passwords_over_udp_ban_udp_and_not_tcp() -> None:
    with opened(with_users([TCP, UDP])) as [node]:
        for _ in range(AUTHENTICATION_FAILURES_MAX):
            assert not opens(client_of(node, "udp", "wrong"))
        banned = client_of(node, "udp", "right")
        banned.open_timeout_s = banned.handshake_idle_s = 0.3
        assert not opens(banned)
        assert opens(client_of(node, "tcp", "right"))


def test_wrong_passwords_over_tcp_ban_the_address() -> None:
    with opened(with_users([TCP, UDP])) as [node]:
        for _ in range(AUTHENTICATION_FAILURES_MAX):
            assert not opens(client_of(node, "tcp", "wrong"))
        assert not opens(client_of(node, "tcp", "right"))
        banned = client_of(node, "udp", "right")
        banned.open_timeout_s = banned.handshake_idle_s = 0.3
        assert not opens(banned)


def test_inits_need_neither_a_thread_nor_a_pending_handshake() -> None:
    settings = settings_of(listen=[UDP])
    settings.accept_pending = 1
    with opened(settings) as [node], datagrams() as forger:
        known = own_threads()
        for _ in range(50):
            init = init_syn()
            forger.sendto(init, ("127.0.0.1", port_of(node)))
            assert len(forger.recv(65_536)) <= 3 * len(init)
            assert node.accepting.pending == 0
        assert own_threads() == known
        assert opens(client_of(node, "udp"))
        assert node.accepting.refused == 0


def test_honest_handshakes_succeed_during_a_flood_of_inits() -> None:
    """Up to 5,000 INITs a second, by a separate process and from many ports.

    On a busy machine the node's socket overflows, and lost datagrams are sent again.
    """
    with opened(settings_of(listen=[UDP])) as [node]:
        command = [sys.executable, "-c", FLOOD, str(port_of(node)), init_syn().hex()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as flood:
            assert flood.stdout is not None
            try:
                flood.stdout.readline()
                for _ in range(8):
                    client = client_of(node, "udp")
                    client.connect_timeout_s, client.handshake_idle_s = 20.0, 0.5
                    client.connect_retry.first_s = 0.1
                    assert opens(client)
                    time.sleep(0.1)  # for more of the flood between the handshakes
                assert flood.poll() is None
            finally:
                flood.kill()
        assert node.accepting.refused == 0
        until(lambda: not node.runners)


def test_an_open_that_was_sent_twice_opens_one_session() -> None:
    """Recorded on the network and replayed when its session is over."""
    with opened(settings_of(listen=[UDP])) as [node], datagrams() as caller:
        caller.connect(("127.0.0.1", port_of(node)))
        opener = Opener(Offer(ZenohId(os.urandom(15) + b"\1"), WhatAmI.CLIENT))
        caller.send(opener.start())
        open_syn = opener.receive(caller.recv(65_536))
        assert open_syn is not None
        caller.send(open_syn)
        until(lambda: len(node.runners) == 1)
        caller.send(b"\x03\x00")
        until(lambda: not node.runners)
        caller.send(open_syn)
        caller.recv(65_536)  # OpenAck
        while caller.recv(65_536) != b"\x03\x02":
            pass
        assert not node.runners


def test_one_address_leaves_sessions_for_others() -> None:
    assert (TRANSPORTS_MAX, SESSIONS_PER_ADDRESS_PERCENT_MAX) == (1_000, 75)
    assert settings_of().sessions_per_address() == 750
    settings = settings_of()
    settings.max_sessions = 8
    with opened(settings) as [node]:
        greedy = [RawClient(node) for _ in range(6)]
        with pytest.raises(ZenlakeError):
            RawClient(node)
        others = [RawClient(node, source="127.0.0.2") for _ in range(2)]
        until(lambda: len(node.runners) == 8)
        with pytest.raises(ZenlakeError):
            RawClient(node, source="127.0.0.3")
        greedy.pop().socket.close()
        until(lambda: len(node.runners) == 7)
        greedy.append(RawClient(node))
        for one in greedy + others:
            one.socket.close()


def test_one_address_does_not_displace_handshakes_of_others() -> None:
    settings = settings_of()
    settings.accept_pending = 10
    with opened(settings) as [node]:
        others = []
        for number in range(2, 12):
            source = (f"127.0.0.{number}", 0)
            others.append(socket.create_connection(("127.0.0.1", port_of(node)), 5, source))
        until(lambda: node.accepting.pending == 10)
        greedy = [socket.create_connection(("127.0.0.1", port_of(node)), 5) for _ in range(20)]
        until(lambda: node.accepting.refused == 20)
        assert is_ended(others[0]), "the oldest of all was closed for the first"
        assert not any(is_ended(one) for one in others[1:])
        for one in others + greedy:
            one.close()


def is_ended(one: socket.socket) -> bool:
    one.settimeout(0.05)
    try:
        return one.recv(1) == b""
    except TimeoutError:
        return False
