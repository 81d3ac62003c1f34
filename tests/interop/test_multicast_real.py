"""Our multicast group and our scouting against real nodes, on the loopback interface."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import zenoh

from tests.sessions import config_of
from zenlake.protocol.group import Group
from zenlake.protocol.group_peer import GroupEvent, PeerDelivery, PeerJoined, PeerLeft
from zenlake.protocol.group_terms import GroupTerms
from zenlake.protocol.scouting import Answerer, ScoutedNode, Scouter
from zenlake.wire import Push, Put, WhatAmI, WhatAmIMatcher, WireExpr, ZenohId, encode

pytestmark = pytest.mark.real

GROUP = "224.0.0.225"
LOOPBACK = "127.0.0.1"
PATIENCE_S = 10.0
AGAIN_S = 2.0
ZID = ZenohId.parse("abcdef")


def listening(port: int = 0) -> socket.socket:
    """A socket in the group, on the loopback interface."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((GROUP, port))
    membership = socket.inet_aton(GROUP) + socket.inet_aton(LOOPBACK)
    try:
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    except OSError as error:
        listener.close()
        pytest.skip(f"no multicast here: {error}")
    # A burst of fragments waits here while this process does something else.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    listener.settimeout(0.1)
    return listener


def speaking() -> socket.socket:
    speaker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    speaker.bind((LOOPBACK, 0))
    speaker.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LOOPBACK))
    speaker.settimeout(0.1)
    return speaker


@contextmanager
def real_peer(settings: dict[str, object]) -> Iterator[zenoh.Session]:
    with zenoh.open(config_of("peer", zenoh, **settings)) as session:
        yield session


class Member:
    """Our Group on two sockets."""

    def __init__(self, qos: bool) -> None:
        self.listener, self.speaker = listening(), speaking()
        self.port: int = self.listener.getsockname()[1]
        self.own = self.speaker.getsockname()
        terms = GroupTerms(ZID, WhatAmI.PEER, qos=qos)
        self.group = Group(terms, os.urandom, time.monotonic())
        self.events: list[GroupEvent] = []

    def turn(self) -> None:
        """Send pending datagrams, and process received ones."""
        while (unit := self.group.next_unit(time.monotonic())) is not None:
            self.speaker.sendto(unit, (GROUP, self.port))
        try:
            datagram, source = self.listener.recvfrom(65_536)
        except TimeoutError:
            return
        if source != self.own:
            self.events += self.group.receive(datagram, str(source), time.monotonic())

    def turn_until(self, is_done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_done():
            assert time.monotonic() < deadline, "nothing came"
            self.turn()
            self.events += self.group.handle_timeout(time.monotonic())

    def turn_until_sent(self, send: Callable[[], None], is_done: Callable[[], bool]) -> None:
        """Send until the message arrives: a busy receiver may lose datagrams."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_done():
            assert time.monotonic() < deadline, "nothing came"
            send()
            again = time.monotonic() + AGAIN_S
            while not is_done() and time.monotonic() < again:
                self.turn()
                self.events += self.group.handle_timeout(time.monotonic())

    def heard(self, kind: type[GroupEvent]) -> list[GroupEvent]:
        return [event for event in self.events if isinstance(event, kind)]

    def payloads(self) -> list[bytes]:
        return [
            message.body.payload
            for event in self.events
            if isinstance(event, PeerDelivery)
            for message in event.delivery.messages
            if isinstance(message, Push) and isinstance(message.body, Put)
        ]

    def close(self) -> None:
        self.listener.close()
        self.speaker.close()


@pytest.mark.parametrize("qos", [False, True])
def test_a_real_peer_in_our_group(qos: bool) -> None:
    member = Member(qos)
    settings: dict[str, object] = {
        "listen/endpoints": [f"udp/{GROUP}:{member.port}#iface=lo"],
        "transport/multicast/qos/enabled": qos,
    }
    try:
        with real_peer(settings) as session:
            member.turn_until(lambda: bool(member.heard(PeerJoined)))
            (joined,) = member.heard(PeerJoined)
            assert isinstance(joined, PeerJoined)
            assert str(joined.peer.zid) == str(session.info.zid())
            assert joined.peer.qos == qos
            check_both_ways(member, session)
        member.turn_until(lambda: bool(member.heard(PeerLeft)))
    finally:
        member.close()


def check_both_ways(member: Member, session: zenoh.Session) -> None:
    # A node that has received no JOIN yet sends nothing.
    member.turn_until(lambda: str(ZID) in [str(it.zid) for it in session.info.transports()])
    assert session.info.peers_zid() == []
    large = bytes(range(256)) * 400

    def they_put() -> None:
        session.put("demo/a", b"from them")
        session.put("demo/a", large, congestion_control=zenoh.CongestionControl.BLOCK)

    member.turn_until_sent(they_put, lambda: large in member.payloads())
    assert set(member.payloads()) == {b"from them", large}

    samples: list[bytes] = []
    session.declare_subscriber("demo/**", lambda sample: samples.append(sample.payload.to_bytes()))

    def we_put() -> None:
        for payload in (b"from us", large):
            push = Push(WireExpr(0, "demo/b"), Put(payload))
            member.group.push(encode(push), 5, True, False)

    member.turn_until_sent(we_put, lambda: large in samples)
    assert set(samples) == {b"from us", large}


def scouting_on(port: int) -> dict[str, object]:
    return {
        "scouting/multicast/enabled": True,
        "scouting/multicast/address": f"{GROUP}:{port}",
        "scouting/multicast/interface": "lo",
    }


def test_a_real_peer_answers_our_scout() -> None:
    with listening() as probe:
        port = probe.getsockname()[1]
    listen = {"listen/endpoints": ["tcp/127.0.0.1:0"]}
    with real_peer(scouting_on(port) | listen) as session, speaking() as speaker:
        scouter = Scouter(WhatAmIMatcher(7), time.monotonic())
        found: ScoutedNode | None = None
        deadline = time.monotonic() + PATIENCE_S
        while found is None:
            assert time.monotonic() < deadline, "nobody answered"
            scout = scouter.handle_timeout(time.monotonic())
            if scout is not None:
                speaker.sendto(scout, (GROUP, port))
            try:
                found = scouter.receive(speaker.recv(65_536))
            except TimeoutError:
                continue
        assert (str(found.zid), found.role) == (str(session.info.zid()), WhatAmI.PEER)
        assert found.locators[0].startswith("tcp/127.0.0.1:")


def test_a_real_scout_finds_us() -> None:
    answerer = Answerer(ZID, WhatAmI.ROUTER, time.monotonic())
    answerer.set_locators(["tcp/127.0.0.1:7447"])
    with listening() as listener, speaking() as speaker:
        config = config_of("peer", zenoh, **scouting_on(listener.getsockname()[1]))
        scout = zenoh.scout(what="router", config=config)
        deadline = time.monotonic() + PATIENCE_S
        while (hello := scout.try_recv()) is None:
            assert time.monotonic() < deadline, "it did not find us"
            try:
                datagram, source = listener.recvfrom(65_536)
            except TimeoutError:
                continue
            answer = answerer.receive(datagram, source[0], time.monotonic())
            if answer is not None:
                speaker.sendto(answer, source)
    assert str(hello.zid) == str(ZID)
    assert list(hello.locators) == ["tcp/127.0.0.1:7447"]
