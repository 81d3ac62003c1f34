"""Silent links have no thread of their own, and are read all the same."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from tests.node.application import BLOCK, CONTROL, Application, opened, settings_of
from tests.waiting import until
from zenlake.node import Node
from zenlake.node.abstract_sender import FULL, AbstractSender
from zenlake.node.idle_links import IDLE_LINKS, IS_SUPPORTED, PATIENCE_S, IdleLinks
from zenlake.node.link_outlet import LinkOutlet
from zenlake.node.node_lock import NodeLock
from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.settings import RoutingSettings
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    NetworkMessage,
    Push,
    Put,
    WhatAmI,
    WireExpr,
    ZenohId,
)

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="this system has no epoll")


def readers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("zenlake read")]


def is_last(application: Application, payload: bytes) -> bool:
    return application.payloads()[-1] == payload


def wait_until_idle(count: int) -> None:
    """Wait until this many links are idle and no reader is left."""
    try:
        until(lambda: len(IDLE_LINKS._readers) == count and not readers(), 60.0)
    except AssertionError:
        names = [one.name for one in readers()]
        raise AssertionError(f"{len(IDLE_LINKS._readers)} idle links, readers {names}") from None


def both_linked(one: Node, other: Node) -> None:
    until(lambda: len(one.runners) == len(other.runners) == 1)


@contextmanager
def linked() -> Iterator[tuple[Node, Node]]:
    with (
        opened(settings_of(listen=["tcp/127.0.0.1:0"])) as [listening],
        opened(settings_of(WhatAmI.CLIENT, listening.locators())) as [connecting],
    ):
        both_linked(listening, connecting)
        yield listening, connecting


def test_a_silent_link_is_read_again() -> None:
    with linked() as (listening, connecting):
        here = Application(listening)
        there = Application(connecting)
        here.subscribe("key")
        for n in range(2):
            wait_until_idle(2)
            there.put("key", b"%d" % n, BLOCK)
            here.wait_for(n + 1)
        assert here.payloads() == [b"0", b"1"]


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretends that this process has many threads."""
    monkeypatch.setattr(threading, "active_count", lambda: 500)


@pytest.fixture
def router() -> Iterator[Node]:
    with opened(settings_of(WhatAmI.ROUTER, listen=["tcp/127.0.0.1:0"])) as [node]:
        yield node


@contextmanager
def clients_of(router: Node, count: int) -> Iterator[list[Node]]:
    settings = [settings_of(WhatAmI.CLIENT, router.locators()) for _ in range(count)]
    with opened(*settings) as nodes:
        until(lambda: len(router.runners) == count)
        yield nodes


def test_short_messages_need_no_reader_among_many(router: Node, crowd: None) -> None:
    """If a reader started for every message, 1,000 sessions would wait for each other."""
    assert IDLE_LINKS.update_patience() < PATIENCE_S
    with clients_of(router, 2) as [near, far]:
        here = Application(near)
        there = Application(far)
        here.subscribe("key")

        def is_received() -> bool:
            there.put("key", b"", BLOCK)
            return bool(here.payloads())

        until(is_received)
        runner = router.runners[far.zid]
        reader = runner._reader
        assert reader is not None
        until(lambda: reader in IDLE_LINKS._readers.values())
        thread = reader._reader
        for n in range(20):
            there.put("key", b"%d" % n, BLOCK)
            until(partial(is_last, here, b"%d" % n))
        assert reader._reader is thread


def test_a_full_link_is_left_to_a_reader() -> None:
    """The thread for idle links sends what it can, and waits for room on no link."""
    node_lock = NodeLock(Dispatcher(ZenohId.from_int(1), WhatAmI.ROUTER, RoutingSettings()))
    full = FullLink()
    faces = []
    for number in (2, 3):
        outlet = LinkOutlet(full, node_lock.touched, node_lock.dispatcher.refusal)
        node_lock.begin()
        faces.append(
            node_lock.dispatcher.add_face(ZenohId.from_int(number), WhatAmI.CLIENT, outlet, 0.0)
        )
        node_lock.end()
    subscription = Declare(DeclareSubscriber(1, WireExpr(0, "key")), qos=CONTROL)
    node_lock.deliver(faces[0], [subscription], 0, True, 0.0, False)
    full.settled.clear()
    push: list[NetworkMessage] = [Push(WireExpr(0, "key"), Put(b"1"), qos=BLOCK)]
    after, links, sinks = node_lock.deliver_without_waiting(faces[1], push, 0, True, 0.0)
    assert (after, sinks) == (1, None)
    assert full.settled == [(-1, False)]
    node_lock.after_unlock(links, sinks)
    assert full.settled == [(-1, False), (BLOCK.priority, True)]


class FullLink(AbstractSender):
    """Accepts one message, and has no room for a second one."""

    def __init__(self) -> None:
        self.settled: list[tuple[int, bool]] = []

    def push(self, data: bytes, qos: int, reliable: bool) -> int:
        return FULL

    def after_unlock(
        self, full: int, is_blocking: bool, is_last: bool = False, will_flush: bool = False
    ) -> None:
        self.settled.append((full, is_blocking))


def test_keep_alives_need_no_reader() -> None:
    near = settings_of(listen=["tcp/127.0.0.1:0"])
    near.lease_ms = 3_200
    with opened(near) as [listening]:
        far = settings_of(WhatAmI.CLIENT, listening.locators())
        far.lease_ms = 3_200
        with opened(far) as [connecting]:
            both_linked(listening, connecting)
            wait_until_idle(2)
            runner = listening.runners[connecting.zid]
            batches = runner.transport.inbound.batches

            def is_kept_alive() -> bool:
                assert not readers()
                return runner.transport.inbound.batches >= batches + 5

            until(is_kept_alive, 30.0)
            assert listening.runners == {connecting.zid: runner}


@pytest.mark.parametrize("side", ["near", "far", "cut"])
def test_a_silent_link_ends(side: str) -> None:
    """Listeners get the event if either node closes the link, or if it ends without CLOSE."""
    with linked() as (listening, connecting):
        wait_until_idle(2)
        near = listening.runners[connecting.zid]
        far = connecting.runners[listening.zid]
        if side == "near":
            near.close()
        elif side == "far":
            far.close()
        else:
            near.break_off("cut")
        assert near.ended.wait(5.0)
        assert far.ended.wait(5.0)
        assert near.cause


def test_listeners_get_the_end_of_a_silent_link() -> None:
    with opened(settings_of(listen=["tcp/127.0.0.1:0"])) as [listening]:
        heard: list[bool] = []
        with opened(settings_of(WhatAmI.CLIENT, listening.locators())) as [connecting]:
            both_linked(listening, connecting)
            wait_until_idle(2)
            listening.events.add(lambda came, _transport, _link: heard.append(came))
        until(lambda: heard == [False])


def test_many_silent_links_share_a_thread() -> None:
    clients = 30
    with opened(settings_of(listen=["tcp/127.0.0.1:0"])) as [listening]:
        many = [settings_of(WhatAmI.CLIENT, listening.locators()) for _ in range(clients)]
        with opened(*many) as nodes:
            until(lambda: len(listening.runners) == clients)
            wait_until_idle(2 * clients)
            here = Application(listening)
            here.subscribe("all")
            for node in nodes:
                Application(node).put("all", b"x", BLOCK)
            here.wait_for(clients)
            runners = list(listening.runners.values())
            for runner in runners:
                runner.link.close()
            for runner in runners:  # nodes that lost their links reconnect meanwhile
                assert runner.ended.wait(20.0)


class SlowReader:
    """Needs a millisecond for its link, and notes its name."""

    def __init__(self, name: str, heard: list[str]) -> None:
        self._name = name
        self._heard = heard

    def wake(self) -> None:
        time.sleep(0.001)
        self._heard.append(self._name)

    def drop(self, cause: str) -> None:
        raise AssertionError(cause)


def test_a_message_does_not_wait_for_many_links_that_end() -> None:
    """Once, hundreds of links that were reset together were ended before it was routed."""
    count = 50
    idle = IdleLinks()
    idle.open()
    ending = [os.pipe() for _ in range(count)]
    near, far = os.pipe()
    heard: list[str] = []
    try:
        for _, writer in ending:
            os.close(writer)
        for reader, _ in ending:
            assert idle.add(reader, SlowReader("end", heard))
        assert idle.add(near, SlowReader("message", heard))
        os.write(far, b"x")
        until(lambda: len(heard) == count + 1)
    finally:
        idle.close(10.0)
        for one in (near, far, *(reader for reader, _ in ending)):
            os.close(one)
    assert heard.index("message") < count // 2
