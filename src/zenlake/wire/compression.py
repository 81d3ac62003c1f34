"""Compressed batches: one header byte, then the content as it is or as an LZ4 block.

They are used only if both sides agreed on it (wire reference §6.2). The block has no size field, so
the agreed batch size limits decompression.
"""

from __future__ import annotations

from typing import Final

import lz4.block

from zenlake.errors import WireError
from zenlake.limits import BATCH_BYTES_MAX

_STORED: Final = b"\x00"
_COMPRESSED: Final = b"\x01"


def compress_batch(content: bytes) -> bytes:
    """Header and content; compressed only where that is shorter, as deployed nodes do."""
    block: bytes = lz4.block.compress(content, store_size=False)
    if len(block) < len(content):
        return _COMPRESSED + block
    return _STORED + content


def decompress_batch(data: bytes, limit: int = BATCH_BYTES_MAX) -> bytes:
    """The content of a batch; an error if it has more than `limit` bytes."""
    if not data:
        return b""
    if data[0] & 1 == 0:
        if len(data) - 1 > limit:
            cause = f"{len(data) - 1} bytes, at most {limit} are agreed"
            raise WireError("batch", "stored content", 1, cause)
        return data[1:]
    try:
        content: bytes = lz4.block.decompress(data[1:], uncompressed_size=limit)
    except lz4.block.LZ4BlockError:
        cause = f"not an LZ4 block of at most {limit} bytes"
        raise WireError("batch", "compressed content", 1, cause) from None
    return content
