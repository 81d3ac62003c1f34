"""Two sessions over a link that divides data anywhere: all messages arrive in order."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chance import IS_FULL
from tests.protocol.transports import SN_BITS, delivered, payloads, put, transport, units
from zenlake.protocol.shared_memory import uses_shared_memory
from zenlake.protocol.transport import Transport
from zenlake.testing.strategies import messages
from zenlake.wire import CloseReason, Message, NetworkMessage

_SIZES = st.one_of(st.integers(0, 40), st.integers(0, 2000))
_SENDINGS = st.lists(
    st.tuples(st.integers(0, 7), st.booleans(), st.booleans(), _SIZES, st.integers(0, 2)),
    max_size=25,
)


@given(
    sendings=_SENDINGS,
    cuts=st.lists(st.integers(0, 20_000), max_size=30),
    batch_size=st.one_of(st.integers(16, 120), st.integers(16, 65_535)),
    sn_bits=st.sampled_from(SN_BITS),
    first_sn=st.integers(0, 0x7F),
    qos=st.booleans(),
    compression=st.booleans(),
    patch=st.integers(0, 1),
)
def test_stream_delivers_all_messages_in_order(
    sendings: list[tuple[int, bool, bool, int, int]],
    cuts: list[int],
    batch_size: int,
    sn_bits: int,
    first_sn: int,
    qos: bool,
    compression: bool,
    patch: int,
) -> None:
    terms: dict[str, Any] = {
        "batch_size": batch_size,
        "sn_bits": sn_bits,
        "qos": qos,
        "compression": compression,
        "patch": patch,
        "own_sn": first_sn,
        "peer_sn": first_sn,
    }
    sender, receiver = transport(**terms), transport(**terms)
    sent: dict[tuple[int, bool], list[bytes]] = defaultdict(list)
    stream = b""
    for index, (priority, reliable, express, size, taken) in enumerate(sendings):
        payload = bytes([priority, index]) + bytes(size)
        sent[priority, reliable].append(payload)
        sender.push(bytes(put(payload)), priority, reliable, express)
        for _ in range(taken):
            stream += sender.next_unit(0.0) or b""
    stream += b"".join(units(sender))
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    found: dict[tuple[int, bool], list[bytes]] = defaultdict(list)
    for start, stop in pairwise(places):
        for delivery in receiver.receive(stream[start:stop], 0.0):
            for payload in payloads([delivery]):
                found[payload[0], delivery.reliable].append(payload)
    assert found == sent
    inbound, outbound = receiver.inbound, sender.outbound
    assert inbound.messages == outbound.messages == len(sendings)
    assert inbound.batches == outbound.batches
    assert inbound.bytes == outbound.bytes == len(stream)
    assert (inbound.stale_frames, inbound.reassembly.dropped_fragments) == (0, 0)
    assert sender.total_queued_bytes() == 0


@settings(max_examples=500 if IS_FULL else 50)
@given(
    st.lists(messages("network"), min_size=1, max_size=5),
    st.sampled_from([{}, {"batch_size": 40}, {"qos": False, "low_latency": True}]),
)
def test_every_kind_of_message_survives(sent: list[Message], terms: dict[str, Any]) -> None:
    plain = [
        each for each in sent if isinstance(each, NetworkMessage) and not uses_shared_memory(each)
    ]
    sender, receiver = transport(**terms), transport(**terms)
    for message in plain:
        sender.push(bytes(message), 5, True, False)
    found = delivered(receiver.receive(b"".join(units(sender)), 0.0))
    assert found == [(message, True) for message in plain]


def test_long_session_wraps_its_numbers() -> None:
    sender, receiver = transport(sn_bits=8), transport(sn_bits=8)
    for index in range(1000):
        sender.push(bytes(put(b"%d" % index)), 5, True, True)
    assert len(payloads(receiver.receive(b"".join(units(sender)), 0.0))) == 1000


def test_message_of_many_batches() -> None:
    sender, receiver = transport(), transport()
    payload = bytes(range(256)) * 20_000
    sender.push(bytes(put(payload)), 2, True, False)
    sender.close(CloseReason.GENERIC)
    found = []
    for unit in units(sender):
        found += receiver.receive(unit, 0.0)
    assert payloads(found) == [payload]
    assert receiver.peer_closed is CloseReason.GENERIC
    assert receiver.inbound.reassembly.held_bytes() == 0


def room(sender: Transport, priority: int) -> int:
    """How many messages of 100 bytes fit into the queue of a priority."""
    count = 0
    while sender.has_room(priority):
        sender.push(bytes(100), priority, True, False)
        count += 1
    return count


def test_each_priority_has_the_configured_queue_size() -> None:
    sizes = (1, 2, 3, 4, 5, 6, 7, 16)
    sender = transport(batch_size=1000, queue_batches=sizes)
    for priority, batches in enumerate(sizes):
        assert abs(room(sender, priority) - 10 * batches) <= batches


@pytest.mark.parametrize("terms", [{"qos": False}, {"qos": False, "low_latency": True}])
def test_without_priorities_only_the_queue_of_data_is_used(terms: dict[str, bool]) -> None:
    sizes = (1, 1, 1, 1, 1, 8, 1, 1)
    for priority in (0, 5, 7):
        sender = transport(batch_size=1000, queue_batches=sizes, **terms)
        assert abs(room(sender, priority) - 80) <= 8
