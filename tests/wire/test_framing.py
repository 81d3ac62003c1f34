"""Batches of a stream that arrives in any pieces (the wire reference §6.1, §9)."""

from __future__ import annotations

import random

import pytest

from tests.vectors import UNITS
from tests.vectors.vector import Unit
from zenlake.errors import LocalError, WireError
from zenlake.limits import BATCH_BYTES_MAX, LOW_LATENCY_UNIT_BYTES_MAX
from zenlake.wire import decode_batch, decode_low_latency, encode_messages
from zenlake.wire.framing import StreamDeframer, frame_batch, frame_low_latency

CONTENTS = (b"", b"\x04", b"\x25\x64", b"x" * 300, b"y" * BATCH_BYTES_MAX, b"")


@pytest.mark.parametrize("unit", [u for u in UNITS if u.kind == "stream"], ids=str)
def test_stream_vectors(unit: Unit) -> None:
    content = encode_messages(list(unit.messages))
    assert frame_batch(content) == unit.data
    (batch,) = StreamDeframer().receive(unit.data)
    assert tuple(decode_batch(batch).messages) == unit.messages


@pytest.mark.parametrize("unit", [u for u in UNITS if u.kind == "ll"], ids=str)
def test_low_latency_vectors(unit: Unit) -> None:
    assert frame_low_latency(encode_messages(list(unit.messages))) == unit.data
    deframer = StreamDeframer()
    deframer.switch_to_low_latency()
    (content,) = deframer.receive(unit.data)
    assert tuple(decode_low_latency(content).messages) == unit.messages


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_534, BATCH_BYTES_MAX])
def test_length_is_two_bytes_little_endian(size: int) -> None:
    framed = frame_batch(b"z" * size)
    assert framed[:2] == bytes([size & 0xFF, size >> 8])
    assert StreamDeframer().receive(framed) == [b"z" * size]


def test_stream_cut_in_two_gives_the_same_batches() -> None:
    contents = [b"", b"\x04", b"abc", b"", b"x" * 40]
    stream = b"".join(map(frame_batch, contents))
    for cut in range(len(stream) + 1):
        deframer = StreamDeframer()
        assert deframer.receive(stream[:cut]) + deframer.receive(stream[cut:]) == contents
        assert deframer.pending_bytes == 0


def test_stream_byte_by_byte_gives_the_same_batches() -> None:
    stream = b"".join(map(frame_batch, CONTENTS))
    deframer = StreamDeframer()
    found: list[bytes] = []
    for position in range(len(stream)):
        found += deframer.receive(stream[position : position + 1])
    assert found == list(CONTENTS)


def test_thousand_batches_in_one_read() -> None:
    contents = [bytes([index & 0xFF]) * (index % 70) for index in range(1000)]
    assert StreamDeframer().receive(b"".join(map(frame_batch, contents))) == contents


def test_random_cuts_do_not_matter() -> None:
    source = random.Random(20)
    contents = [source.randbytes(source.choice((0, 1, 2, 200, 5000))) for _ in range(200)]
    stream = b"".join(map(frame_batch, contents))
    deframer = StreamDeframer()
    found: list[bytes] = []
    while stream:
        size = source.choice((1, 3, 100, 10_000))
        found += deframer.receive(stream[:size])
        stream = stream[size:]
    assert found == contents


def test_batches_can_be_fed_and_read_one_by_one() -> None:
    deframer = StreamDeframer()
    assert deframer.next_batch() is None
    deframer.feed(frame_batch(b"a") + frame_batch(b"b") + b"\x05")
    assert [deframer.next_batch(), deframer.next_batch(), deframer.next_batch()] == [
        b"a",
        b"b",
        None,
    ]
    assert deframer.pending_bytes == 1


def test_agreed_batch_size_counts_the_prefix() -> None:
    """With a batch size of 100, 98 bytes are accepted and 99 are not."""
    deframer = StreamDeframer()
    deframer.limit_batches(100)
    assert deframer.receive(frame_batch(b"x" * 98)) == [b"x" * 98]
    with pytest.raises(WireError) as caught:
        deframer.receive(frame_batch(b"x" * 99))
    error = caught.value
    assert (error.message, error.field, error.offset) == ("batch", "length", 100)
    assert error.cause == "99 bytes, at most 98 are agreed"


def test_length_above_the_limit_is_refused_before_its_bytes_arrive() -> None:
    deframer = StreamDeframer()
    deframer.switch_to_low_latency()
    with pytest.raises(WireError, match="at most 65535 are agreed"):
        deframer.receive((LOW_LATENCY_UNIT_BYTES_MAX + 1).to_bytes(4, "little"))


def test_low_latency_begins_between_two_batches() -> None:
    deframer = StreamDeframer()
    deframer.feed(frame_batch(b"open") + frame_low_latency(b"push") + frame_low_latency(b""))
    assert deframer.next_batch() == b"open"
    deframer.switch_to_low_latency(1024)
    assert [deframer.next_batch(), deframer.next_batch(), deframer.next_batch()] == [
        b"push",
        b"",
        None,
    ]
    with pytest.raises(WireError, match="1025 bytes, at most 1024 are agreed"):
        deframer.receive(frame_low_latency(b"x" * 1025))


def test_too_long_a_batch_is_not_framed() -> None:
    with pytest.raises(LocalError, match="65536 bytes"):
        frame_batch(b"x" * (BATCH_BYTES_MAX + 1))
    with pytest.raises(LocalError, match="65536 bytes"):
        frame_low_latency(b"x" * (LOW_LATENCY_UNIT_BYTES_MAX + 1))


def test_pieces_of_a_large_batch_are_joined_once() -> None:
    deframer = StreamDeframer()
    deframer.feed(frame_batch(b"x" * 60_000)[:3])
    assert deframer.next_batch() is None
    for size in range(4, 60_002):
        deframer.feed(b"x")
        assert deframer.next_batch() is None
        assert len(deframer._buffer) == 3
        assert len(deframer._pieces) <= 257
        assert deframer.pending_bytes == size
    deframer.feed(b"x\x01")
    assert deframer.next_batch() == b"x" * 60_000
    assert deframer.pending_bytes == 1


def test_bytes_after_a_batch_cut_in_two_are_not_copied() -> None:
    first, second = frame_batch(b"x" * 60_000), frame_batch(b"y" * 10_000)
    deframer = StreamDeframer()
    deframer.feed(first[:20_000])
    assert deframer.next_batch() is None
    following = first[20_000:] + second * 5
    deframer.feed(following)
    assert deframer.next_batch() == first[2:]
    assert deframer._buffer is following
    assert deframer.pending_bytes == 5 * len(second)
    assert deframer.receive(b"\x00\x00") == [second[2:]] * 5 + [b""]
    deframer.limit_batches(10)
    with pytest.raises(WireError, match=f"{len(first + second * 5) + 2}"):
        deframer.receive(b"\x09\x00")


def test_rest_goes_to_another_reader() -> None:
    """Bytes after a handshake belong to the session."""
    stream = frame_batch(b"open") + frame_batch(b"first") + b"\x09"
    for cut in range(6, len(stream) + 1):
        before, after = StreamDeframer(), StreamDeframer()
        before.feed(stream[:cut])
        assert before.next_batch() == b"open"
        rest = before.pop_rest()
        assert before.pending_bytes == 0
        assert after.receive(rest) + after.receive(stream[cut:]) == [b"first"]
        assert after.pending_bytes == 1
    pieces = StreamDeframer()
    pieces.feed(b"\x05")
    assert pieces.next_batch() is None
    pieces.feed(b"\x00abc")
    assert pieces.pop_rest() == b"\x05\x00abc"
