"""Every decoded batch of every capture encodes to the same bytes."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from tests.capture.reference_streams import reference_streams
from tests.capture.test_real_captures import COMPARED
from tests.trace.batches import (
    DIFFERENT,
    INCOMPLETE,
    SAME,
    SAME_WHEN_DECOMPRESSED,
    SECOND_CLOSE,
    batches_of,
    content_of,
    reencoded,
)
from tests.trace.sidecar import PATHS, reading_of
from zenlake.trace import MessageSeen
from zenlake.trace.link import LinkBatch
from zenlake.wire import Fragment
from zenlake.wire.batch import encode_messages
from zenlake.wire.compression import compress_batch, decompress_batch

EXCEPTIONS = {
    "compressed_midstream": {SAME_WHEN_DECOMPRESSED: 246},
    "compression": {SAME_WHEN_DECOMPRESSED: 285},
    "impaired": {INCOMPLETE: 3},
    "lowlatency": {SECOND_CLOSE: 4},
    "lowlatency_midstream": {SECOND_CLOSE: 4},
    "snaplen": {INCOMPLETE: 57},
}
"""Batches by the reason why they encode to different bytes; other captures have none."""

LONG_UNITS = {"lowlatency": 175, "lowlatency_midstream": 247}
"""The number of units of low-latency links, whose lengths have four bytes instead of two."""

# A WebSocket carries more than batches and their lengths.
IN_TCP = [name for name in COMPARED if name != "encrypted_links"]
COMPRESSING = ["compressed_midstream", "compression"]


@cache
def batches(name: str) -> list[LinkBatch]:
    return batches_of(PATHS[name])


@pytest.mark.parametrize("name", PATHS)
def test_batches_encode_to_the_same_bytes(name: str) -> None:
    found = Counter(reencoded(batch) for batch in batches(name))
    same = found.pop(SAME, 0)
    assert found == EXCEPTIONS.get(name, {})
    assert same > 0 or name == "compressed_midstream"
    assert DIFFERENT not in found


@pytest.mark.parametrize("name", IN_TCP)
def test_batches_and_their_lengths_are_all_that_streams_carry(name: str) -> None:
    """One capture also has HTTP, which is reported as another protocol."""
    carried = sum(len(stream) for stream in reference_streams(PATHS[name]).values())
    carried -= sum(reading_of(name).undecoded.values())
    units = [batch.data for batch in batches(name) if batch.link.protocol == "tcp"]
    assert carried == sum(map(len, units)) + 2 * len(units) + 2 * LONG_UNITS.get(name, 0)


@pytest.mark.parametrize("name", PATHS)
def test_batches_contain_all_messages_of_the_trace(name: str) -> None:
    """Except network messages in fragments, which are reassembled later."""
    in_batches = 0
    for batch in batches(name):
        for message in batch.messages:
            in_batches += 1 + len(getattr(message, "messages", ()))
    seen = [event for event in reading_of(name).messages if not event.fragments]
    assert in_batches == len(seen) > 0


@pytest.mark.parametrize("name", ["impaired", "snaplen"])
def test_beginning_of_incomplete_batches_encodes_to_the_same_bytes(name: str) -> None:
    incomplete = [batch for batch in batches(name) if batch.state != "ok"]
    assert incomplete
    for batch in incomplete:
        assert batch.data.startswith(encode_messages(batch.messages))


@pytest.mark.parametrize("name", ["impaired", "snaplen"])
def test_undecoded_bytes_of_incomplete_batches_are_lost(name: str) -> None:
    incomplete = [batch for batch in batches(name) if batch.state != "ok"]
    assert incomplete
    for batch in incomplete:
        read_bytes = len(encode_messages(batch.messages))
        assert batch.lost_bytes == len(batch.data) - read_bytes


@pytest.mark.parametrize("name", COMPRESSING)
def test_batches_are_compressed_if_nodes_compress_them(name: str) -> None:
    """The compressed blocks differ: another encoder finds other repetitions."""
    stored, packed = 0, 0
    for batch in batches(name):
        if reencoded(batch) != SAME_WHEN_DECOMPRESSED:
            continue
        content = content_of(batch)
        ours = compress_batch(content)
        assert ours[0] == batch.data[0]
        assert decompress_batch(ours) == content
        if ours[0]:
            packed += 1
        else:
            stored += 1
            assert ours == batch.data
    assert stored
    assert packed


@pytest.mark.parametrize("name", PATHS)
def test_reassembled_messages_encode_to_the_same_bytes(name: str) -> None:
    pieces: dict[tuple[object, ...], list[bytes]] = {}
    whole = 0
    for event in reading_of(name).messages:
        lane = (event.link.name, event.direction, event.priority, event.reliable)
        if isinstance(event.message, Fragment):
            pieces.setdefault(lane, []).append(event.message.payload)
        elif event.fragments:
            assert_is(event, pieces.pop(lane))
            whole += 1
    # The first fragments of one message may precede the capture.
    assert (whole > 0) == (reading_of(name).counts["FRAGMENT"] > 0)
    assert len(pieces) <= (name == "midstream")


def assert_is(event: MessageSeen, pieces: list[bytes]) -> None:
    assert event.fragments == len(pieces)
    assert bytes(event.message) == b"".join(pieces)
