"""Compressed batches on an open session (wire reference §6.2; limits: F01 to F03)."""

from __future__ import annotations

import random
from contextlib import suppress

import lz4.block
import pytest

from tests.chance import IS_FULL
from tests.protocol.transports import payloads, put, transport, units
from zenlake.errors import WireError
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.protocol.errors import TransportError
from zenlake.wire import CloseReason, Frame, Open
from zenlake.wire.compression import decompress_batch
from zenlake.wire.framing import frame_batch

BLOCKS = 1_000_000 if IS_FULL else 20_000


def test_vectors_73_and_74() -> None:
    stored = bytes.fromhex("00 25 a4 b9 f1 24 3d 01 02 2f 62 01 01 31")
    packed = bytes.fromhex(
        "01 ef 25 a5 b9 f1 24 3d 01 02 2f 62 01 c8 01 41 01 00 ae 60 41 41 41 41 41 41"
    )
    receiver = transport(compression=True, peer_sn=77_356_196)
    found = receiver.receive(frame_batch(stored) + frame_batch(packed), 0.0)
    assert payloads(found) == [b"1", b"A" * 200]


def test_compressed_and_stored_batches_may_alternate() -> None:
    """The header of each batch shows whether it is compressed (F03)."""
    source = random.Random(3)
    sender, receiver = transport(compression=True), transport(compression=True)
    expected, sent = [], []
    for _ in range(200):
        size = source.choice((0, 3, 300, 5000, 100_000))
        payload = source.choice((bytes(size), source.randbytes(size)))
        expected.append(payload)
        sender.push(bytes(put(payload)), 5, True, True)
    sender.outbound.push_keep_alive()
    sender.close(CloseReason.GENERIC)
    sent = units(sender)
    assert {unit[2] for unit in sent} == {0, 1}
    assert max(map(len, sent)) <= BATCH_BYTES_MAX
    assert payloads(receiver.receive(b"".join(sent), 0.0)) == expected
    assert receiver.peer_closed == CloseReason.GENERIC


def test_keep_alive_and_close_have_a_compression_header() -> None:
    sender = transport(compression=True)
    sender.handle_timeout(2.5)
    assert units(sender) == [bytes.fromhex("02 00 00 04")]
    sender.close(CloseReason.GENERIC)
    assert units(sender) == [bytes.fromhex("03 00 00 03 00")]


def test_decompression_stops_at_the_limit() -> None:
    """51 kB that would decompress to 12.5 MiB (F01)."""
    block = lz4.block.compress(bytes(12_500_000), store_size=False)
    assert len(block) < 51_500
    with pytest.raises(TransportError, match=f"at most {BATCH_BYTES_MAX} bytes"):
        transport(compression=True).receive(frame_batch(b"\x01" + block), 0.0)


@pytest.mark.parametrize("excess", [0, 1])
def test_decompression_is_bounded_by_the_agreed_size(excess: int) -> None:
    content = bytes(Frame(0, [put(bytes(1000 - 9 + excess))]))
    assert len(content) == 1000 + excess
    block = b"\x01" + lz4.block.compress(content, store_size=False)
    receiver = transport(compression=True, batch_size=1000)
    if excess:
        with pytest.raises(TransportError):
            receiver.receive(frame_batch(block), 0.0)
    else:
        assert payloads(receiver.receive(frame_batch(block), 0.0)) == [bytes(991)]


def decompressed_after(pollution: int, block: bytes) -> bytes | None:
    """The decompressed block if freed memory of its size is filled with a certain byte."""
    stale = [bytes([pollution]) * 2000 for _ in range(4)]
    del stale
    try:
        return decompress_batch(b"\x01" + block, 2000)
    except WireError:
        return None


def test_corrupt_block_never_reveals_other_memory() -> None:
    """An error, or the content of the block: never other data in memory (F02)."""
    seed = 7
    source = random.Random(seed)
    given = 0
    for index in range(BLOCKS):
        block = source.randbytes(source.randrange(1, 40))
        if index % 2:  # matches that begin at or before the first byte
            block = bytes([0x1F, 65, source.randrange(3), 0, source.randrange(99)]) + block
        content = decompressed_after(0xAA, block)
        assert content == decompressed_after(0x55, block), (seed, index)
        given += content is not None
        receiver = transport(compression=True, is_stream=False, batch_size=2000)
        with suppress(TransportError):
            receiver.receive(b"\x01" + block, 0.0)
    assert given


def test_duplicate_of_a_handshake_is_ignored() -> None:
    """On datagrams; there it has no compression header, and INIT and OPEN are not 0 or 1."""
    receiver = transport(compression=True, is_stream=False)
    assert receiver.receive(bytes(Open(10, 3, cookie=b"x" * 40)), 0.0) == []
    assert receiver.inbound.ignored_messages == 1
