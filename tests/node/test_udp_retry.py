"""A handshake over UDP whose datagrams are lost or duplicated is retried at once."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from tests.node.application import Application, opened, port_of, settings_of
from tests.waiting import holds, until
from zenlake.node import Node
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    Close,
    Frame,
    Init,
    Open,
    Push,
    Put,
    WhatAmI,
    WireExpr,
    ZenohId,
    decode_transport,
)

ZID = ZenohId(b"a caller by UDP!")
LATE_S = 0.4
"""A handshake after this time is a new one, and not a second attempt: only time passes."""


class Caller:
    """A UDP client that can lose any datagram."""

    def __init__(self, node: Node) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(3)
        self.socket.connect(("127.0.0.1", port_of(node)))
        self.begin()

    def begin(self) -> None:
        self.opener = Opener(Offer(ZID, WhatAmI.CLIENT))
        self.init = self.opener.start()

    def send(self, datagram: bytes) -> None:
        self.socket.send(datagram)

    def receive(self) -> bytes:
        return self.socket.recv(65_536)

    def send_open(self) -> None:
        """Shake hands up to OPEN, without reading its answer."""
        self.send(self.init)
        answer = self.opener.receive(self.receive())
        assert answer is not None
        self.send(answer)

    def is_open(self) -> bool:
        message = decode_transport(self.receive(), 0)[0]
        if isinstance(message, Close):
            return False
        assert isinstance(message, Open)
        return True

    def put(self, payload: bytes) -> None:
        agreed = self.opener._tentative
        assert agreed is not None
        self.send(bytes(Frame(agreed.own_sn, [Push(WireExpr(0, "k"), Put(payload))])))


@pytest.fixture
def node() -> Iterator[Node]:
    with opened(settings_of(listen=["udp/127.0.0.1:0"])) as [node]:
        yield node


@contextlib.contextmanager
def calling(node: Node) -> Iterator[Caller]:
    caller = Caller(node)
    with caller.socket:
        yield caller


def assert_receives(node: Node, application: Application, caller: Caller) -> None:
    caller.put(b"heard")
    assert application.wait_for(1) == [b"heard"]
    assert list(node.runners) == [ZID]


def test_an_init_whose_answer_was_lost_is_answered_again(node: Node) -> None:
    application = Application(node)
    application.subscribe("k")
    with calling(node) as caller:
        for _ in range(3):
            caller.send(caller.init)
            message = decode_transport(caller.receive(), 0)[0]
            assert isinstance(message, Init)
        caller.send_open()
        assert caller.is_open()
        assert_receives(node, application, caller)


@pytest.mark.parametrize("is_same_address", [True, False])
def test_a_node_whose_open_was_not_answered_starts_over(node: Node, is_same_address: bool) -> None:
    """The retry works at once, not after the lease of the transport that only this node knows."""
    application = Application(node)
    application.subscribe("k")
    with calling(node) as first, calling(node) as second:
        first.send_open()
        until(lambda: len(node.runners) == 1)
        assert first.is_open()  # which the caller ignores
        time.sleep(LATE_S)
        began = time.monotonic()
        again = first if is_same_address else second
        again.begin()
        again.send_open()
        assert again.is_open()
        assert time.monotonic() - began < 5  # the lease is 10
        assert_receives(node, application, again)


def test_a_node_that_has_sent_messages_is_not_replaced(node: Node) -> None:
    """A later handshake with its id, or from its address, does not replace it."""
    application = Application(node)
    application.subscribe("k")
    with calling(node) as first, calling(node) as second:
        first.send_open()
        assert first.is_open()
        assert_receives(node, application, first)
        runner = node.runners[ZID]
        time.sleep(LATE_S)
        second.send_open()
        assert not second.is_open()
        first.send(first.init)
        holds(lambda: node.runners.get(ZID) is runner, 0.1)


def test_a_late_duplicate_init_changes_nothing(node: Node) -> None:
    application = Application(node)
    application.subscribe("k")
    with calling(node) as caller:
        caller.send_open()
        assert caller.is_open()
        until(lambda: ZID in node.runners)
        caller.send(caller.init)
        holds(lambda: ZID in node.runners, 0.05)
        assert_receives(node, application, caller)


def test_an_opener_ignores_a_second_init_ack() -> None:
    """The test sends it to a client of zenlake."""
    with opened(settings_of(listen=["udp/127.0.0.1:0"])) as [node]:
        caller = Opener(Offer(ZID, WhatAmI.CLIENT), is_lossy=True)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.settimeout(3)
            one.connect(("127.0.0.1", port_of(node)))
            one.send(caller.start())
            init_ack = one.recv(65_536)
            open_syn = caller.receive(init_ack)
            assert open_syn is not None
            one.send(open_syn)
            assert caller.receive(init_ack) is None
            assert caller.agreed is None
            assert caller.receive(one.recv(65_536)) is None
            assert caller.agreed is not None
