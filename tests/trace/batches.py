"""Batches of a capture as they crossed their links, and their messages encoded again."""

from __future__ import annotations

from pathlib import Path

from zenlake import trace
from zenlake.trace.link import LinkBatch
from zenlake.wire.batch import encode_messages
from zenlake.wire.compression import decompress_batch


def batches_of(path: Path) -> list[LinkBatch]:
    return list(trace.open(str(path)).batches())


SAME = "same"
SAME_WHEN_DECOMPRESSED = "same when decompressed"
SECOND_CLOSE = "the second CLOSE of a low-latency link is not a message"
INCOMPLETE = "the capture lacks a part of it"
DIFFERENT = "different"


def content_of(batch: LinkBatch) -> bytes:
    """The bytes that the messages were decoded from; a byte before them may mark compression."""
    if encode_messages(batch.messages) == batch.data or batch.data[:1] not in (b"\x00", b"\x01"):
        return batch.data
    return decompress_batch(batch.data)


def reencoded(batch: LinkBatch) -> str:
    """How the encoding of the messages compares with the bytes they were decoded from."""
    if batch.state != "ok":
        return INCOMPLETE
    data = encode_messages(batch.messages)
    if data == batch.data:
        return SAME
    if not batch.messages and batch.data == b"\x03\x00":
        return SECOND_CLOSE
    return SAME_WHEN_DECOMPRESSED if data == content_of(batch) else DIFFERENT
