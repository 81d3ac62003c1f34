"""Units without frames (wire reference §9)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.transports import delivered, payloads, put, transport, units
from zenlake.protocol.errors import TransportError
from zenlake.protocol.transport import Transport
from zenlake.wire import CloseReason, Declare, DeclareFinal

PUSH = bytes.fromhex("3d 01 02 2f 62 01 01 31")


def low_latency(is_stream: bool = True, **terms: Any) -> Transport:
    return transport(is_stream=is_stream, qos=False, low_latency=True, **terms)


def test_units_as_recorded() -> None:
    sender = low_latency()
    sender.push(PUSH, 5, False, False)
    sender.handle_timeout(2.5)
    sender.close(CloseReason.GENERIC)
    expected = ["08 00 00 00 3d 01 02 2f 62 01 01 31", "01 00 00 00 04", "02 00 00 00 03 00"]
    assert [unit.hex(" ") for unit in units(sender)] == expected


def test_units_round_trip_in_any_pieces() -> None:
    sender = low_latency()
    messages = [put(b"a"), Declare(DeclareFinal()), put(bytes(60_000)), put(b"")]
    for message in messages:
        sender.push(bytes(message), 5, True, False)
    sender.close(CloseReason.EXPIRED)
    stream = b"".join(units(sender)) + bytes.fromhex("02 00 03 00")
    for size in (1, 7, 1000, len(stream)):
        receiver = low_latency()
        found = []
        for at in range(0, len(stream), size):
            found += receiver.receive(stream[at : at + size], 0.0)
        assert delivered(found) == [(message, True) for message in messages]
        assert receiver.peer_closed == CloseReason.EXPIRED


def test_datagrams_have_no_prefix() -> None:
    sender, receiver = low_latency(False), low_latency(False)
    sender.push(PUSH, 0, True, False)
    assert units(sender) == [PUSH]
    assert payloads(receiver.receive(PUSH + b"\x04" + PUSH, 0.0)) == [b"1", b"1"]
    assert receiver.receive(b"", 1.0) == []


def test_unit_longer_than_agreed() -> None:
    receiver = low_latency(batch_size=100)
    fits = bytes(put(bytes(94)))
    assert len(fits) == 100
    assert receiver.receive((100).to_bytes(4, "little") + fits, 0.0)
    with pytest.raises(TransportError, match="101 bytes, at most 100"):
        receiver.receive((101).to_bytes(4, "little"), 0.0)
    sender = low_latency(batch_size=100)
    sender.push(bytes(put(bytes(95))), 5, True, False)
    assert units(sender) == []
    assert sender.outbound.dropped_messages == 1


def test_frame_is_an_error() -> None:
    with pytest.raises(TransportError) as caught:
        low_latency(False).receive(PUSH + bytes.fromhex("25 00") + PUSH, 0.0)
    assert payloads(caught.value.deliveries) == [b"1"]


def test_all_priorities_share_one_queue() -> None:
    sender = low_latency(batch_size=100)
    while sender.has_room(3):
        sender.push(PUSH, 5, True, False)
    assert sender.queued_bytes(0) == sender.total_queued_bytes() == 204
    assert sender.outbound.has_full_batch
    assert len(units(sender)) == 17
    assert not sender.outbound.has_full_batch
    sender.close(CloseReason.GENERIC)
    sender.push(PUSH, 5, True, False)
    assert len(units(sender)) == 1


def test_keep_alive_is_sent_beside_traffic_but_once() -> None:
    sender = low_latency()
    sender.push(PUSH, 5, True, False)
    assert sender.next_unit(2.0) is not None
    assert sender.next_deadline() == 2.5
    sender.push(PUSH, 5, True, False)
    for now in (2.5, 5.0, 7.5):
        sender.handle_timeout(now)
    assert [unit[4:] for unit in units(sender)] == [PUSH, b"\x04"]
