"""Nodes with hostile or vanishing neighbours (limits: H01, H02, H06, H07, H08, H15)."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from statistics import median

import pytest

from tests.faults import FULL, MIB, least, resident_bytes, scaled
from tests.hosts import host  # noqa: F401 (a fixture)
from tests.links.leftovers import open_sockets, own_threads
from tests.node.application import (
    BLOCK,
    CONTROL,
    Application,
    opened,
    port_of,
    settings_of,
    until_declared,
    until_routed,
)
from tests.waiting import holds, until
from zenlake.errors import ZenlakeError
from zenlake.limits import (
    BATCH_BYTES_MAX,
    HANDSHAKE_BYTES_MAX,
    HANDSHAKE_IDLE_SECONDS_MAX,
    HANDSHAKES_MAX,
    TRANSPORTS_MAX,
    UNSENT_BYTES_MAX,
)
from zenlake.links import Link, LinkError
from zenlake.node import Node, NodeSettings
from zenlake.node.handshake import Conversation
from zenlake.protocol.offer import Offer
from zenlake.protocol.opening import Opener
from zenlake.wire import (
    Declare,
    DeclareSubscriber,
    DeclareToken,
    Frame,
    Interest,
    InterestMode,
    WhatAmI,
    WireExpr,
    ZenohId,
)
from zenlake.wire.framing import StreamDeframer, frame_batch

pytestmark = pytest.mark.usefixtures("host")


def connect_to(node: Node) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(node)), timeout=5)


def opens_quickly(node: Node) -> None:
    """A well-behaved client connects within the limit."""

    def open_one() -> float:
        began = time.monotonic()
        with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [client]:
            assert list(client.runners) == [node.zid]
            return time.monotonic() - began

    assert least(open_one, 1.0) < 1.0


class RawClient:
    """A client whose socket the test may leave unread."""

    def __init__(
        self, node: Node, receive_bytes: int = 0, lease_ms: int = 10_000, source: str = ""
    ) -> None:
        self.socket = socket.socket()
        if source:
            self.socket.bind((source, 0))
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(5)
        self.socket.connect(("127.0.0.1", port_of(node)))
        offer = Offer(ZenohId(os.urandom(8) + b"\1"), WhatAmI.CLIENT, lease_ms=lease_ms)
        opener = Opener(offer)
        deframer = StreamDeframer()
        self.socket.sendall(frame_batch(opener.start()))
        try:
            while opener.agreed is None:
                for batch in deframer.receive(self.socket.recv(65536)):
                    if opener.agreed is None and (answer := opener.receive(batch)) is not None:
                        self.socket.sendall(frame_batch(answer))
        except ZenlakeError:
            self.socket.close()
            raise
        self.sn = opener.agreed.own_sn

    def subscribe(self, key: str) -> None:
        self.declare(DeclareSubscriber(1, WireExpr(0, key)))

    def declare(self, declaration: DeclareSubscriber | DeclareToken) -> None:
        message = Declare(declaration, qos=CONTROL)
        batch = bytes(Frame(self.sn, [message], qos=None))
        self.socket.sendall(frame_batch(batch))
        self.sn += 1


class Pinger:
    """A well-behaved client that publishes and waits for its own publication, repeatedly."""

    def __init__(self, node: Node, client: Node) -> None:
        self.times: list[float] = []
        self._here = Application(node)
        self._there = Application(client)
        self._here.subscribe("ping")
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        until_routed(self._there, "ping", self._here)

    def _run(self) -> None:
        count = 0
        while not self._is_over.is_set():
            began = time.monotonic()
            self._there.put("ping", b"", BLOCK)
            count += 1
            self._here.wait_for(count)
            self.times.append(time.monotonic() - began)
            time.sleep(0.002)  # so that pings are a small load

    @contextlib.contextmanager
    def pinging(self) -> Iterator[list[float]]:
        self.times = []
        self._here.got.clear()
        self._is_over.clear()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        try:
            yield self.times
        finally:
            self._is_over.set()
            self._thread.join()


def quick_handshakes() -> NodeSettings:
    settings = settings_of()
    settings.accept_timeout_s = 10.0 if FULL else 1.5
    return settings


def test_one_byte_a_second_does_not_hold_a_place_for_long() -> None:
    count = HANDSHAKES_MAX
    with opened(quick_handshakes()) as [node]:
        sockets = [connect_to(node) for _ in range(count)]
        opens_quickly(node)
        is_over = threading.Event()

        def drip() -> None:
            while not is_over.wait(0.5):
                for one in sockets:
                    with contextlib.suppress(OSError):
                        one.send(b"\xff")

        thread = threading.Thread(target=drip)
        thread.start()
        until(lambda: node.accepting.pending == 0, node.settings.accept_timeout_s + 20)
        is_over.set()
        thread.join()
        opens_quickly(node)
        for one in sockets:
            one.close()


def test_a_silent_connection_is_closed_after_the_timeout() -> None:
    settings = settings_of()
    assert settings.handshake_idle_s == HANDSHAKE_IDLE_SECONDS_MAX == 5
    settings.handshake_idle_s, settings.accept_timeout_s = 0.5, 60.0
    with opened(settings) as [node], connect_to(node) as silent:
        began = time.monotonic()
        silent.settimeout(30)
        assert silent.recv(1) == b""
        assert time.monotonic() - began > 0.4


def test_empty_batches_before_the_handshake_cost_little() -> None:
    """Measured before the limit: 2 MB of them cost 6 s of processor time."""
    with opened(settings_of()) as [node], connect_to(node) as one:
        until(lambda: node.accepting.pending == 1)
        began_s = time.process_time()
        with contextlib.suppress(OSError):
            one.sendall(bytes(2_000_000))
        until(lambda: node.accepting.pending == 0, node.settings.handshake_idle_s)
        spent_s = time.process_time() - began_s
        print(f"{spent_s:.3f} s of processor time")
        assert spent_s < 1.0
        opens_quickly(node)


class DrippingLink(Link):
    """A stream on which bytes arrive a few at a time."""

    is_stream = True
    dst = "tcp/192.0.2.1:1"

    def __init__(self, content: bytes, piece_bytes: int) -> None:
        self.content = content
        self.pos = 0
        self.piece_bytes = piece_bytes

    def receive(self, timeout_s: float | None = None) -> bytes:
        piece = self.content[self.pos : self.pos + self.piece_bytes]
        self.pos += len(piece)
        return piece


@pytest.mark.parametrize("piece_bytes", [1, 7, 65_536])
@pytest.mark.parametrize("first", [b"", b"\xff\xff"], ids=["empty batches", "a large batch"])
def test_a_link_may_send_only_so_much_before_its_session_is_open(
    first: bytes, piece_bytes: int
) -> None:
    assert HANDSHAKE_BYTES_MAX == 2 * (2 + BATCH_BYTES_MAX)
    link = DrippingLink(first + bytes(4 * HANDSHAKE_BYTES_MAX), piece_bytes)
    conversation = Conversation(link, time.monotonic() + 60, 60)
    with pytest.raises(LinkError, match="the handshake is not over"):
        read_for_ever(conversation)
    assert HANDSHAKE_BYTES_MAX <= link.pos < HANDSHAKE_BYTES_MAX + piece_bytes


def read_for_ever(conversation: Conversation) -> None:
    while conversation.receive():
        pass


def test_two_batches_of_the_largest_size_and_what_follows_them_are_read() -> None:
    batch = b"\xff" * BATCH_BYTES_MAX
    link = DrippingLink(2 * frame_batch(batch) + b"rest", 65_536)
    conversation = Conversation(link, time.monotonic() + 60, 60)
    assert [conversation.receive(), conversation.receive()] == [batch, batch]
    assert conversation.take_rest() == b"rest"


def test_silent_connections_do_not_keep_clients_out() -> None:
    """At most the limit are in a handshake: the oldest are closed, clients are served."""
    count = scaled(400, 5_000)
    assert TRANSPORTS_MAX == 1_000
    most = 0
    sockets: list[socket.socket] = []
    with opened(settings_of()) as [node]:
        try:
            with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [good]:
                pinger = Pinger(node, good)
                before = resident_bytes()
                with pinger.pinging() as times:
                    for _ in range(count):
                        sockets.append(connect_to(node))
                        most = max(most, node.accepting.pending)
                        if len(sockets) > 2 * HANDSHAKES_MAX:
                            sockets.pop(0).close()
                        time.sleep(0.002)  # the rate of the flood
                grown = resident_bytes() - before
            print(f"{median(times) * 1000:.1f} ms of {len(times)}, {grown / MIB:.1f} MiB more")
            assert median(times) < 0.1
            assert grown < 100 * MIB
            assert 0 < most <= HANDSHAKES_MAX
            opens_quickly(node)
            assert node.accepting.refused > 0
        finally:
            for one in sockets:
                one.close()
        until(lambda: node.accepting.pending == 0)
        opens_quickly(node)


def test_a_peer_that_vanished_is_noticed_by_its_lease() -> None:
    """Its socket stays open and silent; its declarations are undeclared once."""
    lease_ms = scaled(500, 10_000)
    with opened(settings_of()) as [node]:
        listener = Application(node)
        listener.send_to_node(Interest(InterestMode.FUTURE, 1, subscribers=True, tokens=True))
        vanished = RawClient(node, lease_ms=lease_ms)
        until(lambda: len(node.runners) == 1)
        began = time.monotonic()
        vanished.subscribe("gone")
        vanished.declare(DeclareToken(2, WireExpr(0, "gone")))
        until(lambda: len(listener.declared()) == 2)
        until(lambda: not node.runners, lease_ms / 1000 + 20)
        took_s = time.monotonic() - began
        print(f"noticed after {took_s:.2f} s")
        assert took_s > lease_ms / 1000 * 0.9
        assert vanished.socket.recv(65536) is not None
        both = ["Subscriber", "Token"]
        expected = [*(f"Declare{one}" for one in both), *(f"Undeclare{one}" for one in both)]
        holds(lambda: sorted(listener.declared()) == expected, 0.1)
        vanished.socket.close()


@pytest.mark.parametrize("lease_ms", [1, 2**64 - 1])
def test_no_lease_keeps_a_node_busy(lease_ms: int) -> None:
    """Neither that of a peer nor our own; the peer sends only KEEP_ALIVE."""
    settings = settings_of()
    settings.lease_ms = 1
    with opened(settings) as [node]:
        share = min(share_of_a_core(node, lease_ms) for _ in range(3))
    print(f"lease {lease_ms} ms: {share:.1%} of a core")
    assert share < 0.25  # 200 keep-alives a second take about 5 %, a loop without rest all of it


def share_of_a_core(node: Node, lease_ms: int) -> float:
    """Of half a second of KEEP_ALIVE; 1 if the node ends the link before.

    This process does other things too, and may be held up for longer than a short lease, but not
    all the time: what a loop without rest takes shows in the best of several.
    """
    with RawClient(node, lease_ms=lease_ms).socket as talker:
        until(lambda: len(node.runners) == 1)
        began, began_s = time.monotonic(), time.process_time()
        try:
            for _ in range(20):
                talker.sendall(frame_batch(b"\x04"))
                time.sleep(0.025)  # the rate of the keep-alives
        except OSError:
            return 1.0
        share = (time.process_time() - began_s) / (time.monotonic() - began)
        share = share if len(node.runners) == 1 else 1.0
    until(lambda: not node.runners)
    return share


def test_a_deaf_reader_loses_only_droppable_messages() -> None:
    size = 10_000
    total = (100 << 20) // size if FULL else 1500
    with opened(settings_of()) as [node]:
        deaf = RawClient(node, receive_bytes=4096)
        deaf.subscribe("flood")
        until(lambda: len(node.runners) == 1)
        with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [good]:
            listener = Application(good)
            listener.subscribe("flood")
            publisher = Application(node)
            until_declared(node, 2)
            transport = node.runners[good.zid].transport
            most = 0
            for number in range(total):
                publisher.put("flood", bytes(size))
                most = max(most, node.stats()["queued_bytes"])
                if number % 5 == 0:  # otherwise the other client may have no time to read
                    until(lambda: not transport.total_queued_bytes())
            assert most < 1 << 20 < UNSENT_BYTES_MAX
            until(lambda: node.stats()["queued_bytes"] < 200_000)
            listener.wait_for(total // 2 + 1)
            got = len(listener.payloads())
            assert got > total * 0.5, "the other is served"
            dropped = node.stats()["dropped_messages"]
            assert dropped >= total - got
            assert dropped > 100
        deaf.socket.close()


def test_a_deaf_reader_does_not_slow_down_others() -> None:
    """100 MB for a client that reads nothing, at a rate that others could receive."""
    size, pause_s = 50_000, 0.001
    total = scaled(20, 100) * 1_000_000 // size
    with opened(settings_of()) as [node]:
        with opened(settings_of(WhatAmI.CLIENT, node.locators())) as [good]:
            pinger, publisher = Pinger(node, good), Application(node)
            times: list[list[float]] = []
            for key in ("nobody", "flood"):
                deaf = RawClient(node, receive_bytes=4096, lease_ms=120_000)
                deaf.subscribe("flood")
                until_declared(node, 1)
                with pinger.pinging() as measured:
                    for _ in range(total):
                        publisher.put(key, bytes(size))
                        time.sleep(pause_s)  # the rate of the flood
                times.append(measured)
                deaf.socket.close()
        alone, flooded = map(median, times)
        print(f"{flooded * 1000:.2f} ms while flooded, {alone * 1000:.2f} ms without")
        assert flooded < max(2 * alone, 0.05)
        assert node.stats()["dropped_messages"] > total / 2


def test_undroppable_messages_wait_and_then_the_transport_is_closed() -> None:
    settings = settings_of()
    settings.wait_before_close_s = 0.5
    with opened(settings) as [node]:
        deaf = RawClient(node, receive_bytes=4096)
        deaf.subscribe("flood")
        until(lambda: len(node.runners) == 1)
        publisher = Application(node)
        until_declared(node, 1)
        slowest = 0.0
        most = 0
        for _ in range(1000):
            began = time.monotonic()
            publisher.put("flood", bytes(60_000), BLOCK)
            slowest = max(slowest, time.monotonic() - began)
            most = max(most, node.stats()["queued_bytes"])
            if not node.runners:
                break
        until(lambda: not node.runners)
        assert slowest > 0.4
        assert most <= UNSENT_BYTES_MAX
        stats = node.stats()
        assert stats["dropped_messages"] == 0
        assert 60_000 <= stats["unsent_bytes"] <= UNSENT_BYTES_MAX, (
            "lost with the link, and counted"
        )
        deaf.socket.close()


@pytest.mark.parametrize("is_reset", [False, True], ids=["end", "reset"])
def test_a_handshake_cut_at_every_byte_leaves_nothing_behind(is_reset: bool) -> None:
    """The batches of a client's handshake, whole up to a byte and then nothing."""
    with opened(settings_of()) as [node]:
        sockets_before = open_sockets()
        threads_before = own_threads()
        init = frame_batch(Opener(Offer(ZenohId(b"\x77"), WhatAmI.CLIENT)).start())
        cuts = [*range(len(init) + 1), *range(1000, 1000 + 200, 1 if FULL else 7)]
        for cut in cuts:
            with connect_to(node) as one:
                if cut < 1000:
                    one.sendall(init[:cut])
                else:
                    one.sendall(open_syn(one)[: cut - 1000])
                if is_reset:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        until(lambda: node.accepting.pending == 0)
        until(lambda: not node.runners)
        until(lambda: own_threads() == threads_before)
        until(lambda: open_sockets() <= sockets_before)
        assert not node.claims.has(ZenohId(b"\x78"))
        opens_quickly(node)


def open_syn(one: socket.socket) -> bytes:
    """Shake hands up to OpenSyn, and return it instead of sending it."""
    opener = Opener(Offer(ZenohId(b"\x78"), WhatAmI.CLIENT))
    one.sendall(frame_batch(opener.start()))
    deframer = StreamDeframer()
    batches: list[bytes] = []
    while not batches:
        batches = deframer.receive(one.recv(65536))
    answer = opener.receive(batches[0])
    assert answer is not None
    return frame_batch(answer)


def test_an_opener_whose_peer_is_cut_at_every_byte_leaves_nothing() -> None:
    """A client connects to an acceptor whose messages are cut."""
    with opened(settings_of()) as [node], connect_to(node) as real:
        real.sendall(frame_batch(Opener(Offer(ZenohId(b"\x79"), WhatAmI.CLIENT)).start()))
        init_ack = real.recv(65536)
    known = own_threads()
    for cut in range(0, len(init_ack), 1 if FULL else 3):
        with socket.create_server(("127.0.0.1", 0)) as server:
            endpoint = f"tcp/127.0.0.1:{server.getsockname()[1]}"
            thread = threading.Thread(target=answer_and_cut, args=(server, init_ack[:cut]))
            thread.start()
            node = Node(settings_of(WhatAmI.CLIENT, [endpoint]))
            with contextlib.suppress(Exception):
                node.open()
            thread.join()
            assert not node.runners
            assert own_threads() <= known


def answer_and_cut(server: socket.socket, answer: bytes) -> None:
    connected, _ = server.accept()
    with connected:
        connected.recv(65536)
        connected.sendall(answer)
