"""A multicast group (wire reference §8, §12.4; limits H11)."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.handshakes import bits, entropy
from zenlake.errors import LocalError
from zenlake.limits import GROUP_PEERS_MAX
from zenlake.protocol.group import Group
from zenlake.protocol.group_peer import GroupEvent, PeerDelivery, PeerJoined, PeerLeft
from zenlake.protocol.group_terms import GroupTerms
from zenlake.protocol.reassembly import ReassemblyBudget
from zenlake.wire import (
    Close,
    Fragment,
    Frame,
    Join,
    JoinQoS,
    KeepAlive,
    LaneSn,
    NetworkMessage,
    Priority,
    Push,
    Put,
    Resolution,
    WhatAmI,
    WireExpr,
    ZenohId,
    decode,
    encode,
)

OWN = ZenohId.parse("bb")
AA = ZenohId.parse("aa")
JOIN = bits("a7 09 01 aa 0a 99 b0 b0 67 d5 e6 bf 09 27 01")
PUSH = Push(WireExpr(0, "demo/a"), Put(b"hello"))


def terms(zid: ZenohId = OWN, **options: Any) -> GroupTerms:
    return GroupTerms(zid, WhatAmI.PEER, **options)


def group(zid: ZenohId = OWN, seed: int = 1, **options: Any) -> Group:
    return Group(terms(zid, **options), entropy(seed), now=0.0)


def join(reliable: int = 10, best_effort: int = 20, **fields: Any) -> Join:
    named: dict[str, Any] = {
        "whatami": WhatAmI.PEER,
        "zid": AA,
        "lease": 10,
        "seconds": True,
        "patch": 1,
    }
    return Join(next_sn_re=reliable, next_sn_be=best_effort, **(named | fields))


def joined(machine: Group | None = None, **fields: Any) -> Group:
    machine = machine or group()
    (event,) = machine.receive(bytes(join(**fields)), "a:1", 0.0)
    assert isinstance(event, PeerJoined)
    return machine


def messages_in(events: list[GroupEvent]) -> list[NetworkMessage]:
    found: list[NetworkMessage] = []
    for event in events:
        assert isinstance(event, PeerDelivery)
        found += event.delivery.messages
    return found


def units_of(machine: Group) -> list[bytes]:
    units = []
    while (unit := machine.next_unit(0.0)) is not None:
        units.append(unit)
    return units


# --- JOIN ------------------------------------------------------------------------------------


def test_a_recorded_join() -> None:
    """Vector 69."""
    machine = group()
    (event,) = machine.receive(JOIN, "10.0.0.1:5000", 1.0)
    assert isinstance(event, PeerJoined)
    peer = event.peer
    assert (peer.zid, peer.role, peer.source) == (AA, WhatAmI.PEER, "10.0.0.1:5000")
    assert (peer.lease_s, peer.qos) == (10.0, False)
    assert machine.peers == {"10.0.0.1:5000": peer}
    assert machine.receive(JOIN, "10.0.0.1:5000", 2.0) == []
    frame = bytes(Frame(216_799_257, [PUSH]))
    assert messages_in(machine.receive(frame, "10.0.0.1:5000", 3.0)) == [PUSH]


def test_join_has_the_terms_of_this_node() -> None:
    machine = group(AA)
    first = machine.next_unit(0.0)
    assert first is not None
    said = decode(first, "transport")
    assert isinstance(said, Join)
    assert said.next_sn_re == said.next_sn_be
    assert said == join(said.next_sn_re, said.next_sn_be)
    assert first.startswith(bits("a7 09 01 aa 0a")), "no sizes: they are the defaults"
    assert machine.next_unit(0.0) is None


def test_join_has_sizes_that_are_not_the_defaults() -> None:
    said = decode(group(batch_size=2048, lease_ms=1500).next_unit(0.0) or b"", "transport")
    assert isinstance(said, Join)
    assert (said.resolution, said.batch_size) == (Resolution(), 2048)
    assert (said.lease, said.seconds) == (1500, False)


def test_join_has_the_next_sequence_number() -> None:
    machine = group()
    machine.next_unit(0.0)
    machine.push(encode(PUSH), 5, True, True)
    frame = decode(machine.next_unit(0.0) or b"", "transport")
    assert isinstance(frame, Frame)
    machine.handle_timeout(2.5)
    said = decode(machine.next_unit(2.5) or b"", "transport")
    assert isinstance(said, Join)
    assert said.next_sn_re == frame.sn + 1
    assert said.next_sn_be == frame.sn


def test_join_is_sent_periodically() -> None:
    machine = group()
    assert len(units_of(machine)) == 1
    assert machine.next_deadline() == 2.5
    machine.handle_timeout(2.4)
    assert machine.next_unit(2.4) is None
    machine.handle_timeout(2.5)
    assert len(units_of(machine)) == 1
    assert machine.next_deadline() == 5.0


@pytest.mark.parametrize(
    "other",
    [
        join(version=8),
        join(zid=OWN),
        join(whatami=WhatAmI.CLIENT),
        join(resolution=Resolution(0x09), batch_size=8192),
        join(resolution=Resolution(), batch_size=2048),
        join(qos=JoinQoS((LaneSn(0, 0),) * 8)),
        join(1 << 28),
        join(0, 1 << 28),
    ],
    ids=str,
)
def test_node_with_other_terms_is_ignored(other: Join) -> None:
    machine = group()
    assert machine.receive(bytes(other), "a:1", 0.0) == []
    assert (machine.peers, machine.refused_joins) == ({}, 1)
    assert machine.receive(bytes(Frame(10, [PUSH])), "a:1", 0.0) == []


def test_explicit_default_sizes_are_accepted() -> None:
    joined(resolution=Resolution(), batch_size=8192)
    joined(group(batch_size=2048), resolution=Resolution(), batch_size=2048)


def test_later_joins_change_nothing() -> None:
    machine = joined()
    (peer,) = machine.peers.values()
    for other in (join(500, 500), join(zid=ZenohId.parse("cc")), join(lease=1), join(version=3)):
        assert machine.receive(bytes(other), "a:1", 1.0) == []
    assert list(machine.peers.values()) == [peer]
    assert (peer.zid, peer.lease_s) == (AA, 10.0)
    assert messages_in(machine.receive(bytes(Frame(10, [PUSH])), "a:1", 1.0)) == [PUSH]


def test_a_join_among_other_messages() -> None:
    machine = group()
    batch = bytes(Frame(9, [PUSH])) + bytes(join()) + bytes(Frame(10, [PUSH])) + bytes(KeepAlive())
    first, *rest = machine.receive(batch, "a:1", 0.0)
    assert isinstance(first, PeerJoined)
    # The FRAME before has a number below the first that was announced.
    assert messages_in(rest) == [PUSH]


# --- frames ----------------------------------------------------------------------------------


def test_messages_before_a_join_are_ignored() -> None:
    machine = group()
    for message in (Frame(10, [PUSH]), KeepAlive(), Close(0), Fragment(10, b"x", first=True)):
        assert machine.receive(bytes(message), "a:1", 0.0) == []
    assert machine.strange_datagrams == 4


def test_each_channel_has_its_own_numbers() -> None:
    machine = joined(reliable=10, best_effort=20)
    stale = bytes(Frame(9, [PUSH])) + bytes(Frame(19, [PUSH], reliable=False))
    assert machine.receive(stale, "a:1", 0.0) == []
    good = bytes(Frame(10, [PUSH])) + bytes(Frame(20, [PUSH], reliable=False))
    assert len(messages_in(machine.receive(good, "a:1", 0.0))) == 2
    assert machine.receive(good, "a:1", 0.0) == [], "the same once more"


def test_peers_do_not_mix() -> None:
    machine = joined()
    machine.receive(bytes(join(10, 20, zid=ZenohId.parse("cc"))), "c:1", 0.0)
    for source in ("a:1", "c:1"):
        (event,) = machine.receive(bytes(Frame(10, [PUSH])), source, 0.0)
        assert isinstance(event, PeerDelivery)
        assert event.peer.source == source


def test_priorities_have_their_own_numbers() -> None:
    lanes = tuple(LaneSn(100 * priority + 50, 100 * priority) for priority in range(8))
    machine = group(qos=True)
    machine.receive(bytes(join(0, 0, qos=JoinQoS(lanes))), "a:1", 0.0)
    for priority in Priority:
        sn = 100 * int(priority) + 50
        assert machine.receive(bytes(Frame(sn - 1, [PUSH], qos=priority)), "a:1", 0.0) == []
        events = machine.receive(bytes(Frame(sn, [PUSH], qos=priority)), "a:1", 0.0)
        assert messages_in(events) == [PUSH]


def test_bad_datagrams_are_ignored() -> None:
    machine = joined()
    (peer,) = machine.peers.values()
    for batch in (
        bits("ff"),
        bytes(Frame(1 << 28, [PUSH])),
        bytes(Frame(10, [PUSH], qos=Priority.REAL_TIME)),
    ):
        assert machine.receive(batch, "a:1", 0.0) == []
    assert peer.inbound.bad_datagrams == 3
    good_then_bad = bytes(Frame(10, [PUSH])) + b"\xff"
    assert messages_in(machine.receive(good_then_bad, "a:1", 0.0)) == [PUSH]
    assert machine.receive(bytes(65_536), "a:1", 0.0) == []
    assert machine.bad_datagrams == 1


def test_datagram_above_the_batch_size_is_accepted() -> None:
    """Deployed nodes send it."""
    large = Push(WireExpr(0, "demo/a"), Put(bytes(60_000)))
    assert messages_in(joined().receive(bytes(Frame(10, [large])), "a:1", 0.0)) == [large]
    said = group()
    said.push(encode(large), 5, True, False)
    assert max(len(unit) for unit in units_of(said)) == 8192, "but not said"


def test_messages_of_one_node_reach_the_other() -> None:
    """Messages pass as bytes, with and without priorities and compression, also in fragments."""
    for options in ({}, {"qos": True}, {"compression": True}, {"qos": True, "batch_size": 1000}):
        speaker, listener = group(AA, 3, **options), group(OWN, 4, **options)
        sent: list[NetworkMessage] = []
        for number in range(200):
            message = Push(WireExpr(0, "demo/a"), Put(bytes([number % 7]) * (number * 137)))
            speaker.push(encode(message), number % 8, number % 3 != 0, False)
            sent.append(message)
        first, *events = [
            event for unit in units_of(speaker) for event in listener.receive(unit, "s:1", 0.0)
        ]
        assert isinstance(first, PeerJoined)
        # JOIN is sent first but announces the numbers after the queue: frames pushed before it
        # are ignored.
        assert events == []
        for again in sent:
            speaker.push(encode(again), 5, True, False)
        heard = [event for unit in units_of(speaker) for event in listener.receive(unit, "s:1", 0)]
        assert messages_in(heard) == sent


# --- time and ends ---------------------------------------------------------------------------


def test_a_silent_peer_is_gone_after_its_lease() -> None:
    machine = joined()
    machine.receive(bytes(KeepAlive()), "a:1", 4.0)
    assert machine.handle_timeout(13.9) == []
    (event,) = machine.handle_timeout(14.0)
    assert isinstance(event, PeerLeft)
    assert (event.peer.zid, event.cause) == (AA, "its lease expired")
    assert machine.peers == {}


@pytest.mark.parametrize(("lease", "seconds"), [(0, False), (1, False), (2**64 - 1, True)])
def test_any_lease_is_brought_into_bounds(lease: int, seconds: bool) -> None:
    machine = joined(lease=lease, seconds=seconds)
    (peer,) = machine.peers.values()
    assert 0.1 <= peer.lease_s <= 86_400


def test_a_close_removes_its_sender() -> None:
    machine = joined()
    batch = bytes(Frame(10, [PUSH])) + bytes(Close(0))
    delivered, left = machine.receive(batch, "a:1", 1.0)
    assert isinstance(delivered, PeerDelivery)
    assert isinstance(left, PeerLeft)
    assert machine.peers == {}
    joined(machine)


def test_nothing_follows_our_own_close() -> None:
    machine = group()
    machine.push(encode(PUSH), 5, True, False)
    machine.close()
    _, unit = units_of(machine)
    assert unit == b"\x03\x00"
    machine.handle_timeout(100.0)
    assert units_of(machine) == []


def test_incomplete_messages_refund_their_bytes() -> None:
    budget = ReassemblyBudget()
    machine = Group(terms(), entropy(), 0.0, budget)
    piece = bytes(Fragment(10, bytes(5000), more=True, first=True))
    for end in ("lease", "close", "idle"):
        joined(machine, reliable=10)
        machine.receive(piece, "a:1", 0.0)
        assert budget.held_bytes == 5000
        if end == "lease":
            machine.handle_timeout(10.0)
        elif end == "close":
            machine.receive(bytes(Close(0)), "a:1", 0.0)
        else:
            machine.receive(bytes(KeepAlive()), "a:1", 9.0)
            assert machine.next_deadline() <= 10.0
            machine.handle_timeout(10.0)
            assert len(machine.peers) == 1
        assert budget.held_bytes == 0, end


def test_a_storm_of_joins() -> None:
    """10,000 ids: the table is limited, known peers are kept, memory is small."""
    machine = joined()
    tracemalloc.start()
    for number in range(10_000):
        storm = bytes(join(zid=ZenohId.from_int(number + 1000)))
        machine.receive(storm, f"10.0.{number >> 8}.{number & 255}:7", 1.0)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(machine.peers) == GROUP_PEERS_MAX
    assert machine.refused_joins == 10_001 - GROUP_PEERS_MAX
    assert grown < 10 << 20
    assert messages_in(machine.receive(bytes(Frame(10, [PUSH])), "a:1", 1.0)) == [PUSH]
    assert len(machine.handle_timeout(11.5)) == GROUP_PEERS_MAX


@given(st.lists(st.binary(max_size=60), max_size=5), st.booleans())
def test_noise_is_harmless(datagrams: list[bytes], is_compressed: bool) -> None:
    machine = group(compression=is_compressed)
    machine.receive(bytes(is_compressed) + bytes(join()), "a:1", 0.0)
    for number, datagram in enumerate(datagrams):
        machine.receive(datagram, ("a:1", "b:1")[number % 2], 0.0)


@pytest.mark.parametrize(
    "options", [{"batch_size": 1}, {"batch_size": 65_536}, {"lease_ms": 0}, {"join_interval_ms": 0}]
)
def test_invalid_terms_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(LocalError):
        terms(OWN, **options)


def test_a_client_has_no_group() -> None:
    with pytest.raises(LocalError):
        GroupTerms(OWN, WhatAmI.CLIENT)
