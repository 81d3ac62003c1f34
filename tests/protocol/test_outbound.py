"""The queues of a session: batches, frames, priorities, fragments (wire reference §6, §7)."""

from __future__ import annotations

import pytest

from tests.protocol.transports import SN_BITS, agree, put, transport, units
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.protocol.errors import TransportError
from zenlake.protocol.fragments import sn_bytes
from zenlake.protocol.offer import BATCH_BYTES_MIN
from zenlake.protocol.transport import Transport
from zenlake.wire import CloseReason, Fragment, Frame, Priority, TransportMessage, decode_batch

DATA = 5


def read(unit: bytes) -> list[TransportMessage]:
    """The messages of a batch as a stream carries it."""
    assert int.from_bytes(unit[:2], "little") == len(unit) - 2
    batch = decode_batch(unit[2:])
    assert batch.error is None
    return batch.messages


def frames(unit: bytes) -> list[tuple[int, int, bool, Priority | None]]:
    found = []
    for message in read(unit):
        assert isinstance(message, Frame)
        found.append((message.sn, len(message.messages), message.reliable, message.qos))
    return found


def test_frame_is_encoded_as_in_vector_61() -> None:
    """FRAME prio 1 as recorded (wire reference §12.4)."""
    sender = transport(own_sn=0x0FF2B610)
    message = bytes.fromhex("fd 00 06 64 65 6d 6f 2f 61 21 19 01 01 31")
    sender.push(message, 1, True, True)
    assert units(sender) == [bytes.fromhex("15 00 a5 90 ec ca 7f 31 01") + message]


def test_messages_of_one_channel_share_a_frame() -> None:
    sender = transport(own_sn=7)
    for reliable in (True, True, False, False, True):
        sender.push(bytes(put(b"x")), DATA, reliable, False)
    sent = units(sender)
    # One FRAME in each batch: zenoh-pico reads messages to the end of the batch.
    expected = [[(7, 2, True, None)], [(7, 2, False, None)], [(8, 1, True, None)]]
    assert [frames(unit) for unit in sent] == expected
    out = sender.outbound
    assert (out.messages, out.batches, out.bytes) == (5, 3, sum(map(len, sent)))


def test_highest_priority_is_sent_first() -> None:
    sender = transport()
    for priority in (7, 5, 0, 3, 5):
        sender.push(bytes(put(b"x")), priority, True, False)
    priorities = [frames(unit)[0][3] for unit in units(sender)]
    assert priorities == [Priority.CONTROL, Priority.INTERACTIVE_LOW, None, Priority.BACKGROUND]


def test_without_qos_there_is_one_queue_and_no_extension() -> None:
    sender = transport(qos=False)
    for priority in (7, 0):
        sender.push(bytes(put(b"x")), priority, True, False)
    assert [frames(unit) for unit in units(sender)] == [[(0, 2, True, None)]]
    assert sender.queued_bytes(3) == 0


def test_express_closes_the_batch() -> None:
    sender = transport()
    sender.push(bytes(put(b"x")), DATA, True, False)
    assert not sender.outbound.has_full_batch
    sender.push(bytes(put(b"x")), DATA, True, True)
    assert sender.outbound.has_full_batch
    sender.push(bytes(put(b"x")), DATA, True, False)
    assert [frames(unit)[0][1] for unit in units(sender)] == [2, 1]


def test_open_batch_waits_unless_a_complete_one_is_queued() -> None:
    sender = transport()
    sender.push(bytes(put(b"x")), 3, True, False)
    assert sender.outbound.next_unit(with_open=False) is None
    sender.push(bytes(put(b"x")), DATA, True, True)
    sent = [sender.outbound.next_unit(with_open=False) for _ in range(3)]
    assert [unit is not None for unit in sent] == [True, True, False]


@pytest.mark.parametrize("compression", [False, True])
@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("batch_size", [BATCH_BYTES_MIN, 17, 64, 1024, BATCH_BYTES_MAX])
def test_no_batch_is_longer_than_agreed(
    batch_size: int, is_stream: bool, compression: bool
) -> None:
    sender = transport(batch_size=batch_size, is_stream=is_stream, compression=compression)
    for size in range(0, 3 * min(batch_size, 3000), 1 + batch_size // 50):
        sender.push(bytes(put(bytes(size))), size % 8, size % 3 == 0, False)
    assert max(map(len, units(sender))) <= batch_size


@pytest.mark.parametrize("sn_bits", SN_BITS)
def test_one_byte_beyond_the_largest_frame_makes_fragments(sn_bits: int) -> None:
    """One byte more makes two fragments."""
    for data_bytes, kind in ((1024 - 2 - 2, Frame), (1024 - 2 - 1, Fragment)):
        sender = transport(batch_size=1024, sn_bits=sn_bits)
        sender.push(b"\x3d" + bytes(data_bytes - 1), DATA, True, False)
        first, *more = units(sender)
        assert len(more) == (kind is Fragment)
        assert first[2] & 0x1F == (0x05 if kind is Frame else 0x06)


@pytest.mark.parametrize("sn_bits", SN_BITS)
@pytest.mark.parametrize("priority", [DATA, 2])
def test_fragments_have_their_markers_and_consecutive_numbers(sn_bits: int, priority: int) -> None:
    """First on the first, M on all but the last, consecutive numbers, then no gap."""
    mask = agree(sn_bits=sn_bits).sn_mask
    sender = transport(batch_size=100, sn_bits=sn_bits, own_sn=mask - 1)
    data = bytes(put(bytes(range(256)) * 2))
    sender.push(data, priority, False, False)
    assert sender.queued_bytes(priority) == len(data)
    sender.push(bytes(put(b"next")), priority, False, False)
    *found, last = [read(unit)[0] for unit in units(sender)]
    parts = [each for each in found if isinstance(each, Fragment)]
    assert b"".join(part.payload for part in parts) == data
    sns = [(mask - 1 + index) & mask for index in range(len(parts) + 1)]
    assert isinstance(last, Frame)
    assert [part.sn for part in parts] + [last.sn] == sns
    assert [part.first for part in parts] == [True] + [False] * (len(parts) - 1)
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False]
    assert {part.qos for part in parts} == {None if priority == DATA else Priority(priority)}
    assert not any(part.reliable or part.drop for part in parts)
    assert sender.queued_bytes(priority) == 0


def test_recorded_fragments() -> None:
    """The fragments of wire reference §12.4, except the number that deployed nodes skip."""
    sender = transport(batch_size=1024, sn_bits=16, own_sn=7332)
    message = bytes.fromhex("3d 01 02 2f 62 01 b8 17") + b"Z" * 3000
    sender.push(message, DATA, True, False)
    found = units(sender)
    assert [len(unit) - 2 for unit in found] == [1022, 1022, 974]
    assert [unit[2:6].hex() for unit in found] == ["e6a43902", "66a5395a", "26a6395a"]


def test_higher_priority_passes_between_fragments() -> None:
    sender = transport(batch_size=100)
    sender.push(bytes(put(bytes(300))), DATA, True, False)
    first = sender.next_unit(0.0)
    sender.push(bytes(put(b"urgent")), 0, True, False)
    assert first is not None
    kinds = [type(read(unit)[0]) for unit in [first, *units(sender)]]
    assert kinds == [Fragment, Frame, Fragment, Fragment, Fragment]


def test_close_is_sent_last() -> None:
    sender = transport(batch_size=100)
    sender.push(bytes(put(bytes(300))), 7, True, False)
    sender.push(bytes(put(b"x")), 7, True, False)
    sender.close(CloseReason.UNRESPONSIVE)
    sender.close(CloseReason.GENERIC)
    sender.push(bytes(put(b"late")), 0, True, False)
    sender.outbound.push_keep_alive()
    *_, before, last = units(sender)
    assert last.endswith(b"\x03\x06")
    assert [message.NAME for message in [*read(before), *read(last)]] == ["FRAME", "CLOSE"]
    assert sender.outbound.dropped_messages == 1
    assert sender.next_unit(0.0) is None


def test_close_is_sent_in_a_batch_of_its_own() -> None:
    for terms, expected in (({}, "02 00 03 00"), ({"compression": True}, "03 00 00 03 00")):
        sender = transport(**terms)
        sender.close(CloseReason.GENERIC)
        assert units(sender) == [bytes.fromhex(expected)]


def test_close_finds_no_room_in_a_full_batch() -> None:
    sender = transport(batch_size=100)
    sender.push(b"\x3d" + bytes(93), 7, True, False)
    sender.close(CloseReason.GENERIC)
    full, last = units(sender)
    assert (len(full), last) == (100, bytes.fromhex("02 00 03 00"))


def test_each_priority_has_a_queue_limit() -> None:
    sender = transport(batch_size=100)
    assert sender.has_room(DATA)
    while sender.has_room(DATA):
        sender.push(bytes(put(bytes(20))), DATA, True, False)
    assert 200 <= sender.queued_bytes(DATA) < 230
    assert sender.has_room(0)
    sender.push(bytes(put(b"x")), 0, True, False)
    assert sender.total_queued_bytes() == sender.queued_bytes(DATA) + sender.queued_bytes(0)
    units(sender)
    assert sender.total_queued_bytes() == 0


def test_batch_size_without_room_for_a_message_is_an_error() -> None:
    with pytest.raises(TransportError, match="batches of 15 bytes"):
        Transport(agree(batch_size=BATCH_BYTES_MIN - 1), 0.0, True)


def test_sequence_numbers_have_the_expected_lengths() -> None:
    assert [sn_bytes(agree(sn_bits=bits).sn_mask) for bits in SN_BITS] == [1, 2, 4, 5]
