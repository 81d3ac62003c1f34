"""A run of publications is forwarded like the same publications one by one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zenlake.routing.dispatcher import Dispatcher
from zenlake.routing.face import Face
from zenlake.routing.outlet import Outlet
from zenlake.routing.settings import RoutingSettings
from zenlake.wire import (
    Declare,
    DeclareKeyExpr,
    DeclareSubscriber,
    Encoding,
    Extension,
    Frame,
    NetworkMessage,
    Priority,
    Push,
    Put,
    QoS,
    Timestamp,
    WhatAmI,
    WireExpr,
    ZenohId,
    decode_batch,
)
from zenlake.wire.push_run import Portion, PushRun
from zenlake.wire.runs import RUN_MIN, expand_run

NS = 1_700_000_000 * 10**9
NOW = 1_700_000_000 << 32


class Neighbour(Outlet):
    """Keeps the bytes that a link would get."""

    def __init__(self, bytes_max: int, room_bytes: int = 0) -> None:
        self.bytes_max = bytes_max
        self.room = room_bytes
        self.data = b""
        self.portions: list[Portion] = []
        self.reliable: set[bool] = set()
        self.is_full = False
        self.dropped = 0

    def push(self, message: NetworkMessage, key: str, reliable: bool) -> None:
        if isinstance(message, Push):
            self.data += bytes(message)
            self.reliable.add(reliable)

    def portion_bytes_max(self) -> int:
        return self.bytes_max

    def room_bytes(self, qos: int, reliable: bool) -> int:
        return self.room

    def drops_run(self, count: int, qos: int, reliable: bool) -> bool:
        self.dropped += count if self.is_full else 0
        return self.is_full

    def push_portions(self, portions: list[Portion], qos: int, reliable: bool) -> None:
        self.portions += portions
        self.reliable.add(reliable)
        self.data += b"".join(portion.data for portion in portions)

    def messages(self) -> list[NetworkMessage]:
        [frame] = decode_batch(bytes(Frame(0, [])) + self.data).messages
        assert isinstance(frame, Frame)
        return frame.messages


class Network:
    """A router, a publisher, and subscribers with different aliases for its key."""

    def __init__(
        self,
        bytes_max: int,
        timestamping: bool,
        wall_ns: Callable[[], int],
        room_bytes: int = 0,
        subscribers: int = 4,
    ) -> None:
        self.dispatcher = Dispatcher(
            ZenohId.from_int(0xA1),
            WhatAmI.ROUTER,
            RoutingSettings(timestamping=timestamping, wall_ns=wall_ns),
        )
        self.publisher = self.connect(1, WhatAmI.CLIENT, Neighbour(bytes_max))
        self.outlets = [Neighbour(bytes_max, room_bytes) for _ in range(subscribers)]
        alias = DeclareKeyExpr(7, WireExpr(0, "robot"))
        self.send(self.publisher, Declare(alias))
        for n, outlet in enumerate(self.outlets):
            role = WhatAmI.PEER if n == 3 else WhatAmI.CLIENT
            face = self.connect(2 + n, role, outlet)
            if n == 1:
                self.send(face, Declare(DeclareKeyExpr(7, WireExpr(0, "robot"))))
            if n == 2:
                self.send(face, Declare(DeclareKeyExpr(300, WireExpr(0, "robot/pose"))))
            self.send(face, Declare(DeclareSubscriber(1, WireExpr(0, "robot/*"))))

    def connect(self, zid: int, role: WhatAmI, outlet: Outlet) -> Face:
        return self.dispatcher.add_face(ZenohId.from_int(zid), role, outlet, 0.0)

    def send(self, face: Face, message: NetworkMessage) -> None:
        self.dispatcher.receive_run(face, [message], 0, 1, True, 0.0)

    def publish(self, messages: list[NetworkMessage], reliable: bool) -> list[bytes]:
        for outlet in self.outlets:
            outlet.data = b""
        # The first message computes the route: a run is forwarded only along a cached route.
        self.dispatcher.receive_run(self.publisher, messages[:1], 0, 1, reliable, 0.0)
        for outlet in self.outlets:
            outlet.data = b""
            outlet.portions.clear()
        rest = messages[1:]
        assert self.dispatcher.receive_run(self.publisher, rest, 0, 10**6, reliable, 0.0) == len(
            rest
        )
        return [outlet.data for outlet in self.outlets]


@st.composite
def runs(draw: st.DrawFn) -> list[NetworkMessage]:
    """Publications of one publisher as its batch holds them."""
    timed = draw(st.booleans())
    key = WireExpr(*draw(st.sampled_from([(7, "/pose"), (0, "robot/pose")])))
    qos = draw(st.sampled_from([None, QoS.of(Priority.DATA_LOW), QoS.of(express=True)]))
    encoding = draw(st.sampled_from([None, Encoding(10, b"x;y")]))
    attachment = draw(st.sampled_from([None, b"attached"]))
    unknown = draw(st.sampled_from([(), (Extension(0x0E), Extension(0x4D, b"unknown"))]))
    sizes = draw(st.lists(st.sampled_from([0, 1, 8, 127, 128, 1000]), min_size=RUN_MIN + 2))
    clock = ZenohId.from_int(0xC1)
    return [
        Push(
            key,
            Put(
                bytes([n % 251]) * size,
                Timestamp(NOW + n * 977, clock) if timed else None,
                encoding,
                attachment=attachment,
                extensions=unknown,
            ),
            qos,
            extensions=unknown,
        )
        for n, size in enumerate(sizes)
    ]


def as_runs(messages: list[NetworkMessage]) -> list[NetworkMessage]:
    """The messages as a router reads them."""
    [frame] = decode_batch(bytes(Frame(0, messages)), keeps_runs=True).messages
    assert isinstance(frame, Frame)
    return frame.messages


@settings(max_examples=60, deadline=None)
@given(
    runs(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([64, 700, 4096, 1 << 20]),
    st.sampled_from([0, 50, 500]),
    st.sampled_from([4, 6]),
)
def test_neighbours_get_the_same_bytes(
    messages: list[NetworkMessage],
    timestamping: bool,
    reliable: bool,
    bytes_max: int,
    room_bytes: int,
    subscribers: int,
) -> None:
    def wall_ns() -> int:
        return NS

    room_bytes = min(room_bytes, bytes_max)  # of a batch
    one_by_one = Network(bytes_max, timestamping, wall_ns, room_bytes, subscribers)
    as_a_run = Network(bytes_max, timestamping, wall_ns, room_bytes, subscribers)
    wanted = one_by_one.publish(messages, reliable)
    read = [messages[0], *as_runs(messages[1:])]
    assert isinstance(read[1], PushRun)
    assert as_a_run.publish(read, reliable) == wanted
    for outlet in as_a_run.outlets:
        assert outlet.portions, "it was not forwarded as a run"
        assert sum(portion.count for portion in outlet.portions) == len(messages) - 1
        for portion in outlet.portions:
            assert len(portion.data) <= bytes_max or portion.count == 1
        assert outlet.reliable == {reliable}
    assert as_a_run.dispatcher.hlc is None or (
        one_by_one.dispatcher.hlc is not None
        and as_a_run.dispatcher.hlc.last == one_by_one.dispatcher.hlc.last
    )


def test_portions_fill_the_batches_of_a_neighbour() -> None:
    """The first portion goes into the batch that is being filled, the others fill one each."""
    payload_bytes, room_bytes, bytes_max = 100, 450, 1_000
    network = Network(bytes_max, False, lambda: NS, room_bytes, subscribers=1)
    key = WireExpr(0, "robot/pose")
    messages: list[NetworkMessage] = [Push(key, Put(bytes(payload_bytes))) for _ in range(31)]
    network.publish([messages[0], *as_runs(messages[1:])], True)
    [outlet] = network.outlets
    each = len(outlet.data) // 30
    counts = [portion.count for portion in outlet.portions]
    first, most = room_bytes // each, bytes_max // each
    assert counts[0] == first
    assert counts[1:-1] == [most] * ((30 - first) // most)
    assert sum(counts) == 30


def test_a_full_neighbour_is_skipped_and_others_get_the_run() -> None:
    network = Network(1_000, True, lambda: NS, subscribers=3)
    network.outlets[1].is_full = True
    key = WireExpr(0, "robot/pose")
    messages: list[NetworkMessage] = [Push(key, Put(bytes(8))) for _ in range(31)]
    network.publish([messages[0], *as_runs(messages[1:])], True)
    assert [outlet.dropped for outlet in network.outlets] == [0, 30, 0]
    assert network.outlets[1].data == b""
    assert len(network.outlets[0].messages()) == len(network.outlets[2].messages()) == 30


@settings(max_examples=60, deadline=None)
@given(runs())
def test_a_run_can_be_read_message_by_message(messages: list[NetworkMessage]) -> None:
    [run] = as_runs(messages)
    assert isinstance(run, PushRun)
    assert run.count == len(messages)
    assert expand_run(run) == messages
    assert bytes(run) == b"".join(bytes(one) for one in messages)


def test_times_of_a_run_cross_every_boundary() -> None:
    """The seven lowest bits overflow within the run, once with a carry over three bytes."""
    messages: list[NetworkMessage] = [Push(WireExpr(7, "/pose"), Put(b"x")) for _ in range(400)]
    network = Network(4096, True, lambda: NS)
    assert network.dispatcher.hlc is not None
    network.dispatcher.hlc.last = NOW + (1 << 21) - 200
    network.publish([messages[0], *as_runs(messages[1:])], True)
    times = [
        message.body.timestamp.time
        for message in network.outlets[0].messages()
        if isinstance(message, Push) and isinstance(message.body, Put) and message.body.timestamp
    ]
    assert times == list(range(times[0], times[0] + 399))


@pytest.mark.parametrize("ahead_s", [0, 1])
def test_times_from_the_future_are_replaced(ahead_s: int) -> None:
    clock = ZenohId.from_int(0xC1)
    ahead = Timestamp(NOW + (ahead_s << 32), clock)
    messages: list[NetworkMessage] = [
        Push(WireExpr(7, "/pose"), Put(b"x", ahead)) for _ in range(100)
    ]
    network = Network(4096, True, lambda: NS)
    network.publish([messages[0], *as_runs(messages[1:])], True)
    bodies = [one.body for one in network.outlets[0].messages() if isinstance(one, Push)]
    clocks = {body.timestamp.id for body in bodies if isinstance(body, Put) and body.timestamp}
    assert clocks == ({clock} if ahead_s == 0 else {ZenohId.from_int(0xA1)})
    assert len(bodies) == 99


def test_a_run_without_a_cached_route_is_received_one_by_one() -> None:
    network = Network(4096, False, lambda: NS)
    messages = as_runs([Push(WireExpr(7, "/pose"), Put(b"x")) for _ in range(50)])
    after = network.dispatcher.receive_run(network.publisher, messages, 0, 10**6, True, 0.0)
    assert after == len(messages) == 50
    assert [len(outlet.messages()) for outlet in network.outlets] == [50] * 4


def test_a_neighbour_that_does_not_accept_runs_gets_messages() -> None:
    network = Network(4096, False, lambda: NS)
    network.outlets[1].bytes_max = 0
    messages: list[NetworkMessage] = [Push(WireExpr(7, "/pose"), Put(b"x")) for _ in range(50)]
    network.publish([messages[0], *as_runs(messages[1:])], True)
    assert [len(outlet.messages()) for outlet in network.outlets] == [49] * 4
