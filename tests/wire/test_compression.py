"""Compressed batches, and invalid blocks (the wire reference §6.2)."""

from __future__ import annotations

import random
import tracemalloc

import lz4.block
import pytest

from tests.chance import IS_FULL, seeded
from tests.measuring import traced_memory
from tests.vectors import UNITS
from tests.vectors.vector import Unit
from zenlake.errors import WireError
from zenlake.limits import BATCH_BYTES_MAX
from zenlake.wire import decode_batch, encode_messages
from zenlake.wire.compression import compress_batch, decompress_batch

BLOCKS = 1_000_000 if IS_FULL else 20_000


@pytest.mark.parametrize("unit", [u for u in UNITS if u.kind == "cbatch"], ids=str)
def test_compressed_vectors(unit: Unit) -> None:
    content = decompress_batch(unit.data)
    batch = decode_batch(content)
    assert tuple(batch.messages) == unit.messages
    assert batch.error is None
    assert content == encode_messages(list(unit.messages))
    # Two compressors may produce different blocks with the same content.
    assert decompress_batch(compress_batch(content)) == content


def test_content_is_stored_if_compression_does_not_help() -> None:
    assert compress_batch(b"\x04") == b"\x00\x04"
    noise = random.Random(1).randbytes(1000)
    assert compress_batch(noise) == b"\x00" + noise
    assert compress_batch(b"") == b"\x00"


def test_content_is_compressed_if_that_is_shorter() -> None:
    data = compress_batch(b"a" * 1000)
    assert data[0] == 1
    assert len(data) < 50
    assert decompress_batch(data) == b"a" * 1000


def test_header_of_each_batch_selects_compression() -> None:
    contents = [b"\x04", b"a" * 500, b"", b"\x03\x00", b"ab" * 900]
    sent = [compress_batch(content) for content in contents]
    assert {data[0] for data in sent} == {0, 1}
    assert [decompress_batch(data) for data in sent] == contents


def test_only_bit_0_of_the_header_counts() -> None:
    assert decompress_batch(b"\xfe\x04") == b"\x04"
    block = compress_batch(b"a" * 500)[1:]
    assert decompress_batch(b"\xff" + block) == b"a" * 500


def test_empty_datagram_is_an_empty_batch() -> None:
    assert decompress_batch(b"") == b""
    assert decompress_batch(b"\x00") == b""


def test_largest_batch_is_accepted_and_one_byte_more_is_not() -> None:
    def block(size: int) -> bytes:
        compressed: bytes = lz4.block.compress(b"\x00" * size, store_size=False)
        return b"\x01" + compressed

    assert len(decompress_batch(block(BATCH_BYTES_MAX))) == BATCH_BYTES_MAX
    with pytest.raises(WireError) as caught:
        decompress_batch(block(BATCH_BYTES_MAX + 1))
    error = caught.value
    assert (error.message, error.field, error.offset) == ("batch", "compressed content", 1)
    assert len(decompress_batch(block(1000), 1000)) == 1000
    with pytest.raises(WireError, match="at most 999 bytes"):
        decompress_batch(block(1000), 999)


def test_bomb_is_refused_without_being_unpacked() -> None:
    """51 kB that would decompress to 12.5 MiB."""
    bomb = b"\x01" + lz4.block.compress(b"\x00" * 13_107_200, store_size=False)
    assert 50_000 < len(bomb) < 53_000
    with traced_memory():
        with pytest.raises(WireError):
            decompress_batch(bomb)
        assert tracemalloc.get_traced_memory()[1] < 4 * BATCH_BYTES_MAX


def test_corrupt_block_is_an_error_or_its_own_content() -> None:
    """The result depends on the block only: no data of earlier batches leaks."""
    source = seeded()
    valid = compress_batch(b"the quick brown fox " * 40)[1:]
    refused = 0
    for _ in range(BLOCKS):
        block = _corrupt(valid, source)
        # The memory left by earlier batches differs between the two.
        first = _outcome(b"\x01" + block)
        decompress_batch(compress_batch(source.randbytes(8) * 100))
        assert _outcome(b"\x01" + block) == first, block.hex()
        refused += first is None
    assert refused > BLOCKS // 10


def _corrupt(valid: bytes, source: random.Random) -> bytes:
    match source.randrange(3):
        case 0:
            return source.randbytes(source.randrange(64))
        case 1:
            return valid[: source.randrange(len(valid))]
        case _:
            at = source.randrange(len(valid))
            return valid[:at] + source.randbytes(source.randint(1, 3)) + valid[at + 1 :]


def _outcome(data: bytes) -> bytes | None:
    try:
        return decompress_batch(data, 2048)
    except WireError:
        return None


def test_stored_content_is_bounded_too() -> None:
    assert decompress_batch(b"\x00" + b"x" * 10, 10) == b"x" * 10
    with pytest.raises(WireError, match="11 bytes, at most 10 are agreed"):
        decompress_batch(b"\x00" + b"x" * 11, 10)
